// Columns of the runs table that a user chooses: any key of a run's settings, or a metric's last, smallest or largest value.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "console/gui/data/state.h"

namespace ringwright::gui {

struct ColumnName {
  enum class Kind { setting, last, minimum, maximum } kind;
  std::string path;  // "policy.model_name" within `root`, or the metric's name
  std::string root;  // recipe, mesh, fingerprint
};
// "recipe.policy.model_name", "mesh.cp", "fingerprint.node", "train/loss.min"; nothing for what is none of these.
std::optional<ColumnName> read_column(const std::string& name);

// The value in a run; nothing where it has none. A metric's extremes are of its finite points. `summary` is asked where the points are not in memory.
using FindSummary = std::function<const history::MetricSummary*(const std::string& run, const std::string& metric)>;
std::optional<nlohmann::json> column_value(const Run& run, const ColumnName& column, const FindSummary& summary);

// As a cell shows it: numbers in few digits, texts without quotes, "-" for nothing.
std::string column_text(const std::optional<nlohmann::json>& value);

}  // namespace ringwright::gui
