#include "console/gui/data/decimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ringwright::gui {
namespace {

constexpr double kBreak = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kPlainPointsMax = 4;  // a column with so few points is drawn as it is

class Builder {
 public:
  Builder(const Series& series, const PlotRange& view) : series_(series), view_(view) {}

  void point(size_t index) { push(x(index), series_.value(index)); }
  void line_break() {
    if (!out_.y.empty() && !std::isnan(out_.y.back())) push(out_.x.back(), kBreak);
  }
  // A column with many points: its extremes in the order in which they come.
  void column(const Summary& sum, size_t begin, size_t end) {
    if (!std::isfinite(series_.value(begin))) line_break();
    std::array<size_t, 4> picks = {sum.first_finite, sum.min_index, sum.max_index, sum.last_finite};
    std::sort(picks.begin(), picks.end());
    const auto last = std::unique(picks.begin(), picks.end());
    for (auto pick = picks.begin(); pick != last; ++pick) point(*pick);
    if (!std::isfinite(series_.value(end - 1))) line_break();
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
  double x(size_t index) const { return series_.x(index, view_.axis, view_.start_unix_ns); }
  Decimated& out() { return out_; }

  Decimated finish() {
    for (size_t i = 0; i < out_.y.size(); ++i) {
      if (std::isnan(out_.y[i])) continue;
      const bool alone_left = i == 0 || std::isnan(out_.y[i - 1]);
      const bool alone_right = i + 1 == out_.y.size() || std::isnan(out_.y[i + 1]);
      if (alone_left && alone_right) out_.lone_x.push_back(out_.x[i]), out_.lone_y.push_back(out_.y[i]);
    }
    return std::move(out_);
  }

 private:
  void push(double x, double y) { out_.x.push_back(x), out_.y.push_back(y); }

  const Series& series_;
  const PlotRange& view_;
  Decimated out_;
};

void note(Decimated& out, const Summary& sum, double mark_x) {
  ++out.summaries_read;
  ++out.columns_with_points;
  if (sum.nonfinite > 0) {
    ++out.columns_nonfinite;
    out.nonfinite_in_view += sum.nonfinite;
    out.marks.push_back({mark_x, sum.nonfinite});
  }
  if (sum.finite == 0) return;
  out.y_min = out.has_finite ? std::min(out.y_min, sum.min) : sum.min;
  out.y_max = out.has_finite ? std::max(out.y_max, sum.max) : sum.max;
  out.has_finite = true;
}

}  // namespace

Decimated decimate(const Series& series, const PlotRange& view) {
  Builder builder(series, view);
  if (series.empty() || view.columns == 0 || !(view.x_max > view.x_min)) return builder.finish();
  const size_t begin = series.lower_bound(view.x_min, view.axis, view.start_unix_ns);
  const size_t end = series.upper_bound(view.x_max, view.axis, view.start_unix_ns);
  builder.out().points_in_view = end - begin;
  // One neighbour on each side keeps the line going to the edge.
  if (begin > 0) builder.plain(begin - 1, begin);
  const double width = (view.x_max - view.x_min) / static_cast<double>(view.columns);
  size_t from = begin, last_count = 1;
  while (from < end) {
    const double column = std::floor((builder.x(from) - view.x_min) / width);
    const double edge = view.x_min + (column + 1) * width;
    size_t to = std::min(end, std::max(from + 1, series.lower_bound_near(from + last_count, edge, view.axis, view.start_unix_ns)));
    last_count = to - from;
    const Summary sum = series.summarize(from, to);
    note(builder.out(), sum, sum.nonfinite > 0 ? builder.x(sum.first_nonfinite) : 0);
    if (to - from <= kPlainPointsMax) {
      builder.plain(from, to);
    } else if (sum.finite == 0) {
      builder.line_break();
    } else {
      builder.column(sum, from, to);
    }
    from = to;
  }
  if (end < series.size()) builder.plain(end, end + 1);
  return builder.finish();
}

std::vector<NonFiniteMark> merge_marks(const std::vector<NonFiniteMark>& marks, double distance) {
  std::vector<NonFiniteMark> merged;
  double last_x = 0;
  for (const NonFiniteMark& mark : marks) {
    if (!merged.empty() && mark.x - last_x < distance) {
      merged.back().count += mark.count;
    } else {
      merged.push_back(mark);
    }
    last_x = mark.x;
  }
  return merged;
}

}  // namespace ringwright::gui
