// RECIPE.. [OVERRIDE..] on the command line, as check, run, layout and recipe show take them.
#pragma once

#include <string>
#include <vector>

namespace ringwright::cli {

struct RecipeArguments {
  std::vector<std::string> files;
  std::vector<std::string> overrides;
};

// A word is an override when it begins with + or ~ and is no file, or holds a = before which there is no /. Throws Error RW-CLI-002 when no recipe is
// left.
RecipeArguments split_recipe_arguments(const std::vector<std::string>& words);

}  // namespace ringwright::cli
