#include "shared/history/settings_difference.h"

#include <map>

namespace ringwright::history {
namespace {

using Leaves = std::map<std::string, nlohmann::json>;

void collect(const nlohmann::json& value, const std::string& key, Leaves& leaves) {
  if (!value.is_object() || value.empty()) {
    if (!value.is_null() || !key.empty()) leaves[key] = value;
    return;
  }
  for (const auto& [name, below] : value.items()) collect(below, key + "." + name, leaves);
}

Leaves leaves_of(const RunRecord& run, bool with_machine) {
  Leaves leaves;
  collect(run.recipe, "recipe", leaves);
  if (!with_machine) return leaves;
  collect(run.mesh, "mesh", leaves);
  collect(run.fingerprint, "fingerprint", leaves);
  return leaves;
}

}  // namespace

std::vector<SettingDifference> settings_difference(const RunRecord& a, const RunRecord& b, bool with_machine) {
  const Leaves of_a = leaves_of(a, with_machine), of_b = leaves_of(b, with_machine);
  std::map<std::string, SettingDifference> differences;
  for (const auto& [key, value] : of_a) differences[key] = {key, value, std::nullopt};
  for (const auto& [key, value] : of_b) {
    SettingDifference& difference = differences[key];
    difference.key = key;
    difference.b = value;
  }
  std::vector<SettingDifference> list;
  for (auto& [key, difference] : differences)
    if (difference.a != difference.b) list.push_back(std::move(difference));
  return list;
}

}  // namespace ringwright::history
