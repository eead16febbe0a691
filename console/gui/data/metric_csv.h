// The lines of a plot as a file for other programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "console/gui/data/series.h"

namespace ringwright::gui {

struct MetricCurve {
  std::string run;  // id
  std::vector<int64_t> steps;
  std::vector<double> values;
};
MetricCurve curve_of(const std::string& run, const Series& series);
MetricCurve curve_of(const std::string& run, const std::vector<history::MetricPoint>& points);

// Of one run what `ringwright runs metrics RUN -m METRIC --csv` prints: step,METRIC. Of several run,step,METRIC, one run after the other.
std::string metric_csv(const std::string& metric, const std::vector<MetricCurve>& curves);

}  // namespace ringwright::gui
