// Masks between one rank's queries and all keys, for layouts that give each rank one window of the sequence and gather the keys (contract, section
// 5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringwright::layout {

// Queries are the positions [query_start, query_start + query_length) of the row whose keys are described.
struct LocalQueries {
  int64_t query_start = 0;
  int64_t query_length = 0;
  int64_t window = 0;  // 0: none; a query sees keys that are less than this behind it
};

// Row-major [query_length, keys], 1 where the query sees the key: same document (ids from 1 on; 0 is none), the key's position inside its document at
// most the query's, within the window, and the key no padding. Sizes: one entry a key in all three. Throws Error RW-MASK-004 when they differ or the
// queries are not among the keys.
std::vector<uint8_t> packed_local_mask(std::span<const int64_t> document_ids, std::span<const int64_t> document_positions,
                                       std::span<const uint8_t> padding_mask, const LocalQueries& queries);

// Without documents: a key is seen by its index, against the query's global position.
std::vector<uint8_t> plain_local_mask(std::span<const int64_t> global_positions, std::span<const uint8_t> padding_mask, const LocalQueries& queries);

}  // namespace ringwright::layout
