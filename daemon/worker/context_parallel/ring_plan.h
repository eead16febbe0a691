// Which queries of one rank see which keys of the others, and how much of each block must travel. Pure arithmetic over the layout's runs.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/layout/layout.h"

namespace ringwright::worker {

// Local queries [query_start, query_start + query_length) see the first key_length local slots of the source rank, all of them.
struct Rectangle {
  int64_t query_start;
  int64_t query_length;
  int64_t key_length;
};

// The block of a rank goes round the ring rank + 1, rank + 2, ...; hop h is its way from rank + h - 1 to rank + h.
// A rank's own block is always one square: causal in local order, which ascends by global position in every layout taken here.
class RingPlan {
 public:
  // local_length: tokens per rank. causal = false: every query sees every key. Throws Error RW-CP-002 for a layout whose local order does not
  // ascend.
  RingPlan(const layout::Layout& layout, int64_t local_length, int rank, bool causal);

  int64_t local_length() const { return local_length_; }
  // What this rank's queries see of another rank's keys; empty: nothing.
  const std::vector<Rectangle>& rectangles(int source) const { return rectangles_[static_cast<size_t>(source)]; }
  // Leading slots of `source`'s keys and values that ranks from hop `hop` on still need.
  int64_t key_length(int source, int hop) const;
  // Leading slots of `source`'s keys that have a gradient after the ranks of hops 1..hop have added theirs.
  int64_t gradient_length(int source, int hop) const;

 private:
  int64_t visible_length(int rank, int source) const { return visible_length_[static_cast<size_t>(rank) * cp_ + static_cast<size_t>(source)]; }

  size_t cp_;
  int64_t local_length_;
  std::vector<std::vector<Rectangle>> rectangles_;
  std::vector<int64_t> visible_length_;  // [rank][source]
};

}  // namespace ringwright::worker
