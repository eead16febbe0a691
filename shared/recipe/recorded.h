// A recipe as a run kept it: resolved, without its files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/recipe/recipe.h"

namespace ringwright::recipe {

struct RecordedRecipe {
  std::string run;             // whose it is; the origin of its values
  std::filesystem::path file;  // where it was read from; names of models and data are looked up beside it
  std::string text;
  nlohmann::json resolved;
  std::vector<std::string> overrides;
};

// The recipe once more, with `overrides` over what was resolved; the files that it came from may have changed or be gone. A text that holds a ${ is
// text by now. Throws Error RW-RECIPE-016 (exit code 2) where nothing was recorded, and those of apply_overrides().
Recipe load_recorded(const RecordedRecipe& recorded, const std::vector<std::string>& overrides);

}  // namespace ringwright::recipe
