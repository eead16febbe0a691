#include "console/gui/data/run_parity.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringwright::gui {
namespace {

std::string why_not_comparable(const history::Reader& reader, const history::RunRecord& a, const history::RunRecord& b) {
  static const nlohmann::json::json_pointer kData("/workers/0/inputs/train/xxh3");
  if (a.fingerprint.contains(kData) && b.fingerprint.contains(kData) && a.fingerprint.at(kData) != b.fingerprint.at(kData))
    return "their training data differ";
  const auto difference = history::first_batch_difference(reader, a, b);
  if (!difference) return "";
  return fmt::format("step {} has {:.0f} {} in one and {:.0f} in the other", difference->step, difference->a, difference->what, difference->b);
}

}  // namespace

RunParity compare_metrics(const history::Reader& reader, const std::string& a, const std::string& b) {
  const history::RunRecord run_a = reader.run(a), run_b = reader.run(b);
  RunParity result{a, b, {}, why_not_comparable(reader, run_a, run_b)};
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
