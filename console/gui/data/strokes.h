// From a decimated line to strokes on pixels. Columns in which the line goes up and down are one upright bar each, so that a plot of a million points
// costs one rectangle a pixel column, whatever the points do between its edges.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ringwright::gui {

// From values to pixels; with `log_y` the logarithm (base 10) of y is scaled.
struct PlotScale {
  double x_scale = 1, x_offset = 0, y_scale = 1, y_offset = 0;
  bool log_y = false;
  double left = -1e6, right = 1e6;  // what lies beyond is cut off there

  double x(double value) const { return value * x_scale + x_offset; }
  // Far above or below the plot is as good as further: no float overflows.
  double y(double value) const { return std::clamp((log_y ? std::log10(value) : value) * y_scale + y_offset, -1e6, 1e6); }
  bool shows(double value) const { return std::isfinite(value) && (!log_y || value > 0); }
};

// Calls `segment(x0, y0, x1, y1)` for straight pieces and `bar(column, low, high)` for upright ones of the pixel column [column, column + 1), from
// left to right. Pieces end within a pixel of the points; nothing is drawn across a value that is not shown.
template <typename Segment, typename Bar>
class Strokes {
 public:
  Strokes(const PlotScale& scale, Segment segment, Bar bar) : scale_(scale), segment_(segment), bar_(bar) {}

  void draw(const double* x, const double* y, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (scale_.shows(y[i])) {
        add(scale_.x(x[i]), scale_.y(y[i]));
      } else {
        end_stretch();
      }
    }
    end_stretch();
  }

 private:
  // The points of one pixel column, put together.
  struct Column {
    int64_t at;
    double first_x, first_y, last_x, last_y, low, high;
    size_t points;
    bool is_tall() const { return points > 1 && high - low > 1; }
  };

  void add(double x, double y) {
    const double place = std::clamp(x, -1e9, 1e9);
    auto at = static_cast<int64_t>(place);
    if (static_cast<double>(at) > place) --at;  // std::floor would be a call for each point
    if (open_ && at == column_.at) {
      column_.last_x = x, column_.last_y = y;
      column_.low = std::min(column_.low, y), column_.high = std::max(column_.high, y);
      ++column_.points;
      return;
    }
    if (open_) finish_column();
    column_ = {at, x, y, x, y, y, y, 1};
    open_ = true;
  }

  void finish_column() {
    if (column_.is_tall()) {
      // Neighbours that overlap need nothing between them.
      const bool touches = has_last_ && last_.is_tall() && last_.at + 1 == column_.at && last_.low <= column_.high && column_.low <= last_.high;
      if (has_last_ && !touches) piece(last_.last_x, last_.last_y, column_.first_x, column_.first_y);
      draw_bar(column_.low, column_.high);
    } else if (has_last_) {
      piece(last_.last_x, last_.last_y, column_.last_x, column_.last_y);
    }
    last_ = column_;
    has_last_ = true;
    ++columns_;
  }

  void end_stretch() {
    if (!open_) return;
    finish_column();
    // A stretch of several points within one pixel is a dot, not nothing.
    if (columns_ == 1 && last_.points > 1 && !last_.is_tall()) draw_bar(last_.low - 0.5, last_.high + 0.5);
    open_ = has_last_ = false;
    columns_ = 0;
  }

  void draw_bar(double low, double high) {
    const auto at = static_cast<double>(column_.at);
    if (at >= scale_.left - 1 && at <= scale_.right) bar_(static_cast<float>(at), static_cast<float>(low), static_cast<float>(high));
  }

  // A neighbour outside of the plot may be a million pixels away: floats would bend the line.
  void piece(double x0, double y0, double x1, double y1) {
    if (x1 < scale_.left || x0 > scale_.right) return;
    const double slope = x1 > x0 ? (y1 - y0) / (x1 - x0) : 0;
    if (x0 < scale_.left) y0 += (scale_.left - x0) * slope, x0 = scale_.left;
    if (x1 > scale_.right) y1 = y0 + (scale_.right - x0) * slope, x1 = scale_.right;
    segment_(static_cast<float>(x0), static_cast<float>(y0), static_cast<float>(x1), static_cast<float>(y1));
  }

  const PlotScale& scale_;
  Segment segment_;
  Bar bar_;
  Column column_{}, last_{};
  bool open_ = false, has_last_ = false;
  size_t columns_ = 0;  // finished since the last break
};

}  // namespace ringwright::gui
