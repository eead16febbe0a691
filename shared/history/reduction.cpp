#include "shared/history/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ringwright::history {
namespace {

size_t pixel_of(int64_t step, StepRange range, size_t pixels) {
  const int64_t inside = std::clamp(step, range.first, range.last) - range.first;
  const long double share = static_cast<long double>(inside) / static_cast<long double>(range.last - range.first + 1);
  return std::min(pixels - 1, static_cast<size_t>(share * static_cast<long double>(pixels)));
}

int64_t first_step_of(size_t pixel, StepRange range, size_t pixels) {
  const long double span = static_cast<long double>(range.last - range.first + 1);
  return range.first + static_cast<int64_t>(std::ceil(span * static_cast<long double>(pixel) / static_cast<long double>(pixels)));
}

// Takes one point out of sums that have it as an extreme.
Bucket take_point(Bucket& sums, int64_t step, double value) {
  Bucket point;
  point.first_step = step;
  point.add(step, value);
  --sums.finite;
  sums.total -= value;
  return point;
}

Bucket take_nonfinite(Bucket& sums) {
  Bucket odd;
  odd.first_step = odd.nonfinite_step = sums.nonfinite_step;
  odd.nans = std::exchange(sums.nans, 0);
  odd.positive_infinities = std::exchange(sums.positive_infinities, 0);
  odd.negative_infinities = std::exchange(sums.negative_infinities, 0);
  odd.last = std::isfinite(sums.last) ? std::numeric_limits<double>::quiet_NaN() : sums.last;
  return odd;
}

// What is left when an extreme was taken out lies between the extremes: where, only its mean says.
void settle(Bucket& rest, bool minimum_gone, bool maximum_gone) {
  if (rest.finite == 0) {
    rest.minimum = Bucket().minimum, rest.maximum = Bucket().maximum, rest.total = 0;
    return;
  }
  const double mean = std::clamp(rest.total / static_cast<double>(rest.finite), rest.minimum, rest.maximum);
  if (minimum_gone) rest.minimum = mean, rest.minimum_step = rest.first_step;
  if (maximum_gone) rest.maximum = mean, rest.maximum_step = rest.first_step;
}

}  // namespace

ColumnSums::ColumnSums(StepRange range, size_t pixels) { reduction_.range = range, reduction_.pixels = std::max<size_t>(pixels, 1); }

ReducedColumn& ColumnSums::column(size_t pixel) {
  std::vector<ReducedColumn>& columns = reduction_.columns;
  const auto at = std::lower_bound(columns.begin(), columns.end(), pixel, [](const ReducedColumn& column, size_t x) { return column.pixel < x; });
  if (at != columns.end() && at->pixel == pixel) return *at;
  ReducedColumn added;
  added.pixel = pixel;
  added.sums.first_step = first_step_of(pixel, reduction_.range, reduction_.pixels);
  return *columns.insert(at, added);
}

void ColumnSums::add(const Bucket& bucket) {
  ++reduction_.values_read;
  const auto pixel = [&](int64_t step) { return pixel_of(step, reduction_.range, reduction_.pixels); };
  const size_t home = pixel(bucket.first_step);
  Bucket rest = bucket;
  Bucket elsewhere[3];
  size_t moved = 0;
  const bool minimum_gone = bucket.finite > 0 && pixel(bucket.minimum_step) != home;
  if (minimum_gone) elsewhere[moved++] = take_point(rest, bucket.minimum_step, bucket.minimum);
  const bool maximum_gone = bucket.finite > 0 && pixel(bucket.maximum_step) != home;
  if (maximum_gone && !(minimum_gone && bucket.maximum_step == bucket.minimum_step))
    elsewhere[moved++] = take_point(rest, bucket.maximum_step, bucket.maximum);
  if (bucket.nonfinite() > 0 && pixel(bucket.nonfinite_step) != home) elsewhere[moved++] = take_nonfinite(rest);
  if (moved > 0) settle(rest, minimum_gone, maximum_gone);
  if (rest.points() > 0) column(home).sums.add(rest);
  for (size_t i = 0; i < moved; ++i) column(pixel(elsewhere[i].first_step)).sums.add(elsewhere[i]);
}

Reduction ColumnSums::finish() { return std::move(reduction_); }

}  // namespace ringwright::history
