// DeepSeek-V4's packed rows under context parallelism (contract 2.2): each row is rebuilt so that every document starts at a multiple that suits the
// model's compressed attention, then cut contiguously. Pure index arithmetic over one row set.
#pragma once

#include <cstdint>
#include <vector>

namespace ringwright::layout {

// Filler in rows of lengths that are narrower than the widest.
inline constexpr int64_t kLengthFiller = -1000;

// Tokens that one rank's share must be a multiple of: least common multiple over the positive compression ratios R of 2R where R is 4, else R.
int64_t deepseek_v4_multiple(const std::vector<int64_t>& compress_ratios);

struct RepackedRow {
  std::vector<int64_t> real_lengths = {};  // without fillers
  std::vector<int64_t> slot_lengths = {};  // each a multiple of m
  // For each old slot of the row: where its token went, -1 for slots that were padding.
  std::vector<int64_t> new_positions = {};
  // For each slot of the rebuilt row: the old slot that it was copied from, -1 on padding.
  std::vector<int64_t> old_positions = {};
  std::vector<int64_t> position_ids = {};    // from 0 in each document, counting on over its padding; 0 in the row's tail
  std::vector<int64_t> packed_seq_ids = {};  // 1-based document, its padding included; 0 in the row's tail
};

struct RepackedRows {
  int64_t row_length = 0;  // T, a multiple of cp * m
  std::vector<RepackedRow> rows = {};
};

// seq_lens, seq_lens_padded: one list a row, fillers and all; an empty seq_lens_padded means seq_lens, a shorter list is completed from the real
// lengths. row_length: of the rows as they are. pad_multiple: m before its floor of 2. row_length_min: rows become at least that long (the largest
// over all ranks, where dispatchers need equal counts). Throws Error RW-DSV4-001 for documents that run past their row, with both numbers,
// RW-DSV4-002 for row counts that differ.
RepackedRows repack_rows(const std::vector<std::vector<int64_t>>& seq_lens, const std::vector<std::vector<int64_t>>& seq_lens_padded,
                         int64_t row_length, int cp, int64_t pad_multiple, int64_t row_length_min = 0);

// [B][length]: the 1-based document of each slot, cut at the row's end; 0 behind the last document. Empty documents use a number.
std::vector<std::vector<int64_t>> packed_sequence_ids(const std::vector<std::vector<int64_t>>& seq_lens_padded, int64_t length);

}  // namespace ringwright::layout
