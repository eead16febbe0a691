#include "shared/layout/deepseek_v4.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "shared/base/rounding.h"
#include "shared/layout/refusal.h"

namespace ringwright::layout {
namespace {

std::vector<int64_t> without_fillers(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> kept;
  for (int64_t length : lengths) {
    if (length != kLengthFiller) kept.push_back(std::max<int64_t>(length, 0));
  }
  return kept;
}

// Lengths and the map of old slots; the rebuilt row comes when its length is known.
RepackedRow measure(const std::vector<int64_t>& seq_lens, const std::vector<int64_t>& seq_lens_padded, int64_t row_length, int64_t multiple) {
  RepackedRow row{.real_lengths = without_fillers(seq_lens)};
  std::vector<int64_t> slots = without_fillers(seq_lens_padded);
  for (size_t d = slots.size(); d < row.real_lengths.size(); ++d) slots.push_back(row.real_lengths[d]);
  row.new_positions.assign(static_cast<size_t>(row_length), -1);
  int64_t old_start = 0, new_start = 0;
  for (size_t d = 0; d < row.real_lengths.size(); ++d) {
    const int64_t real = row.real_lengths[d];
    if (old_start + real > row_length) {
      refuse("RW-DSV4-001", fmt::format("document {} ends at {}, behind the row's {} slots", d, old_start + real, row_length), "seq_lens",
             "documents that lie inside their row", "correct seq_lens and seq_lens_padded");
    }
    std::iota(row.new_positions.begin() + old_start, row.new_positions.begin() + old_start + real, new_start);
    row.slot_lengths.push_back(round_up(real, multiple));
    old_start += std::max(slots[d], real);
    new_start += row.slot_lengths.back();
  }
  return row;
}

void rebuild(RepackedRow& row, int64_t length) {
  row.old_positions.assign(static_cast<size_t>(length), -1);
  row.position_ids.assign(static_cast<size_t>(length), 0);
  row.packed_seq_ids.assign(static_cast<size_t>(length), 0);
  for (size_t old = 0; old < row.new_positions.size(); ++old) {
    if (row.new_positions[old] >= 0) row.old_positions[static_cast<size_t>(row.new_positions[old])] = static_cast<int64_t>(old);
  }
  int64_t start = 0;
  for (size_t d = 0; d < row.slot_lengths.size(); ++d) {
    const int64_t end = start + row.slot_lengths[d];
    std::iota(row.position_ids.begin() + start, row.position_ids.begin() + end, int64_t{0});
    std::fill(row.packed_seq_ids.begin() + start, row.packed_seq_ids.begin() + end, static_cast<int64_t>(d) + 1);
    start = end;
  }
}

}  // namespace

int64_t deepseek_v4_multiple(const std::vector<int64_t>& compress_ratios) {
  int64_t multiple = 1;
  for (int64_t ratio : compress_ratios) {
    if (ratio > 0) multiple = std::lcm(multiple, ratio == 4 ? 2 * ratio : ratio);
  }
  return multiple;
}

RepackedRows repack_rows(const std::vector<std::vector<int64_t>>& seq_lens, const std::vector<std::vector<int64_t>>& seq_lens_padded,
                         int64_t row_length, int cp, int64_t pad_multiple, int64_t row_length_min) {
  if (!seq_lens_padded.empty() && seq_lens_padded.size() != seq_lens.size()) {
    refuse("RW-DSV4-002", fmt::format("seq_lens has {} rows, seq_lens_padded {}", seq_lens.size(), seq_lens_padded.size()), "seq_lens",
           "one list of lengths a row in both", "correct seq_lens and seq_lens_padded");
  }
  const int64_t multiple = std::max<int64_t>(pad_multiple, 2);
  RepackedRows result{row_length_min, {}};
  for (size_t b = 0; b < seq_lens.size(); ++b) {
    const std::vector<int64_t>& slots = seq_lens_padded.empty() ? seq_lens[b] : seq_lens_padded[b];
    result.rows.push_back(measure(seq_lens[b], slots, row_length, multiple));
    const std::vector<int64_t>& rebuilt = result.rows.back().slot_lengths;
    result.row_length = std::max(result.row_length, std::accumulate(rebuilt.begin(), rebuilt.end(), int64_t{0}));
  }
  result.row_length = round_up(result.row_length, cp * multiple);
  for (RepackedRow& row : result.rows) rebuild(row, result.row_length);
  return result;
}

std::vector<std::vector<int64_t>> packed_sequence_ids(const std::vector<std::vector<int64_t>>& seq_lens_padded, int64_t length) {
  std::vector<std::vector<int64_t>> ids;
  for (const std::vector<int64_t>& lengths : seq_lens_padded) {
    std::vector<int64_t> row(static_cast<size_t>(length), 0);
    int64_t start = 0, document = 0;
    for (int64_t slot : without_fillers(lengths)) {
      const int64_t end = std::min(start + slot, length);
      std::fill(row.begin() + start, row.begin() + end, ++document);
      start = end;
    }
    ids.push_back(std::move(row));
  }
  return ids;
}

}  // namespace ringwright::layout
