#include "shared/layout/mask_area.h"

#include <algorithm>

namespace ringwright::layout {
namespace {

// Sum of min(max(v, 0), cap) over the whole numbers v in [first, last). One of two neighbours is even; lengths below 2^31 keep it in 64 bits.
int64_t sum_of_ramp(int64_t first, int64_t last, int64_t cap) {
  const int64_t begin = std::clamp<int64_t>(first, 0, cap), end = std::clamp<int64_t>(last, begin, cap);
  const int64_t capped = std::max<int64_t>(last - std::max(first, cap), 0);
  return (end - begin) * (begin + end - 1) / 2 + capped * cap;
}

}  // namespace

int64_t block_pairs(const MaskBlock& block, int64_t window, int64_t first, int64_t last) {
  first = std::max(first, block.query_start);
  last = std::min(last, block.query_start + block.query_length);
  if (first >= last) return 0;
  if (block.causal) {  // query q sees the q - key_start + 1 keys up to itself, at most `window` of them
    return sum_of_ramp(first - block.key_start + 1, last - block.key_start + 1, window > 0 ? window : block.key_length);
  }
  if (window == 0) return (last - first) * block.key_length;
  // Query q sees the keys from q - skipped - window + 1 to the block's end: one fewer with each query.
  const int64_t reach = block.key_start + block.key_length + block.skipped + window - 1;
  return sum_of_ramp(reach - last + 1, reach - first + 1, block.key_length);
}

MaskArea::MaskArea(const Mask& mask, int64_t length) : mask_(mask), length_(length), blocks_(mask_blocks(mask, length)) {
  // Queries of two nodes never overlap, so blocks with one query_start share their queries.
  std::stable_sort(blocks_.begin(), blocks_.end(), [](const MaskBlock& a, const MaskBlock& b) { return a.query_start < b.query_start; });
}

int64_t MaskArea::pairs(int64_t query_start, int64_t query_length) const {
  const int64_t end = query_start + query_length;
  auto block = std::partition_point(blocks_.begin(), blocks_.end(),
                                    [&](const MaskBlock& each) { return each.query_start + each.query_length <= query_start; });
  int64_t result = 0;
  for (; block != blocks_.end() && block->query_start < end; ++block) result += block_pairs(*block, mask_.window, query_start, end);
  return result;
}

}  // namespace ringwright::layout
