#include "shared/recipe/recorded.h"

#include <cstdint>

#include "shared/recipe/failure.h"
#include "shared/recipe/loader.h"

namespace ringwright::recipe {
namespace {

using nlohmann::json;

Node node_of(const json& value, const Origin& origin);

// What to_json(Node) writes for maps with keys that are no text.
Node map_of_pairs(const json& pairs, const Origin& origin) {
  Node map = make_null(origin);
  map.kind = Kind::map;
  for (const json& pair : pairs) map.entries.emplace_back(node_of(pair.at(0), origin), node_of(pair.at(1), origin));
  return map;
}

Node map_of(const json& object, const Origin& origin) {
  if (object.size() == 1 && object.contains("$int")) return make_integer_of_digits(object.at("$int").get<std::string>(), origin);
  if (object.size() == 1 && object.contains("$map")) return map_of_pairs(object.at("$map"), origin);
  Node map = make_null(origin);
  map.kind = Kind::map;
  for (const auto& [key, value] : object.items()) map.entries.emplace_back(make_text(key, origin), node_of(value, origin));
  return map;
}

Node node_of(const json& value, const Origin& origin) {
  if (value.is_boolean()) return make_boolean(value.get<bool>(), origin);
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return make_integer_of_digits(value.dump(), origin);
  if (value.is_number_integer()) return make_integer(value.get<int64_t>(), origin);
  if (value.is_number()) return make_real(value.get<double>(), origin);
  if (value.is_object()) return map_of(value, origin);
  if (value.is_string()) {
    Node text = make_text(value.get<std::string>(), origin);
    text.final = true;
    return text;
  }
  if (!value.is_array()) return make_null(origin);
  std::vector<Node> items;
  for (const json& item : value) items.push_back(node_of(item, origin));
  return make_list(std::move(items), origin);
}

}  // namespace

Recipe load_recorded(const RecordedRecipe& recorded, const std::vector<std::string>& overrides) {
  const Origin origin{"run " + recorded.run, 0, 0};
  if (!recorded.resolved.is_object() || recorded.resolved.empty())
    fail("RW-RECIPE-016", "the run has kept no recipe", origin, "a run that was started from one", "start it from a file: ringwright run RECIPE");
  Recipe recipe;
  recipe.file = recorded.file;
  recipe.text = recorded.text;
  recipe.overrides = overrides;
  try {
    complete(recipe, node_of(recorded.resolved, origin));
  } catch (const json::exception& error) {
    fail("RW-RECIPE-016", std::string("the recipe that the run has kept is damaged: ") + error.what(), origin, "the recipe as it was resolved",
         "start it from a file: ringwright run RECIPE");
  }
  recipe.overrides.insert(recipe.overrides.begin(), recorded.overrides.begin(), recorded.overrides.end());
  return recipe;
}

}  // namespace ringwright::recipe
