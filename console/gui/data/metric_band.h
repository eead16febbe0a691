// The band of several lines: from the smallest to the largest of them, and their mean, column by column.
#pragma once

#include <cstddef>
#include <vector>

#include "console/gui/data/decimate.h"

namespace ringwright::gui {

class MetricBand {
 public:
  // Over `columns` columns of equal width; what lay in it before is gone.
  void begin(double x_min, double x_max, size_t columns);
  // A line counts where it has a value, between its first and last point and not across a break; a spike of one point is in its column's extremes.
  void add(const Decimated& line);
  void finish();

  // By column that any line has, from left to right.
  const std::vector<double>& x() const { return x_; }
  const std::vector<double>& low() const { return low_; }
  const std::vector<double>& high() const { return high_; }
  const std::vector<double>& mean() const { return mean_; }

 private:
  struct Column {
    double low = 0, high = 0, sum = 0;
    size_t lines = 0;
  };
  // Of the line that is added: its values within one column.
  struct Part {
    double low = 0, high = 0, sum = 0;
    size_t values = 0;
    void take(double value);
  };
  double column_x(size_t column) const { return x_min_ + (static_cast<double>(column) + 0.5) * width_; }

  double x_min_ = 0, width_ = 1;
  std::vector<Column> columns_;
  std::vector<Part> parts_;
  std::vector<double> x_, low_, high_, mean_;
};

}  // namespace ringwright::gui
