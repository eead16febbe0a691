#include "console/gui/data/run_columns.h"

#include <array>
#include <sstream>

#include "console/gui/data/run_difference.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

struct Ending {
  const char* text;
  ColumnName::Kind kind;
};
constexpr std::array kEndings = {Ending{".last", ColumnName::Kind::last}, Ending{".min", ColumnName::Kind::minimum},
                                 Ending{".max", ColumnName::Kind::maximum}};

std::optional<nlohmann::json> at_path(const nlohmann::json& json, const std::string& path) {
  const nlohmann::json* at = &json;
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '.');) {
    if (!at->is_object() || !at->contains(part)) return std::nullopt;
    at = &(*at)[part];
  }
  return *at;
}

std::optional<double> extreme(const Run& run, const ColumnName& column, const FindSummary& summary) {
  const bool minimum = column.kind == ColumnName::Kind::minimum;
  const auto series = run.metrics.find(column.path);
  if (series != run.metrics.end() && !series->second->empty()) {
    const Summary all = series->second->summarize(0, series->second->size());
    if (all.finite == 0) return std::nullopt;
    return minimum ? all.min : all.max;
  }
  const auto unread = run.parts.unread_metrics.find(column.path);
  const history::MetricSummary* known = unread != run.parts.unread_metrics.end() ? &unread->second : summary(run.record.id, column.path);
  return known == nullptr ? std::nullopt : minimum ? known->minimum : known->maximum;
}

}  // namespace

std::optional<ColumnName> read_column(const std::string& name) {
  for (const char* root : {"recipe", "mesh", "fingerprint"}) {
    const std::string start = std::string(root) + ".";
    if (name.starts_with(start) && name.size() > start.size()) return ColumnName{ColumnName::Kind::setting, name.substr(start.size()), root};
  }
  for (const Ending& ending : kEndings) {
    const std::string_view text = ending.text;
    if (name.ends_with(text) && name.size() > text.size()) return ColumnName{ending.kind, name.substr(0, name.size() - text.size()), ""};
  }
  return std::nullopt;
}

std::optional<nlohmann::json> column_value(const Run& run, const ColumnName& column, const FindSummary& summary) {
  if (column.kind == ColumnName::Kind::setting)
    return at_path(column.root == "recipe" ? run.record.recipe : column.root == "mesh" ? run.record.mesh : run.record.fingerprint, column.path);
  if (column.kind == ColumnName::Kind::last) {
    const auto found = run.latest.find(column.path);
    if (found == run.latest.end()) return std::nullopt;
    return found->second.value;
  }
  const auto value = extreme(run, column, summary);
  if (!value) return std::nullopt;
  return *value;
}

std::string column_text(const std::optional<nlohmann::json>& value) {
  return value && value->is_number_float() ? text::format_value(value->get<double>()) : setting_text(value);
}

}  // namespace ringwright::gui
