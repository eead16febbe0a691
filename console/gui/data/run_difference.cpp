#include "console/gui/data/run_difference.h"

#include <algorithm>
#include <map>

#include "shared/fingerprint/comparison.h"
#include "shared/history/settings_difference.h"

namespace ringwright::gui {
namespace {

int section_of(const std::string& key) { return key.starts_with("recipe.") ? 0 : key.starts_with("mesh.") ? 1 : 2; }

// What the first run's fingerprint and another's differ in, by path.
std::map<std::string, std::string> effects_of(const std::vector<history::RunRecord>& runs) {
  std::map<std::string, std::string> effects;
  for (size_t i = 1; i < runs.size(); ++i)
    for (const fingerprint::Difference& each : fingerprint::compare(runs.front().fingerprint, runs[i].fingerprint))
      effects.emplace("fingerprint." + each.path, each.effect);
  return effects;
}

bool is_object_with_keys(const nlohmann::json& json) { return json.is_object() && !json.empty(); }

}  // namespace

RunDifference compare_runs(const std::vector<history::RunRecord>& runs) {
  RunDifference result;
  std::map<std::string, DifferenceRow> rows;
  const history::RunRecord nothing;
  for (size_t i = 0; i < runs.size(); ++i) {
    result.runs.push_back(runs[i].id);
    result.has_recipe.push_back(is_object_with_keys(runs[i].recipe));
    for (const history::SettingDifference& setting : history::settings_difference(nothing, runs[i])) {
      if (!setting.b) continue;  // the whole recipe that the run which has nothing lacks
      DifferenceRow& row = rows[setting.key];
      row.key = setting.key;
      row.values.resize(runs.size());
      row.values[i] = setting.b;
    }
  }
  const std::map<std::string, std::string> effects = effects_of(runs);
  for (auto& [key, row] : rows) {
    row.differs = std::any_of(row.values.begin(), row.values.end(), [&](const auto& value) { return value != row.values.front(); });
    if (row.differs) ++result.differing;
    if (row.differs && section_of(key) == 2) ++result.fingerprint_differing;
    if (const auto effect = effects.find(key); effect != effects.end()) row.effect = effect->second;
    result.rows.push_back(std::move(row));
  }
  std::stable_sort(result.rows.begin(), result.rows.end(), [](const auto& a, const auto& b) { return section_of(a.key) < section_of(b.key); });
  return result;
}

std::string setting_text(const std::optional<nlohmann::json>& value) {
  if (!value) return "-";
  return value->is_string() ? value->get<std::string>() : value->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace ringwright::gui
