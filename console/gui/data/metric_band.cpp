#include "console/gui/data/metric_band.h"

#include <algorithm>
#include <cmath>

namespace ringwright::gui {

void MetricBand::Part::take(double value) {
  low = values == 0 ? value : std::min(low, value);
  high = values == 0 ? value : std::max(high, value);
  sum += value;
  ++values;
}

void MetricBand::begin(double x_min, double x_max, size_t columns) {
  x_min_ = x_min;
  width_ = (x_max - x_min) / static_cast<double>(std::max<size_t>(columns, 1));
  columns_.assign(columns, {});
}

void MetricBand::add(const Decimated& line) {
  if (!(width_ > 0) || columns_.empty()) return;
  parts_.assign(columns_.size(), {});
  const auto count = static_cast<double>(columns_.size());
  for (size_t i = 0; i < line.x.size(); ++i) {
    if (!std::isfinite(line.y[i])) continue;
    const double place = (line.x[i] - x_min_) / width_;
    if (place >= 0 && place < count) parts_[static_cast<size_t>(place)].take(line.y[i]);
    if (i + 1 == line.x.size() || !std::isfinite(line.y[i + 1]) || !(line.x[i + 1] > line.x[i])) continue;
    // Columns between two points have the value of the straight line between them.
    const double next = (line.x[i + 1] - x_min_) / width_;
    const auto first = static_cast<size_t>(std::clamp(std::floor(place) + 1, 0.0, count));
    const auto end = static_cast<size_t>(std::clamp(std::floor(next), 0.0, count));
    const double slope = (line.y[i + 1] - line.y[i]) / (line.x[i + 1] - line.x[i]);
    for (size_t column = first; column < end; ++column) parts_[column].take(line.y[i] + (column_x(column) - line.x[i]) * slope);
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.values == 0) continue;
    Column& column = columns_[i];
    column.low = column.lines == 0 ? part.low : std::min(column.low, part.low);
    column.high = column.lines == 0 ? part.high : std::max(column.high, part.high);
    column.sum += part.sum / static_cast<double>(part.values);
    ++column.lines;
  }
}

void MetricBand::finish() {
  x_.clear(), low_.clear(), high_.clear(), mean_.clear();
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (column.lines == 0) continue;
    x_.push_back(column_x(i)), low_.push_back(column.low), high_.push_back(column.high);
    mean_.push_back(column.sum / static_cast<double>(column.lines));
  }
}

}  // namespace ringwright::gui
