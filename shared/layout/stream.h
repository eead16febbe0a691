// Rows of packed documents as one flat stream (contract, section 6). Pure arithmetic over lengths; the flatten itself is a reshape.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/layout/deepseek_v4.h"

namespace ringwright::layout {

struct StreamOffsets {
  std::vector<int64_t> cu_seqlens = {};         // [0, cumulative real lengths], after absorption
  std::vector<int64_t> cu_seqlens_padded = {};  // [0, cumulative slots]; empty where it says nothing more
  int64_t max_seqlen = 0;                       // largest difference of cu_seqlens
  std::vector<uint8_t> padding_mask = {};       // [T], 1 behind a document's real length inside its slot, and behind the last slot

  // What a cut over several ranks goes by: the padded offsets where there are some. Their largest difference is the longest padded document.
  const std::vector<int64_t>& partition_offsets() const { return cu_seqlens_padded.empty() ? cu_seqlens : cu_seqlens_padded; }
};

// seq_lens, seq_lens_padded: one list a row; entries equal to `filler` are left out. Absorption: where both offsets agree in all but the last entry
// and the real total is below T = rows * row_length, the last document takes the stream's tail and the padded offsets are dropped. Throws Error
// RW-STREAM-001 for lists that do not match, a negative length, a document longer than its slot, or slots past T, each with its numbers;
// RW-STREAM-002 for a row whose slots do not fill it although another row follows (its offsets would be wrong from there on).
StreamOffsets rows_to_stream(const std::vector<std::vector<int64_t>>& seq_lens, const std::vector<std::vector<int64_t>>& seq_lens_padded,
                             int64_t row_length, int64_t filler = kLengthFiller);

// Rows in `chunks` equal groups, each converted alone. Offsets of one kind have one width: shorter ones end in fillers. Padded offsets are there for
// all or for none; a chunk without own ones repeats its cu_seqlens. Throws Error RW-STREAM-003 for rows that do not divide by chunks.
std::vector<StreamOffsets> rows_to_chunked_stream(const std::vector<std::vector<int64_t>>& seq_lens,
                                                  const std::vector<std::vector<int64_t>>& seq_lens_padded, int64_t row_length, int64_t chunks,
                                                  int64_t filler = kLengthFiller);

// For a stream without lengths: 1 where ids equal `padding_id`, legal only as a tail. Throws Error RW-STREAM-004 with the first such position before
// the tail.
std::vector<uint8_t> tail_padding_mask(std::span<const int64_t> ids, int64_t padding_id);

// Document lengths for a dispatch solver (contract 2.4): differences of cu_seqlens_padded, or of cu_seqlens where that is empty, fillers dropped.
// Throws Error RW-STREAM-001 when they do not sum to `total`, with both numbers.
std::vector<int64_t> document_lengths(const std::vector<int64_t>& cu_seqlens, const std::vector<int64_t>& cu_seqlens_padded, int64_t total);

}  // namespace ringwright::layout
