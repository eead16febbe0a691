#include "shared/layout/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "shared/layout/refusal.h"

namespace ringwright::layout {
namespace {

using Lengths = std::vector<int64_t>;

[[noreturn]] void refuse_lengths(std::string what, std::string expected) {
  refuse("RW-STREAM-001", std::move(what), "seq_lens", std::move(expected), "correct seq_lens and seq_lens_padded");
}

Lengths without(const Lengths& row, int64_t filler) {
  Lengths kept;
  std::copy_if(row.begin(), row.end(), std::back_inserter(kept), [&](int64_t length) { return length != filler; });
  return kept;
}

Lengths cumulative(const Lengths& lengths) {
  Lengths offsets(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  return offsets;
}

// Appends one row's documents after checking them against each other and the row.
void append_row(const Lengths& real, const Lengths& slots, size_t row, bool last, int64_t row_length, Lengths& all_real, Lengths& all_slots) {
  if (real.size() != slots.size()) {
    refuse_lengths(fmt::format("row {} has {} seq_lens and {} seq_lens_padded", row, real.size(), slots.size()), "one slot a document");
  }
  int64_t filled = 0;
  for (size_t d = 0; d < real.size(); ++d) {
    if (real[d] < 0 || slots[d] < real[d]) {
      refuse_lengths(fmt::format("document {} of row {} has {} tokens in a slot of {}", d, row, real[d], slots[d]), "a length from 0 to the slot's");
    }
    filled += slots[d];
    if (filled > row_length)
      refuse_lengths(fmt::format("the slots of row {} reach {}, behind its {} tokens", row, filled, row_length), "slots inside the row");
  }
  if (filled < row_length && !last) {
    refuse("RW-STREAM-002", fmt::format("the slots of row {} cover {} of its {} tokens, and another row follows", row, filled, row_length),
           "seq_lens_padded", "slots that fill every row but the last", "add the row's tail to its last document's slot");
  }
  all_real.insert(all_real.end(), real.begin(), real.end());
  all_slots.insert(all_slots.end(), slots.begin(), slots.end());
}

std::vector<uint8_t> padding_of(const Lengths& real, const Lengths& slots, int64_t total) {
  std::vector<uint8_t> mask(static_cast<size_t>(total), 1);
  int64_t start = 0;
  for (size_t d = 0; d < real.size(); ++d) {
    std::fill(mask.begin() + start, mask.begin() + start + real[d], uint8_t{0});
    start += slots[d];
  }
  return mask;
}

int64_t largest_difference(const Lengths& offsets) {
  int64_t largest = 0;
  for (size_t i = 1; i < offsets.size(); ++i) largest = std::max(largest, offsets[i] - offsets[i - 1]);
  return largest;
}

}  // namespace

StreamOffsets rows_to_stream(const std::vector<Lengths>& seq_lens, const std::vector<Lengths>& seq_lens_padded, int64_t row_length, int64_t filler) {
  if (seq_lens.size() != seq_lens_padded.size()) {
    refuse_lengths(fmt::format("seq_lens has {} rows, seq_lens_padded {}", seq_lens.size(), seq_lens_padded.size()), "one list a row in both");
  }
  const int64_t total = static_cast<int64_t>(seq_lens.size()) * row_length;
  Lengths real, slots;
  for (size_t b = 0; b < seq_lens.size(); ++b) {
    append_row(without(seq_lens[b], filler), without(seq_lens_padded[b], filler), b, b + 1 == seq_lens.size(), row_length, real, slots);
  }
  StreamOffsets stream{cumulative(real), cumulative(slots), 0, padding_of(real, slots, total)};
  Lengths& own = stream.cu_seqlens;
  const bool absorbs = own.size() > 1 && std::equal(own.begin(), own.end() - 1, stream.cu_seqlens_padded.begin()) && own.back() < total;
  if (absorbs) own.back() = total;
  if (absorbs || stream.cu_seqlens_padded == own) stream.cu_seqlens_padded.clear();
  stream.max_seqlen = largest_difference(own);
  return stream;
}

std::vector<StreamOffsets> rows_to_chunked_stream(const std::vector<Lengths>& seq_lens, const std::vector<Lengths>& seq_lens_padded,
                                                  int64_t row_length, int64_t chunks, int64_t filler) {
  const int64_t rows = static_cast<int64_t>(seq_lens.size());
  if (chunks < 1 || rows % chunks != 0) {
    refuse("RW-STREAM-003", fmt::format("{} rows cannot be cut into {} chunks", rows, chunks), "num_chunks", "rows that the number of chunks divides",
           "change the batch size or the number of chunks");
  }
  if (seq_lens.size() != seq_lens_padded.size()) {
    refuse_lengths(fmt::format("seq_lens has {} rows, seq_lens_padded {}", seq_lens.size(), seq_lens_padded.size()), "one list a row in both");
  }
  std::vector<StreamOffsets> result;
  bool padded = false;
  size_t width = 0;
  for (int64_t first = 0; first < rows; first += rows / chunks) {
    const auto part = [&](const std::vector<Lengths>& all) { return std::vector<Lengths>(all.begin() + first, all.begin() + first + rows / chunks); };
    result.push_back(rows_to_stream(part(seq_lens), part(seq_lens_padded), row_length, filler));
    padded = padded || !result.back().cu_seqlens_padded.empty();
    width = std::max(width, result.back().cu_seqlens.size());
  }
  for (StreamOffsets& chunk : result) {
    if (padded && chunk.cu_seqlens_padded.empty()) chunk.cu_seqlens_padded = chunk.cu_seqlens;
    chunk.cu_seqlens.resize(width, filler);
    if (padded) chunk.cu_seqlens_padded.resize(width, filler);
  }
  return result;
}

std::vector<uint8_t> tail_padding_mask(std::span<const int64_t> ids, int64_t padding_id) {
  size_t end = ids.size();
  while (end > 0 && ids[end - 1] == padding_id) --end;
  const auto inside = std::find(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(end), padding_id);
  if (inside != ids.begin() + static_cast<std::ptrdiff_t>(end)) {
    refuse("RW-STREAM-004",
           fmt::format("the padding id {} stands at position {}, before the tail that starts at {}", padding_id, inside - ids.begin(), end),
           "input_ids", "padding at the end alone, or the documents' lengths", "give seq_lens and seq_lens_padded");
  }
  std::vector<uint8_t> mask(ids.size(), 0);
  std::fill(mask.begin() + static_cast<std::ptrdiff_t>(end), mask.end(), uint8_t{1});
  return mask;
}

std::vector<int64_t> document_lengths(const Lengths& cu_seqlens, const Lengths& cu_seqlens_padded, int64_t total) {
  Lengths offsets, lengths;
  const Lengths& given = cu_seqlens_padded.empty() ? cu_seqlens : cu_seqlens_padded;
  std::copy_if(given.begin(), given.end(), std::back_inserter(offsets), [](int64_t offset) { return offset >= 0; });
  for (size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1])
      refuse_lengths(fmt::format("document offset {} falls from {} to {}", i, offsets[i - 1], offsets[i]), "cumulative lengths");
    lengths.push_back(offsets[i] - offsets[i - 1]);
  }
  const int64_t sum = offsets.empty() ? 0 : offsets.back() - offsets.front();
  if (sum != total) {
    refuse_lengths(fmt::format("the documents have {} tokens together, the stream has {}", sum, total), "offsets that end at the stream's end");
  }
  return lengths;
}

}  // namespace ringwright::layout
