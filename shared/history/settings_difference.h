// Where two runs differ in what they were started with.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shared/history/records.h"

namespace ringwright::history {

struct SettingDifference {
  std::string key;                     // "recipe.policy.model_name", "mesh.cp", "fingerprint.node"
  std::optional<nlohmann::json> a, b;  // absent where only the other run has the key
};

// By key, in order. `with_machine`: mesh and fingerprint too, otherwise the recipe alone. Lists are compared as a whole.
std::vector<SettingDifference> settings_difference(const RunRecord& a, const RunRecord& b, bool with_machine = true);

}  // namespace ringwright::history
