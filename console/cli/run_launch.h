// From a recipe to what the daemon is asked to start.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shared/recipe/recipe.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::cli {

// The recipe among a verb's words, with its warnings printed to stderr. Throws the recipe's errors, and RW-CLI-024 when there are several.
recipe::Recipe load_one_recipe(const std::vector<std::string>& words);
// Throws the support matrix' refusal. Without `json`, the other rows that stand in the way are printed to stderr before.
void admit(const recipe::Recipe& recipe, bool json, const support_matrix::CheckOptions& options = {});

// Instead of training: one batch at cp = 1 and at the recipe's cp, with the method that the recipe chooses or with every one.
enum class Probe { none, chosen, all };

struct LaunchOptions {
  std::string name;   // empty: the recipe's
  uint16_t port = 0;  // of the rendezvous; 0: any that is free
  Probe probe = Probe::none;
  std::string relaunch_of, who;  // the run that this one repeats, and who asked for it
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
