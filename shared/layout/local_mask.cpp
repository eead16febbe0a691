#include "shared/layout/local_mask.h"

#include <fmt/format.h>

#include "shared/layout/refusal.h"

namespace ringwright::layout {
namespace {

void check(size_t keys, size_t positions, size_t padding, const LocalQueries& queries) {
  const bool inside = queries.query_start >= 0 && queries.query_length >= 0 && queries.query_length <= static_cast<int64_t>(keys) &&
                      queries.query_start <= static_cast<int64_t>(keys) - queries.query_length;
  if (inside && positions == keys && padding == keys && queries.window >= 0) return;
  refuse("RW-MASK-004",
         fmt::format("{} queries from {} on, window {}, against {} keys with {} positions and {} padding flags", queries.query_length,
                     queries.query_start, queries.window, keys, positions, padding),
         "local mask", "one entry a key in each, and queries among the keys", "cut the queries by the layout's window");
}

// sees(query, key): both as indices of the row. `distance` is what the window is held against.
template <typename Distance>
std::vector<uint8_t> fill(size_t keys, std::span<const uint8_t> padding_mask, const LocalQueries& queries, const Distance& distance) {
  std::vector<uint8_t> mask;
  mask.reserve(static_cast<size_t>(queries.query_length) * keys);
  for (int64_t q = queries.query_start; q < queries.query_start + queries.query_length; ++q) {
    for (size_t k = 0; k < keys; ++k) {
      const int64_t behind = distance(static_cast<size_t>(q), k);
      mask.push_back(behind >= 0 && (queries.window == 0 || behind < queries.window) && padding_mask[k] == 0 ? 1 : 0);
    }
  }
  return mask;
}

}  // namespace

std::vector<uint8_t> packed_local_mask(std::span<const int64_t> document_ids, std::span<const int64_t> document_positions,
                                       std::span<const uint8_t> padding_mask, const LocalQueries& queries) {
  check(document_ids.size(), document_positions.size(), padding_mask.size(), queries);
  return fill(document_ids.size(), padding_mask, queries, [&](size_t q, size_t k) {
    const bool together = document_ids[q] == document_ids[k] && document_ids[k] > 0;
    return together ? document_positions[q] - document_positions[k] : -1;
  });
}

std::vector<uint8_t> plain_local_mask(std::span<const int64_t> global_positions, std::span<const uint8_t> padding_mask, const LocalQueries& queries) {
  check(padding_mask.size(), global_positions.size(), padding_mask.size(), queries);
  return fill(padding_mask.size(), padding_mask, queries, [&](size_t q, size_t k) { return global_positions[q] - static_cast<int64_t>(k); });
}

}  // namespace ringwright::layout
