// Overrides, one a line, on a recipe with every kind of value: each is applied or refused with an Error, and what comes out resolves or is refused.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "shared/base/error.h"
#include "shared/recipe/interpolation.h"
#include "shared/recipe/overrides.h"
#include "shared/recipe/reader.h"

namespace {

constexpr std::string_view kRecipe =
    "a: {b: 1, c: [1, 2.5, x], d: null}\n"
    "policy: {model_name: m, lr: 1e-5, on: true, missing: ???, names: [{n: 1}, {n: 2}]}\n"
    "like: ${policy}\n"
    "twice: ${mul:2, ${a.b}}\n"
    "text: 'a ${a.b} b'\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringwright;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  try {
    recipe::Node root = recipe::parse_yaml(kRecipe, "fuzz.yaml");
    while (!input.empty()) {
      const size_t end = std::min(input.find('\n'), input.size());
      recipe::apply_overrides(root, {std::string(input.substr(0, end))});
      input.remove_prefix(std::min(end + 1, input.size()));
    }
    recipe::resolve_interpolations(root);
    recipe::to_json(root);
  } catch (const Error&) {
  }
  return 0;
}
