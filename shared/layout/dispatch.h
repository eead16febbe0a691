// The dispatch solver behind the layout `balanced`: deals the chunks of a stream to ranks so that each gets the same number of chunks and, as nearly
// as chunks allow, the same number of visible (query, key) pairs.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/layout/mask_area.h"

namespace ringwright::layout {

// Visible pairs of each chunk's queries; stream_length is a multiple of chunk.
std::vector<int64_t> chunk_areas(const MaskArea& area, int64_t stream_length, int64_t chunk);

// The rank of each chunk; areas.size() is a multiple of cp. Deterministic, whole numbers only. Guarantee: two ranks differ by at most the heaviest
// chunk less the lightest one, whatever the areas; so no rank exceeds the mean by more than the heaviest chunk. From 16 chunks a rank on, masks whose
// chunks do not dwarf the mean come out even to 2 % (tests/shared/layout/dispatch_test.cpp). Cost O(n log n), and the swaps of a rank's chunks while
// the heaviest rank is more than 0.1 % above the mean.
std::vector<int> deal_chunks(const std::vector<int64_t>& areas, int cp);

}  // namespace ringwright::layout
