// What is drawn of a series: per pixel column first, min, max and last, so a spike of one point is seen at every zoom (T31, T32). Where a column has
// hundreds of points they are told apart to an eighth of a pixel.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "console/gui/data/series.h"

namespace ringwright::gui {

struct PlotRange {
  double x_min = 0, x_max = 1;
  size_t columns = 1;  // width of the plot in pixels
  XAxis axis = XAxis::step;
  int64_t origin = 0;  // of the axis, as Series::x takes it

  bool operator==(const PlotRange&) const = default;
};

struct NonFiniteMark {
  double x;      // of the first one
  size_t count;  // in this mark
  size_t nans;   // of them; the others are infinite
};
// "NaN x 6", "inf x 2", "NaN, inf x 8"; with the rank where it is known.
std::string mark_text(const NonFiniteMark& mark, int rank);

struct Decimated {
  // The line; a NaN in y is a break. Points in index order.
  std::vector<double> x, y;
  // Points with a break on both sides, which a line cannot show.
  std::vector<double> lone_x, lone_y;
  std::vector<NonFiniteMark> marks;   // at most one a column
  std::vector<double> nonpositive_x;  // columns with values that a logarithmic axis cannot show
  size_t points_in_view = 0;
  size_t nonfinite_in_view = 0, nonpositive_in_view = 0;
  size_t columns_with_points = 0, columns_nonfinite = 0;
  double y_min = 0, y_max = 0;  // of the finite points in view
  double y_positive_min = 0;    // of the columns' smallest values above zero; 0: none is
  bool has_finite = false;
  size_t summaries_read = 0;  // columns summed up: bounded by the width, not by the series

  void clear();
};

Decimated decimate(const Series& series, const PlotRange& view);
// The same into what was used before: once it is large enough, no memory is asked for.
void decimate_into(Decimated& out, const Series& series, const PlotRange& view);

// Marks that are closer than `distance` in x become one, counts added. `merged` is overwritten.
void merge_marks_into(std::vector<NonFiniteMark>& merged, const std::vector<NonFiniteMark>& marks, double distance);

}  // namespace ringwright::gui
