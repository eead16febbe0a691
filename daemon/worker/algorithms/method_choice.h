// Which attention method a run uses, and why.
#pragma once

#include <string>

#include "shared/recipe/recipe.h"

namespace ringwright::worker {

struct MethodChoice {
  std::string name;    // of attention_methods()
  std::string reason;  // for people
};

MethodChoice choose_attention_method(const recipe::SftConfig& config);

}  // namespace ringwright::worker
