#include "console/gui/data/metric_csv.h"

#include <fmt/format.h>

#include <iterator>

#include "shared/exchange/text_export.h"

namespace ringwright::gui {

MetricCurve curve_of(const std::string& run, const Series& series) {
  MetricCurve curve{run, {}, {}};
  curve.steps.reserve(series.size()), curve.values.reserve(series.size());
  for (size_t i = 0; i < series.size(); ++i) curve.steps.push_back(series.step(i)), curve.values.push_back(series.value(i));
  return curve;
}

MetricCurve curve_of(const std::string& run, const std::vector<history::MetricPoint>& points) {
  MetricCurve curve{run, {}, {}};
  for (const history::MetricPoint& point : points) curve.steps.push_back(point.step), curve.values.push_back(point.value);
  return curve;
}

std::string metric_csv(const std::string& metric, const std::vector<MetricCurve>& curves) {
  const bool several = curves.size() > 1;
  std::string text = fmt::format("{}step,{}\n", several ? "run," : "", exchange::csv_field(metric));
  for (const MetricCurve& curve : curves) {
    const std::string start = several ? fmt::format("{},", exchange::csv_field(curve.run)) : "";
    for (size_t i = 0; i < curve.steps.size(); ++i)
      fmt::format_to(std::back_inserter(text), "{}{},{}\n", start, curve.steps[i], exchange::csv_number(curve.values[i]));
  }
  return text;
}

}  // namespace ringwright::gui
