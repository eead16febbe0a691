// Which attention method a run uses, and why.
#pragma once

#include <functional>
#include <string>

#include "daemon/worker/algorithms/local_microbatch.h"
#include "shared/model/config.h"
#include "shared/recipe/recipe.h"

namespace ringwright::worker {

struct MethodChoice {
  std::string name;    // of attention_methods()
  std::string reason;  // for people
};

// What the recipe names, or by the cost of the attention of first(), a microbatch of the run's first global batch that every rank makes alike: the
// same answer on every rank, without asking another. first is called only where there is a choice.
MethodChoice choose_attention_method(const recipe::SftConfig& config, const model::ModelConfig& model, int cp,
                                     const std::function<LocalMicrobatch()>& first);

}  // namespace ringwright::worker
