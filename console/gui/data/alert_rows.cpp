#include "console/gui/data/alert_rows.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace ringwright::gui {
namespace {

Severity severity_of(const std::string& kind) {
  if (kind == "failed" || kind == "lost" || kind == "nan") return Severity::failure;
  if (kind == "finished" || kind == "test") return Severity::news;
  return Severity::warning;
}

// A run that was lost has nobody who could have raised an alert.
std::optional<history::AlertRecord> implied_alert(const Run& run) {
  const bool failed = run.record.state == history::RunState::failed, lost = run.record.state == history::RunState::lost;
  if (!failed && !lost) return std::nullopt;
  const std::string kind = failed ? "failed" : "lost";
  const auto& alerts = run.parts.alerts;
  if (std::any_of(alerts.begin(), alerts.end(), [&](const auto& alert) { return alert.kind == kind; })) return std::nullopt;
  history::AlertRecord alert;
  alert.kind = kind;
  alert.text = run.record.reason.empty() ? "the run " + std::string(failed ? "failed" : "was lost") : run.record.reason;
  if (run.record.failed_rank >= 0) alert.detail = {{"failed_rank", run.record.failed_rank}};
  alert.first_unix_ns = alert.last_unix_ns = run.record.ended_unix_ns;
  return alert;
}

AlertRow row_of(const std::shared_ptr<Run>& run, history::AlertRecord alert, const nlohmann::json& acknowledged) {
  AlertRow row{run, std::move(alert), Severity::news, false};
  row.severity = severity_of(row.alert.kind);
  row.acknowledged = row.severity == Severity::news;
  const auto known = acknowledged.find(row.key());
  if (known != acknowledged.end() && known->is_number_integer() && known->get<int64_t>() >= row.alert.last_unix_ns) row.acknowledged = true;
  return row;
}

}  // namespace

std::string AlertRow::key() const { return run->record.id + "|" + alert.kind + "|" + alert.topic; }

std::optional<int64_t> AlertRow::step() const {
  const auto found = alert.detail.find("step");
  if (found != alert.detail.end() && found->is_number_integer()) return found->get<int64_t>();
  return std::nullopt;
}

int AlertRow::rank() const {
  for (const char* key : {"rank", "failed_rank"}) {
    const auto found = alert.detail.find(key);
    if (found != alert.detail.end() && found->is_number_integer()) return found->get<int>();
  }
  if (!alert.topic.starts_with("rank ")) return -1;
  int rank = -1;
  std::from_chars(alert.topic.data() + 5, alert.topic.data() + alert.topic.size(), rank);
  return rank;
}

std::vector<AlertRow> alert_rows(const State& state, const nlohmann::json& acknowledged) {
  std::vector<AlertRow> rows;
  for (const auto& run : state.runs()) {
    if (run->record.archived) continue;
    for (const history::AlertRecord& alert : run->parts.alerts) rows.push_back(row_of(run, alert, acknowledged));
    if (auto implied = implied_alert(*run)) rows.push_back(row_of(run, std::move(*implied), acknowledged));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const AlertRow& a, const AlertRow& b) {
    return std::make_tuple(a.acknowledged, -static_cast<int>(a.severity), -a.alert.last_unix_ns) <
           std::make_tuple(b.acknowledged, -static_cast<int>(b.severity), -b.alert.last_unix_ns);
  });
  return rows;
}

}  // namespace ringwright::gui
