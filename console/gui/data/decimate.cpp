#include "console/gui/data/decimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr double kBreak = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kPlainPointsMax = 4;      // a column with so few points is drawn as it is
constexpr size_t kBlocksPerColumnMin = 8;  // a column of so many sums of the pyramid, or more, ends where one of them does

class Builder {
 public:
  Builder(Decimated& out, const Series& series, const PlotRange& view) : out_(out), series_(series), view_(view) {}

  void line_break() {
    if (stretch_ == 0) return;
    end_stretch();
    out_.x.push_back(out_.x.back()), out_.y.push_back(kBreak);
  }
  // A column with many points: its extremes in the order in which they come. `x_of` gives an index' place.
  template <typename Place>
  void column(const Summary& sum, size_t begin, size_t end, Place x_of) {
    if (sum.nonfinite > 0 && !std::isfinite(series_.value(begin))) line_break();
    const bool low_first = sum.min_index <= sum.max_index;
    const size_t first = low_first ? sum.min_index : sum.max_index, second = low_first ? sum.max_index : sum.min_index;
    push(x_of(sum.first_finite), series_.value(sum.first_finite));
    if (first != sum.first_finite) push(x_of(first), low_first ? sum.min : sum.max);
    if (second != first && second != sum.first_finite) push(x_of(second), low_first ? sum.max : sum.min);
    if (sum.last_finite != second && sum.last_finite != sum.first_finite) push(x_of(sum.last_finite), series_.value(sum.last_finite));
    if (sum.nonfinite > 0 && !std::isfinite(series_.value(end - 1))) line_break();
  }
  void plain(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (std::isfinite(series_.value(i))) {
        point(i);
      } else {
        line_break();
      }
    }
  }
  double x(size_t index) const { return series_.x(index, view_.axis, view_.origin); }
  void end_stretch() {
    if (stretch_ == 1) out_.lone_x.push_back(out_.x.back()), out_.lone_y.push_back(out_.y.back());
    stretch_ = 0;
  }

 private:
  void point(size_t index) { push(x(index), series_.value(index)); }
  void push(double x, double y) {
    out_.x.push_back(x), out_.y.push_back(y);
    ++stretch_;
  }

  Decimated& out_;
  const Series& series_;
  const PlotRange& view_;
  size_t stretch_ = 0;  // points since the last break
};

void note(Decimated& out, const Summary& sum, double mark_x, double first_x) {
  ++out.summaries_read;
  ++out.columns_with_points;
  if (sum.nonfinite > 0) {
    ++out.columns_nonfinite;
    out.nonfinite_in_view += sum.nonfinite;
    out.marks.push_back({mark_x, sum.nonfinite, sum.nans});
  }
  if (sum.finite == 0) return;
  if (sum.nonpositive > 0) out.nonpositive_in_view += sum.nonpositive, out.nonpositive_x.push_back(first_x);
  const double positive = sum.min > 0 ? sum.min : sum.max;
  if (positive > 0) out.y_positive_min = out.y_positive_min > 0 ? std::min(out.y_positive_min, positive) : positive;
  out.y_min = out.has_finite ? std::min(out.y_min, sum.min) : sum.min;
  out.y_max = out.has_finite ? std::max(out.y_max, sum.max) : sum.max;
  out.has_finite = true;
}

}  // namespace

void Decimated::clear() {
  x.clear(), y.clear(), lone_x.clear(), lone_y.clear(), marks.clear(), nonpositive_x.clear();
  points_in_view = nonfinite_in_view = nonpositive_in_view = columns_with_points = columns_nonfinite = summaries_read = 0;
  y_min = y_max = y_positive_min = 0;
  has_finite = false;
}

void decimate_into(Decimated& out, const Series& series, const PlotRange& view) {
  out.clear();
  Builder builder(out, series, view);
  if (series.empty() || view.columns == 0 || !(view.x_max > view.x_min)) return;
  const size_t begin = series.lower_bound(view.x_min, view.axis, view.origin);
  const size_t end = series.upper_bound(view.x_max, view.axis, view.origin);
  out.points_in_view = end - begin;
  // One neighbour on each side keeps the line going to the edge.
  if (begin > 0) builder.plain(begin - 1, begin);
  const double width = (view.x_max - view.x_min) / static_cast<double>(view.columns);
  // What a column of many points costs are looks into far memory. So it may end an eighth of a pixel too early, where a sum of the pyramid ends, and
  // the places of its points are told from its ends'. No point is left out, and none counted twice.
  const size_t block = Series::block_points((end - begin) / view.columns / kBlocksPerColumnMin);
  size_t from = begin, last_count = 1;
  int64_t column = -1;
  double first_x = from < end ? builder.x(from) : 0;
  while (from < end) {
    column = std::max(column + 1, static_cast<int64_t>((first_x - view.x_min) / width));  // a dense one before it may have left its last points to it
    const double edge = view.x_min + static_cast<double>(column + 1) * width;
    size_t to = std::min(end, std::max(from + 1, series.lower_bound_near(from + last_count, edge, view.axis, view.origin)));
    const bool dense = block > 0 && to - from >= block * kBlocksPerColumnMin / 2;
    if (dense && to < end) to = to / block * block;
    last_count = to - from;
    const double next_x = to < end ? builder.x(to) : builder.x(end - 1);
    const Summary sum = series.summarize(from, to);
    note(out, sum, sum.nonfinite > 0 ? builder.x(sum.first_nonfinite) : 0, first_x);
    if (to - from <= kPlainPointsMax) {
      builder.plain(from, to);
    } else if (sum.finite == 0) {
      builder.line_break();
    } else if (dense) {
      const double step = (next_x - first_x) / static_cast<double>(to - from);
      builder.column(sum, from, to, [&](size_t index) { return first_x + static_cast<double>(index - from) * step; });
    } else {
      builder.column(sum, from, to, [&](size_t index) { return builder.x(index); });
    }
    from = to, first_x = next_x;
  }
  if (end < series.size()) builder.plain(end, end + 1);
  builder.end_stretch();
}

Decimated decimate(const Series& series, const PlotRange& view) {
  Decimated out;
  decimate_into(out, series, view);
  return out;
}

void merge_marks_into(std::vector<NonFiniteMark>& merged, const std::vector<NonFiniteMark>& marks, double distance) {
  merged.clear();
  double last_x = 0;
  for (const NonFiniteMark& mark : marks) {
    if (!merged.empty() && mark.x - last_x < distance) {
      merged.back().count += mark.count;
      merged.back().nans += mark.nans;
    } else {
      merged.push_back(mark);
    }
    last_x = mark.x;
  }
}

std::string mark_text(const NonFiniteMark& mark, int rank) {
  const char* kind = mark.nans == mark.count ? "NaN" : mark.nans == 0 ? "inf" : "NaN, inf";
  return fmt::format("{} x {}{}", kind, text::format_count(static_cast<int64_t>(mark.count)), rank >= 0 ? fmt::format(", rank {}", rank) : "");
}

}  // namespace ringwright::gui
