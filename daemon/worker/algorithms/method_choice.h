// Which attention method a run uses, and why.
#pragma once

#include <string>

#include "daemon/worker/algorithms/local_microbatch.h"
#include "shared/model/config.h"
#include "shared/recipe/recipe.h"

namespace ringwright::worker {

struct MethodChoice {
  std::string name;    // of attention_methods()
  std::string reason;  // for people
};

// What the recipe names, or by the cost of the attention of `first`, the run's first microbatch as this rank has it: the same on every rank.
MethodChoice choose_attention_method(const recipe::SftConfig& config, const model::ModelConfig& model, const LocalMicrobatch& first);

}  // namespace ringwright::worker
