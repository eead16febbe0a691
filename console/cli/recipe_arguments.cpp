#include "console/cli/recipe_arguments.h"

#include <filesystem>

#include "shared/base/error.h"

namespace ringwright::cli {
namespace {

bool is_override(const std::string& word) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(word, ignored)) return false;
  if (word.starts_with('+') || (word.starts_with('~') && !word.starts_with("~/"))) return true;
  const size_t equals = word.find('=');
  return equals != std::string::npos && word.substr(0, equals).find('/') == std::string::npos;
}

}  // namespace

RecipeArguments split_recipe_arguments(const std::vector<std::string>& words) {
  RecipeArguments arguments;
  for (const std::string& word : words) (is_override(word) ? arguments.overrides : arguments.files).push_back(word);
  if (arguments.files.empty())
    throw Error({"RW-CLI-002", "no recipe is named", "command line", "a recipe's file before the overrides", "name a .yaml file", ExitCode::usage});
  return arguments;
}

}  // namespace ringwright::cli
