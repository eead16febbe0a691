#include "console/gui/data/run_groups.h"

#include <algorithm>

#include "console/gui/data/run_columns.h"
#include "console/gui/data/run_difference.h"

namespace ringwright::gui {
namespace {

bool stands_before(const std::optional<nlohmann::json>& a, const std::optional<nlohmann::json>& b) {
  if (a.has_value() != b.has_value()) return a.has_value();
  return a && *a < *b;
}

}  // namespace

std::vector<RunGroup> group_runs(const std::vector<const Run*>& runs, const std::string& key) {
  const std::optional<ColumnName> column = read_column(key);
  const bool known = column && column->kind == ColumnName::Kind::setting;
  std::vector<std::pair<std::optional<nlohmann::json>, RunGroup>> groups;
  for (size_t i = 0; i < runs.size(); ++i) {
    std::optional<nlohmann::json> value = known ? column_value(*runs[i], *column, {}) : std::nullopt;
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == value; });
    if (found != groups.end()) {
      found->second.runs.push_back(i);
    } else {
      const std::string shown = column_text(value);
      groups.push_back({std::move(value), {shown, {i}}});
    }
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return stands_before(a.first, b.first); });
  std::vector<RunGroup> sorted;
  for (auto& [value, group] : groups) sorted.push_back(std::move(group));
  return sorted;
}

std::vector<std::string> differing_keys(const std::vector<const Run*>& runs, size_t limit) {
  std::vector<history::RunRecord> records;
  for (const Run* run : runs) records.push_back(run->record);
  std::vector<std::string> keys;
  for (const DifferenceRow& row : compare_runs(records).rows) {
    if (keys.size() == limit) break;
    if (row.differs && read_column(row.key) && !row.key.starts_with("fingerprint.")) keys.push_back(row.key);
  }
  return keys;
}

}  // namespace ringwright::gui
