#include "console/gui/data/reduced.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ringwright::gui {

Decimated decimate(const history::Reduction& reduction) {
  Decimated drawn;
  for (const history::ReducedColumn& column : reduction.columns) {
    const history::Bucket& sums = column.sums;
    ++drawn.columns_with_points;
    drawn.points_in_view += static_cast<size_t>(sums.points());
    if (sums.nonfinite() > 0) {
      ++drawn.columns_nonfinite;
      drawn.nonfinite_in_view += static_cast<size_t>(sums.nonfinite());
      drawn.marks.push_back({static_cast<double>(sums.nonfinite_step), static_cast<size_t>(sums.nonfinite())});
    }
    if (sums.finite == 0) {
      if (!drawn.y.empty()) drawn.x.push_back(static_cast<double>(sums.first_step)), drawn.y.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const bool minimum_first = sums.minimum_step <= sums.maximum_step;
    drawn.x.push_back(static_cast<double>(minimum_first ? sums.minimum_step : sums.maximum_step));
    drawn.y.push_back(minimum_first ? sums.minimum : sums.maximum);
    if (sums.minimum_step != sums.maximum_step) {
      drawn.x.push_back(static_cast<double>(minimum_first ? sums.maximum_step : sums.minimum_step));
      drawn.y.push_back(minimum_first ? sums.maximum : sums.minimum);
    }
    drawn.y_min = drawn.has_finite ? std::min(drawn.y_min, sums.minimum) : sums.minimum;
    drawn.y_max = drawn.has_finite ? std::max(drawn.y_max, sums.maximum) : sums.maximum;
    drawn.has_finite = true;
  }
  drawn.summaries_read = reduction.columns.size();
  return drawn;
}

Decimated smooth(const history::Reduction& reduction, double weight) {
  Decimated drawn;
  double mean = 0, correction = 0;
  for (const history::ReducedColumn& column : reduction.columns) {
    if (column.sums.finite == 0) continue;
    const double past = std::pow(weight, static_cast<double>(column.sums.finite));
    mean = past * mean + (1 - past) * column.mean();
    correction = past * correction + (1 - past);
    drawn.x.push_back(static_cast<double>(column.sums.first_step));
    drawn.y.push_back(mean / correction);
  }
  drawn.points_in_view = reduction.columns.size();
  return drawn;
}

}  // namespace ringwright::gui
