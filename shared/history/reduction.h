// A curve brought to the width of a picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/history/pyramid.h"

namespace ringwright::history {

// Both ends included.
struct StepRange {
  int64_t first = 0, last = 0;
};

// One column: what its steps have.
struct ReducedColumn {
  size_t pixel = 0;
  Bucket sums;  // sums.first_step: the column's first step

  double mean() const { return sums.finite ? sums.total / static_cast<double>(sums.finite) : 0; }
};

struct Reduction {
  StepRange range;
  size_t pixels = 0;
  std::vector<ReducedColumn> columns;  // those that have points, from left to right
  size_t values_read = 0;              // points and buckets that were read
};

// Puts the buckets of a curve, in step order, into columns.
class ColumnSums {
 public:
  ColumnSums(StepRange range, size_t pixels);
  // A bucket that spans two columns counts in the one where it begins; its extremes, and its first non-finite point, stand where they are.
  void add(const Bucket& bucket);
  Reduction finish();

 private:
  ReducedColumn& column(size_t pixel);

  Reduction reduction_;
};

}  // namespace ringwright::history
