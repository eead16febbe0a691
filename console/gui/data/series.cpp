#include "console/gui/data/series.h"

#include <algorithm>
#include <cmath>

namespace ringwright::gui {
namespace {

constexpr size_t kFan = 8;  // points, or summaries, in one summary of the next level

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

}  // namespace

namespace {

// Adds what comes after.
void absorb(Summary& left, const Summary& right) {
  if (left.nonfinite == 0) left.first_nonfinite = right.first_nonfinite;
  left.nonfinite += right.nonfinite;
  if (right.finite == 0) return;
  if (left.finite == 0 || right.min < left.min) left.min = right.min, left.min_index = right.min_index;
  if (left.finite == 0 || right.max > left.max) left.max = right.max, left.max_index = right.max_index;
  if (left.finite == 0) left.first_finite = right.first_finite;
  left.last_finite = right.last_finite;
  left.finite += right.finite;
}

}  // namespace

Summary merge(const Summary& left, const Summary& right) {
  Summary sum = left;
  absorb(sum, right);
  return sum;
}

void Series::append(const history::MetricPoint& point) {
  ++version_;
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

double Series::x(size_t index, XAxis axis, int64_t start_unix_ns) const {
  switch (axis) {
    case XAxis::step:
      return static_cast<double>(steps_[index]);
    case XAxis::tokens:
      return static_cast<double>(tokens_[index]);
    case XAxis::elapsed:
      return static_cast<double>(times_[index] - start_unix_ns) / 1e9;
  }
  return 0;
}

size_t Series::lower_bound(double x_wanted, XAxis axis, int64_t start_unix_ns) const {
  return partition(0, size(), [&](size_t i) { return x(i, axis, start_unix_ns) < x_wanted; });
}

size_t Series::lower_bound_near(size_t guess, double x_wanted, XAxis axis, int64_t start_unix_ns) const {
  const auto below = [&](size_t i) { return x(i, axis, start_unix_ns) < x_wanted; };
  guess = std::min(guess, size());
  size_t stride = 1;
  if (guess < size() && below(guess)) {
    size_t low = guess + 1;
    for (; low + stride <= size() && below(low + stride - 1); stride *= 2) low += stride;
    return partition(low, std::min(size(), low + stride), below);
  }
  size_t high = guess;
  for (; stride <= high && !below(high - stride); stride *= 2) high -= stride;
  return partition(high > stride ? high - stride : 0, high, below);
}

size_t Series::upper_bound(double x_wanted, XAxis axis, int64_t start_unix_ns) const {
  return partition(0, size(), [&](size_t i) { return x(i, axis, start_unix_ns) <= x_wanted; });
}

Summary Series::scan(size_t begin, size_t end) const {
  Summary sum;
  for (size_t i = begin; i < end; ++i) {
    const double value = values_[i];
    if (!std::isfinite(value)) {
      if (sum.nonfinite++ == 0) sum.first_nonfinite = i;
      continue;
    }
    if (sum.finite == 0) sum.first_finite = i;
    if (sum.finite == 0 || value < sum.min) sum.min = value, sum.min_index = i;
    if (sum.finite == 0 || value > sum.max) sum.max = value, sum.max_index = i;
    sum.last_finite = i;
    ++sum.finite;
  }
  return sum;
}

namespace {

Summary sum_of(const std::vector<Summary>& blocks, size_t begin, size_t end) {
  Summary sum;
  for (size_t i = begin; i < end; ++i) absorb(sum, blocks[i]);
  return sum;
}

}  // namespace

// Brings the pyramid up to date for the points from `from` on. Only full blocks are kept; the rest is summed from below.
void Series::refresh(size_t from) {
  size_t count = size();
  for (size_t level = 0; count / kFan > 0; ++level) {
    count /= kFan;
    from /= kFan;
    if (levels_.size() == level) levels_.emplace_back();
    std::vector<Summary>& blocks = levels_[level];
    const size_t start = std::min(from, blocks.size());
    blocks.resize(count);
    for (size_t block = start; block < count; ++block) {
      blocks[block] = level == 0 ? scan(block * kFan, (block + 1) * kFan) : sum_of(levels_[level - 1], block * kFan, (block + 1) * kFan);
    }
  }
}

Summary Series::summarize(size_t begin, size_t end) const {
  Summary left, right;
  end = std::min(end, size());
  if (begin >= end) return left;
  size_t level = 0;
  // Climb: at each level take the loose blocks at both ends, then go on with the blocks of the next level in between.
  while (begin < end) {
    const auto part = [&](size_t from, size_t to) { return level == 0 ? scan(from, to) : sum_of(levels_[level - 1], from, to); };
    // Whole blocks of the next level lie in [inner_begin, inner_end).
    size_t inner_begin = (begin + kFan - 1) / kFan * kFan, inner_end = end / kFan * kFan;
    if (level >= levels_.size() || inner_begin >= inner_end) inner_begin = inner_end = end;
    absorb(left, part(begin, inner_begin));
    right = merge(part(inner_end, end), right);
    begin = inner_begin / kFan;
    end = inner_end / kFan;
    if (inner_begin == inner_end) break;
    ++level;
  }
  return merge(left, right);
}

bool SmoothedSeries::has_followed(const Series& raw, double weight) const {
  return weight == weight_ && replaced_seen_ == raw.replaced_points() && done_ == raw.size();
}

bool SmoothedSeries::follow(const Series& raw, double weight, size_t budget_points) {
  if (weight != weight_ || replaced_seen_ != raw.replaced_points() || done_ > raw.size()) {
    *this = SmoothedSeries();
    weight_ = weight;
    replaced_seen_ = raw.replaced_points();
  }
  const size_t end = std::min(raw.size(), done_ + budget_points);
  for (; done_ < end; ++done_) {
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
