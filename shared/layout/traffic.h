// How many bytes a method of context-parallel attention moves in one layer and step. Exact for what the methods of
// daemon/worker/context_parallel send; pure arithmetic over the layout's runs and the mask's rectangles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/layout/layout.h"
#include "shared/layout/mask_area.h"

namespace ringwright::layout {

struct AttentionShape {
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t head_size = 1;
  int64_t element_bytes = 2;
};

// What one rank receives.
struct RankTraffic {
  int64_t forward_bytes = 0;   // keys and values; for all_to_all also queries, and outputs on their way back
  int64_t backward_bytes = 0;  // what is sent again, and gradients of keys and values, which travel in float32 or wider

  bool operator==(const RankTraffic&) const = default;
};

// One entry a rank, for one row, by one of methods() (methods.h); a block of a ring makes only the hops that somebody behind them reads. Empty where
// the method cannot deal the heads. Throws Error RW-LAYOUT-011 for an unknown method, RW-LAYOUT-004 for a shape that is none, or one
// whose bytes are beyond 64 bits, and what Layout::runs throws.
std::optional<std::vector<RankTraffic>> traffic(std::string_view method, const Layout& layout, const MaskArea& area, int64_t padded_length,
                                                const AttentionShape& shape);

// A stretch of global positions.
struct Range {
  int64_t start = 0;
  int64_t end = 0;

  bool operator==(const Range&) const = default;
};

// Keys that the rank's queries see, its own among them: ascending, neither overlapping nor touching.
std::vector<Range> keys_read(const Layout& layout, const MaskArea& area, int64_t padded_length, int rank);
// How many of them other ranks hold.
int64_t keys_read_of_others(const Layout& layout, const MaskArea& area, int64_t padded_length, int rank);

}  // namespace ringwright::layout
