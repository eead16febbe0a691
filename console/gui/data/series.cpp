#include "console/gui/data/series.h"

#include <algorithm>
#include <cmath>

namespace ringwright::gui {
namespace {

constexpr size_t kBlockPoints = 16;  // points in one block of the lowest level
constexpr size_t kFan = 4;           // blocks in one block of the next level

// The first of [low, high) that is not below.
template <typename Below>
size_t partition(size_t low, size_t high, Below below) {
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (below(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Calls `search` with what gives the axis' position of an index: the axis is told apart once, not at each probe.
template <typename Search>
size_t on_axis(const Series& series, XAxis axis, int64_t origin, Search search) {
  switch (axis) {
    case XAxis::step:
      return search([&](size_t i) { return series.x(i, XAxis::step); });
    case XAxis::tokens:
      return search([&](size_t i) { return series.x(i, XAxis::tokens); });
    case XAxis::elapsed:
      return search([&](size_t i) { return series.x(i, XAxis::elapsed, origin); });
    case XAxis::since_resume:
      return search([&](size_t i) { return series.x(i, XAxis::since_resume, origin); });
  }
  return 0;
}

// The partition point, looked for from `guess` in strides that double.
template <typename Below>
size_t partition_near(size_t guess, size_t size, Below below) {
  guess = std::min(guess, size);
  size_t stride = 1;
  if (guess < size && below(guess)) {
    size_t low = guess + 1;
    for (; low + stride <= size && below(low + stride - 1); stride *= 2) low += stride;
    return partition(low, std::min(size, low + stride), below);
  }
  size_t high = guess;
  for (; stride <= high && !below(high - stride); stride *= 2) high -= stride;
  return partition(high > stride ? high - stride : 0, high, below);
}

}  // namespace

Summary merge(const Summary& left, const Summary& right) {
  Summary sum = left;
  if (sum.nonfinite == 0) sum.first_nonfinite = right.first_nonfinite;
  sum.nonfinite += right.nonfinite;
  sum.nans += right.nans;
  sum.nonpositive += right.nonpositive;
  if (right.finite == 0) return sum;
  if (sum.finite == 0 || right.min < sum.min) sum.min = right.min, sum.min_index = right.min_index;
  if (sum.finite == 0 || right.max > sum.max) sum.max = right.max, sum.max_index = right.max_index;
  if (sum.finite == 0) sum.first_finite = right.first_finite;
  sum.last_finite = right.last_finite;
  sum.finite += right.finite;
  return sum;
}

void Series::append(const history::MetricPoint& point) {
  ++version_;
  rank_ = steps_.empty() || rank_ == point.rank ? point.rank : kMixedRanks;
  if (steps_.empty() || point.step > steps_.back()) {
    insert_at(steps_.size(), point);
    refresh(steps_.size() - 1);
    return;
  }
  const size_t index = static_cast<size_t>(std::lower_bound(steps_.begin(), steps_.end(), point.step) - steps_.begin());
  if (steps_[index] != point.step) {
    insert_at(index, point);
  } else if (point.time_unix_ns > times_[index]) {
    overwrite(index, point);
  } else {
    return;
  }
  ++replaced_;
  refresh(index);
}

void Series::append(const std::vector<history::MetricPoint>& points) {
  for (const history::MetricPoint& point : points) append(point);
}

void Series::insert_at(size_t index, const history::MetricPoint& point) {
  const auto at = static_cast<std::ptrdiff_t>(index);
  // The axes only grow: a clock that runs backwards, or an unknown token count, repeats the value before it (T33).
  const int64_t tokens = std::max(point.tokens, index > 0 ? tokens_[index - 1] : int64_t{0});
  steps_.insert(steps_.begin() + at, point.step);
  tokens_.insert(tokens_.begin() + at, tokens);
  times_.insert(times_.begin() + at, std::max(point.time_unix_ns, index > 0 ? times_[index - 1] : int64_t{0}));
  values_.insert(values_.begin() + at, point.value);
}

void Series::overwrite(size_t index, const history::MetricPoint& point) {
  values_[index] = point.value;
  times_[index] = point.time_unix_ns;
  for (size_t i = index + 1; i < times_.size() && times_[i] < times_[i - 1]; ++i) times_[i] = times_[i - 1];
}

size_t Series::lower_bound(double x_wanted, XAxis axis, int64_t origin) const {
  return on_axis(*this, axis, origin, [&](auto x) { return partition(0, size(), [&](size_t i) { return x(i) < x_wanted; }); });
}

size_t Series::lower_bound_near(size_t guess, double x_wanted, XAxis axis, int64_t origin) const {
  return on_axis(*this, axis, origin, [&](auto x) { return partition_near(guess, size(), [&](size_t i) { return x(i) < x_wanted; }); });
}

size_t Series::upper_bound(double x_wanted, XAxis axis, int64_t origin) const {
  return on_axis(*this, axis, origin, [&](auto x) { return partition(0, size(), [&](size_t i) { return x(i) <= x_wanted; }); });
}

void Series::add_points(Summary& sum, size_t begin, size_t end) const {
  for (size_t i = begin; i < end; ++i) {
    const double value = values_[i];
    if (!std::isfinite(value)) {
      if (sum.nonfinite++ == 0) sum.first_nonfinite = i;
      if (std::isnan(value)) ++sum.nans;
      continue;
    }
    if (sum.finite == 0) sum.first_finite = sum.min_index = sum.max_index = i, sum.min = sum.max = value;
    if (value < sum.min) sum.min = value, sum.min_index = i;
    if (value > sum.max) sum.max = value, sum.max_index = i;
    sum.nonpositive += value <= 0 ? 1 : 0;
    sum.last_finite = i;
    ++sum.finite;
  }
}

void Series::add_blocks(Summary& sum, size_t level, size_t begin, size_t end) const {
  const size_t points = kBlockPoints << (2 * level);
  static_assert(kFan == 4, "a level's blocks are 4 times as long as those below");
  for (size_t i = begin; i < end; ++i) {
    const Block& block = levels_[level][i];
    const size_t from = i * points;
    if (block.nonfinite > 0) {
      if (sum.nonfinite == 0) sum.first_nonfinite = from + block.first_nonfinite;
      sum.nonfinite += block.nonfinite;
      sum.nans += block.nans;
      if (block.nonfinite == points) continue;
    }
    if (sum.finite == 0 || block.min < sum.min) sum.min = block.min, sum.min_index = from + block.min_at;
    if (sum.finite == 0 || block.max > sum.max) sum.max = block.max, sum.max_index = from + block.max_at;
    if (sum.finite == 0) sum.first_finite = from + block.first_finite;
    sum.last_finite = from + block.last_finite;
    sum.finite += points - block.nonfinite;
    sum.nonpositive += block.nonpositive;
  }
}

// Brings the pyramid up to date for the points from `from` on. Only full blocks are kept; the rest is summed from below.
void Series::refresh(size_t from) {
  size_t count = size(), fan = kBlockPoints, points = 1;
  for (size_t level = 0; count / fan > 0; ++level, fan = kFan) {
    count /= fan, from /= fan, points *= fan;
    if (levels_.size() == level) levels_.emplace_back();
    std::vector<Block>& blocks = levels_[level];
    const size_t start = std::min(from, blocks.size());
    if (start == count) return;  // no block has become full: none above has, either
    blocks.resize(count);
    for (size_t i = start; i < count; ++i) {
      Summary sum;
      level == 0 ? add_points(sum, i * kBlockPoints, (i + 1) * kBlockPoints) : add_blocks(sum, level - 1, i * kFan, (i + 1) * kFan);
      const auto at = [&](size_t index) { return static_cast<uint32_t>(index - i * points); };
      const bool some = sum.finite > 0;
      blocks[i] = {sum.min,
                   sum.max,
                   some ? at(sum.min_index) : 0,
                   some ? at(sum.max_index) : 0,
                   some ? at(sum.first_finite) : 0,
                   some ? at(sum.last_finite) : 0,
                   sum.nonfinite > 0 ? at(sum.first_nonfinite) : 0,
                   static_cast<uint32_t>(sum.nonfinite),
                   static_cast<uint32_t>(sum.nans),
                   static_cast<uint32_t>(sum.nonpositive)};
    }
  }
}

size_t Series::block_points(size_t points) {
  if (points < kBlockPoints) return 0;
  size_t block = kBlockPoints;
  while (block * kFan <= points) block *= kFan;
  return block;
}

Summary Series::summarize(size_t begin, size_t end) const {
  Summary sum;
  end = std::min(end, size());
  // The loose points before the first whole block, then ever longer blocks, then, downwards, what is left behind them: all in order.
  size_t at = begin, level = 0, points = kBlockPoints;
  const size_t first_block = std::min(end, (begin + kBlockPoints - 1) / kBlockPoints * kBlockPoints);
  add_points(sum, at, first_block);
  at = first_block;
  while (level < levels_.size() && at + points <= end) {
    const size_t next = points * kFan;
    const bool climbs = level + 1 < levels_.size();
    const size_t edge = climbs ? std::min((at + next - 1) / next * next, end / points * points) : end / points * points;
    add_blocks(sum, level, at / points, edge / points);
    at = edge;
    if (!climbs || at + next > end) break;
    ++level, points = next;
  }
  for (;; --level, points /= kFan) {
    if (level < levels_.size() && at + points <= end) {
      const size_t edge = end / points * points;
      add_blocks(sum, level, at / points, edge / points);
      at = edge;
    }
    if (level == 0) break;
  }
  if (at < end) add_points(sum, at, end);
  return sum;
}

bool SmoothedSeries::has_followed(const Series& raw, double weight, const std::vector<int64_t>& resumed_at) const {
  return weight == weight_ && replaced_seen_ == raw.replaced_points() && done_ == raw.size() && resumed_at_ == resumed_at;
}

bool SmoothedSeries::follow(const Series& raw, double weight, const std::vector<int64_t>& resumed_at, size_t budget_points) {
  if (weight != weight_ || replaced_seen_ != raw.replaced_points() || done_ > raw.size() || resumed_at_ != resumed_at) {
    *this = SmoothedSeries();
    weight_ = weight;
    resumed_at_ = resumed_at;
    replaced_seen_ = raw.replaced_points();
  }
  const size_t end = std::min(raw.size(), done_ + budget_points);
  for (; done_ < end; ++done_) {
    const bool resumed = next_resume_ < resumed_at_.size() && raw.step(done_) >= resumed_at_[next_resume_];
    if (resumed) mean_ = correction_ = 0;
    while (next_resume_ < resumed_at_.size() && raw.step(done_) >= resumed_at_[next_resume_]) ++next_resume_;
    double value = raw.value(done_);
    if (std::isfinite(value)) {
      mean_ = weight_ * mean_ + (1 - weight_) * value;
      correction_ = weight_ * correction_ + (1 - weight_);
      value = mean_ / correction_;
    }
    series_.append({raw.step(done_), value, raw.tokens(done_), raw.time_unix_ns(done_), -1});
  }
  return done_ == raw.size();
}

}  // namespace ringwright::gui
