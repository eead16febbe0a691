// Attention masks of a contiguous layout: the queries of one rank, the keys of all (context-parallel contract, section 5, "Local masks").
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace ringwright::worker {

// Of the whole padded sequence, K tokens, on every rank.
struct GlobalTokens {
  at::Tensor position_ids_BK;    // in documents: restart at each of them
  at::Tensor packed_seq_ids_BK;  // 1-based document index, 0 for none; undefined: not packed
  at::Tensor padding_mask_BK;    // true on padding; undefined: none
};

// Which key each local query sees, bool [B, 1, K/cp, K]; rank `rank` holds the queries [rank*K/cp, (rank+1)*K/cp). window: a query sees keys less
// than so many positions back. Throws Error RW-SHARD-001: shapes that differ, K not divisible by cp, a window below 1.
at::Tensor local_mask(const GlobalTokens& tokens, int cp, int rank, std::optional<int64_t> window);

// The same to be added to scores: 0 where visible, else the type's lowest finite value.
at::Tensor additive_mask(const at::Tensor& visible, at::ScalarType type);

}  // namespace ringwright::worker
