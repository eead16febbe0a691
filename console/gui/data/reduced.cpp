#include "console/gui/data/reduced.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ringwright::gui {

Decimated decimate(const history::Reduction& reduction, int64_t origin) {
  const auto x = [origin](int64_t step) { return static_cast<double>(step - origin); };
  Decimated drawn;
  for (const history::ReducedColumn& column : reduction.columns) {
    const history::Bucket& sums = column.sums;
    ++drawn.columns_with_points;
    drawn.points_in_view += static_cast<size_t>(sums.points());
    if (sums.nonfinite() > 0) {
      ++drawn.columns_nonfinite;
      drawn.nonfinite_in_view += static_cast<size_t>(sums.nonfinite());
      drawn.marks.push_back({x(sums.nonfinite_step), static_cast<size_t>(sums.nonfinite()), static_cast<size_t>(sums.nans)});
    }
    if (sums.finite == 0) {
      if (!drawn.y.empty()) drawn.x.push_back(x(sums.first_step)), drawn.y.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const bool minimum_first = sums.minimum_step <= sums.maximum_step;
    drawn.x.push_back(x(minimum_first ? sums.minimum_step : sums.maximum_step));
    drawn.y.push_back(minimum_first ? sums.minimum : sums.maximum);
    if (sums.minimum_step != sums.maximum_step) {
      drawn.x.push_back(x(minimum_first ? sums.maximum_step : sums.minimum_step));
      drawn.y.push_back(minimum_first ? sums.maximum : sums.minimum);
    }
    if (sums.minimum <= 0) drawn.nonpositive_x.push_back(x(sums.minimum_step));
    const double positive = sums.minimum > 0 ? sums.minimum : sums.maximum;
    if (positive > 0) drawn.y_positive_min = drawn.y_positive_min > 0 ? std::min(drawn.y_positive_min, positive) : positive;
    drawn.y_min = drawn.has_finite ? std::min(drawn.y_min, sums.minimum) : sums.minimum;
    drawn.y_max = drawn.has_finite ? std::max(drawn.y_max, sums.maximum) : sums.maximum;
    drawn.has_finite = true;
  }
  drawn.summaries_read = reduction.columns.size();
  return drawn;
}

Decimated smooth(const history::Reduction& reduction, double weight, int64_t origin, const std::vector<int64_t>& resumed_at) {
  Decimated drawn;
  double mean = 0, correction = 0;
  auto resume = resumed_at.begin();
  for (const history::ReducedColumn& column : reduction.columns) {
    for (; resume != resumed_at.end() && column.sums.first_step >= *resume; ++resume) mean = correction = 0;
    if (column.sums.finite == 0) continue;
    const double past = std::pow(weight, static_cast<double>(column.sums.finite));
    mean = past * mean + (1 - past) * column.mean();
    correction = past * correction + (1 - past);
    drawn.x.push_back(static_cast<double>(column.sums.first_step - origin));
    drawn.y.push_back(mean / correction);
  }
  drawn.points_in_view = reduction.columns.size();
  return drawn;
}

}  // namespace ringwright::gui
