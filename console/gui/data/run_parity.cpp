#include "console/gui/data/run_parity.h"

#include <algorithm>

#include "shared/history/comparability.h"

namespace ringwright::gui {

RunParity compare_metrics(const history::Reader& reader, const std::string& a, const std::string& b) {
  const history::RunRecord run_a = reader.run(a), run_b = reader.run(b);
  const auto why = history::why_not_comparable(reader, run_a, run_b);
  RunParity result{a, b, {}, why ? why->what : ""};
  const std::vector<std::string> names = reader.metric_names(a), others = reader.metric_names(b);
  for (const std::string& name : names) {
    if (std::find(others.begin(), others.end(), name) == others.end()) continue;
    const history::Comparison comparison = history::compare(reader.metric(a, name), reader.metric(b, name));
    result.rows.push_back({name, comparison.common, comparison.equal_bits, comparison.only_a + comparison.only_b, comparison.mean_difference,
                           comparison.largest_difference, comparison.first_different_step,
                           history::is_within(comparison, history::kToleranceDefault)});
  }
  std::stable_sort(result.rows.begin(), result.rows.end(), [](const auto& x, const auto& y) { return x.metric < y.metric; });
  return result;
}

}  // namespace ringwright::gui
