#include "console/cli/run_guards.h"

#include <fmt/format.h>

#include <limits>

namespace ringwright::cli {

std::vector<support_matrix::RunningFinding> run_guards(const history::Reader& reader, const std::string& run) {
  const std::string name(support_matrix::kMultProbError);
  const auto range = reader.metric_range(run, name);
  if (!range) return {};
  const history::Reduction reduced = reader.reduce(run, name, -1, *range, 1);
  if (reduced.columns.empty()) return {};
  const history::Bucket& all = reduced.columns.front().sums;
  if (all.positive_infinities > 0) return support_matrix::check_recorded(name, all.nonfinite_step, std::numeric_limits<double>::infinity());
  return support_matrix::check_recorded(name, all.maximum_step, all.maximum);
}

std::string guard_text(const support_matrix::RunningFinding& finding) {
  return fmt::format("{} {}: {}; to fix: {}", finding.code, finding.scope, finding.reason, finding.fix);
}

nlohmann::json guards_json(const std::vector<support_matrix::RunningFinding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const support_matrix::RunningFinding& each : findings)
    list.push_back({{"code", each.code}, {"scope", each.scope}, {"reason", each.reason}, {"fix", each.fix}});
  return list;
}

}  // namespace ringwright::cli
