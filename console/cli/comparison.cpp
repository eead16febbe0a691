#include "console/cli/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace ringwright::cli {

double relative_difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
  return std::abs(a - b) / std::max(std::abs(a), std::abs(b));
}

Comparison compare(const std::vector<history::MetricPoint>& a, const std::vector<history::MetricPoint>& b) {
  std::map<int64_t, ComparedStep> by_step;
  for (const history::MetricPoint& point : a) by_step[point.step].a = point.value;
  for (const history::MetricPoint& point : b) by_step[point.step].b = point.value;
  Comparison result;
  for (auto& [step, row] : by_step) {
    row.step = step;
    if (row.a && row.b) {
      row.relative_difference = relative_difference(*row.a, *row.b);
      ++result.common;
      if (!result.largest || *row.relative_difference > *result.largest->relative_difference) result.largest = row;
    } else {
      ++(row.a ? result.only_a : result.only_b);
    }
    result.steps.push_back(row);
  }
  return result;
}

bool is_within(const Comparison& comparison, double tolerance) {
  return comparison.common > 0 && comparison.only_a == 0 && comparison.only_b == 0 && *comparison.largest->relative_difference <= tolerance;
}

}  // namespace ringwright::cli
