// From a recipe to what the daemon is asked to start.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "shared/recipe/recipe.h"

namespace ringwright::cli {

struct LaunchOptions {
  std::string name;   // empty: the recipe's
  uint16_t port = 0;  // of the rendezvous; 0: any that is free
};

struct Launch {
  std::string name;
  int64_t step_limit = 0;
  nlohmann::json request;  // the arguments of run.launch (shared/wire/control.h)
};

// Resolves the names of model, tokenizer and data to absolute paths, and lays out the mesh. Throws the recipe's, the mesh's and resolve_name's
// errors.
Launch make_launch(const recipe::Recipe& recipe, const LaunchOptions& options);

}  // namespace ringwright::cli
