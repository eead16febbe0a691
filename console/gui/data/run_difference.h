// What several runs were started with, key by key.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shared/history/records.h"

namespace ringwright::gui {

struct DifferenceRow {
  std::string key;                                    // "recipe.policy.model_name"
  std::vector<std::optional<nlohmann::json>> values;  // by run; nothing where the run does not have the key
  bool differs = false;
  std::string effect;  // of a fingerprint's row that differs: what it can do to a run; "" where nothing is known
};

struct RunDifference {
  std::vector<std::string> runs;    // ids, in the order of the columns
  std::vector<bool> has_recipe;     // by run
  std::vector<DifferenceRow> rows;  // the recipe first, then mesh, then fingerprint; within each by key
  size_t differing = 0, fingerprint_differing = 0;
};
RunDifference compare_runs(const std::vector<history::RunRecord>& runs);

// As a cell shows it: a text without quotes, everything else as JSON; "-" for nothing.
std::string setting_text(const std::optional<nlohmann::json>& value);

}  // namespace ringwright::gui
