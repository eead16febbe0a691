// How many (query, key) pairs a mask lets through: the work of a stretch of queries. Exact, and without walking tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/layout/mask.h"

namespace ringwright::layout {

class MaskArea {
 public:
  // Errors: those of check_mask. Cost O(blocks log blocks).
  MaskArea(const Mask& mask, int64_t length);

  // Visible pairs of the queries [query_start, query_start + query_length); those outside the stream see nothing. Cost: O(log blocks) and the
  // blocks that hold one of these queries.
  int64_t pairs(int64_t query_start, int64_t query_length) const;
  int64_t total() const { return pairs(0, length_); }

  const Mask& mask() const { return mask_; }
  int64_t length() const { return length_; }
  // By query_start; those of one tree node follow each other.
  const std::vector<MaskBlock>& blocks() const { return blocks_; }

 private:
  Mask mask_;
  int64_t length_;
  std::vector<MaskBlock> blocks_;
};

// Visible pairs of the queries [first, last) of one block, window 0: none.
int64_t block_pairs(const MaskBlock& block, int64_t window, int64_t first, int64_t last);

}  // namespace ringwright::layout
