// Rows of packed documents become one flat stream (context-parallel contract, section 6).
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/worker/context_parallel/batch.h"

namespace ringwright::worker {

struct StreamOptions {
  int64_t padding_token_id = 0;  // looked at only where seq_lens has no value
  int64_t filler = kNoDocument;  // entries of seq_lens and seq_lens_padded that are no document
  int64_t num_chunks = 1;        // rows in groups of equal size, each a stream of its own, stacked on axis 0
};

// input_ids [B,S(,H)], labels, position_ids ([B,S] or [n,B,S]), seq_lens and seq_lens_padded [B,k] -> the same keys over T = B*S tokens, with
// cu_seqlens and, where slots are longer than their documents, cu_seqlens_padded (int32), max_seqlen (int32, 0-d) and padding_mask. Other keys pass
// through; tensors among them only where num_chunks is 1. Throws Error RW-SHARD-001, RW-SHARD-002, and what layout::rows_to_stream throws.
Batch rows_to_stream(const Batch& rows, const StreamOptions& options);

// Whether rows hold documents: the batch declares a stream, or has seq_lens or cu_seqlens.
bool is_packed(const Batch& batch);

// For strategies that give rows another shape, in which an extra key has no place. Throws Error RW-SHARD-003 for the first that the batch has.
void refuse_extra_keys(const Batch& batch, const BatchOptions& options);

// seq_lens or seq_lens_padded [B,k] as one list a row, fillers and all; [k] is one row.
std::vector<std::vector<int64_t>> length_lists(const at::Tensor& lengths);

// The entries of a 1-D tensor that are not `filler`.
std::vector<int64_t> entries_of(const at::Tensor& lengths, int64_t filler = kNoDocument);

// [0, l0, l0 + l1, ...].
std::vector<int64_t> cumulative(const std::vector<int64_t>& lengths);

// Cumulative slot lengths of each row of a packed batch, from seq_lens_padded or seq_lens; empty for a batch without either. Throws Error
// RW-SHARD-001 when a row's slots are longer than the row, or lists and rows differ in number.
std::vector<std::vector<int64_t>> document_offsets_of_rows(const Batch& batch, int64_t row_length);

// Adds seq_lens and seq_lens_padded [B,k] for the rows' documents, and qkv_format = "thd".
void add_document_lengths(Batch& batch, const std::vector<std::vector<int64_t>>& lengths, const std::vector<std::vector<int64_t>>& padded_lengths);

}  // namespace ringwright::worker
