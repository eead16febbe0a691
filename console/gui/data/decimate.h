// What is drawn of a series: per pixel column first, min, max and last, so a spike of one point is seen at every zoom (T31, T32).
#pragma once

#include <cstddef>
#include <vector>

#include "console/gui/data/series.h"

namespace ringwright::gui {

struct PlotRange {
  double x_min = 0, x_max = 1;
  size_t columns = 1;  // width of the plot in pixels
  XAxis axis = XAxis::step;
  int64_t start_unix_ns = 0;

  bool operator==(const PlotRange&) const = default;
};

struct NonFiniteMark {
  double x;      // of the first one
  size_t count;  // in this mark
};

struct Decimated {
  // The line; a NaN in y is a break. Points in index order.
  std::vector<double> x, y;
  // Points with a break on both sides, which a line cannot show.
  std::vector<double> lone_x, lone_y;
  std::vector<NonFiniteMark> marks;  // at most one a column
  size_t points_in_view = 0;
  size_t nonfinite_in_view = 0;
  size_t columns_with_points = 0, columns_nonfinite = 0;
  double y_min = 0, y_max = 0;  // of the finite points in view
  bool has_finite = false;
  size_t summaries_read = 0;  // columns summed up: bounded by the width, not by the series
};

Decimated decimate(const Series& series, const PlotRange& view);

// Marks that are closer than `distance` in x become one, counts added.
std::vector<NonFiniteMark> merge_marks(const std::vector<NonFiniteMark>& marks, double distance);

}  // namespace ringwright::gui
