// The recipe library on any text: the first line is an override, the rest a recipe. Everything is either read or refused with an Error.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "shared/base/error.h"
#include "shared/recipe/interpolation.h"
#include "shared/recipe/key_table.h"
#include "shared/recipe/overrides.h"
#include "shared/recipe/reader.h"
#include "shared/recipe/recipe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringwright;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line_end = std::min(input.find('\n'), input.size());
  const std::string_view text = input.substr(std::min(line_end + 1, input.size()));
  try {
    recipe::Node root = recipe::parse_yaml(text, "fuzz.yaml");
    if (line_end > 0) recipe::apply_overrides(root, {std::string(input.substr(0, line_end))});
    recipe::resolve_interpolations(root);
    std::vector<recipe::Warning> warnings;
    recipe::warn_about_unknown_keys(root, warnings);
    const nlohmann::json resolved = recipe::to_json(root);
    recipe::sft_config(resolved);
  } catch (const Error&) {
  }
  return 0;
}
