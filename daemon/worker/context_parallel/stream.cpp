#include "daemon/worker/context_parallel/stream.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "daemon/worker/context_parallel/shard_errors.h"
#include "shared/layout/stream.h"

namespace ringwright::worker {
namespace {

using Longs = std::vector<int64_t>;

constexpr const char* kStreamKeys[] = {"input_ids", "labels", "position_ids", "seq_lens", "seq_lens_padded"};

at::Tensor int32_tensor(const Longs& values) { return at::tensor(values, at::kLong).to(at::kInt); }

at::Tensor mask_tensor(const std::vector<uint8_t>& values) { return at::tensor(values, at::kByte).to(at::kBool); }

// Rows in order, `chunks` streams of equal length: [B, S, ...] -> [chunks, T, ...].
at::Tensor as_streams(const std::string& key, const at::Tensor& rows, int64_t chunks, int64_t token_count) {
  if (rows.dim() < 2 || rows.size(0) * rows.size(1) != chunks * token_count) {
    throw_bad_argument(fmt::format("\"{}\" has the shape [{}] for {} tokens", key, fmt::join(rows.sizes(), ", "), chunks * token_count),
                       "as many as input_ids has");
  }
  return rows.flatten(0, 1).unflatten(0, {chunks, token_count});
}

// Sections of positions (mRoPE) [n, B, S] -> [chunks, n, 1, T].
at::Tensor positions_as_streams(const at::Tensor& positions, int64_t chunks, int64_t token_count) {
  if (positions.dim() != 3) {
    return as_streams("position_ids", positions, chunks, token_count);
  }
  return as_streams("position_ids", positions.movedim(0, 2), chunks, token_count).movedim(2, 1).unsqueeze(2);
}

std::vector<layout::StreamOffsets> offsets_of(const Batch& rows, const StreamOptions& options) {
  const std::vector<Longs> lengths = length_lists(rows.at("seq_lens")), slots = length_lists(rows.required("seq_lens_padded"));
  const at::Tensor& ids = rows.at("input_ids");
  if (static_cast<int64_t>(lengths.size()) != ids.size(0)) {
    throw_bad_argument(fmt::format("seq_lens has {} rows, the batch {}", lengths.size(), ids.size(0)), "one list of lengths a row");
  }
  if (options.num_chunks > 1) {
    return layout::rows_to_chunked_stream(lengths, slots, ids.size(1), options.num_chunks, options.filler);
  }
  return {layout::rows_to_stream(lengths, slots, ids.size(1), options.filler)};
}

// The keys that come from the documents' lengths, each [chunks, ...].
void set_offsets(Batch& stream, const std::vector<layout::StreamOffsets>& chunks, at::Device device) {
  std::vector<at::Tensor> offsets, padded, longest, masks;
  for (const layout::StreamOffsets& chunk : chunks) {
    offsets.push_back(int32_tensor(chunk.cu_seqlens));
    padded.push_back(int32_tensor(chunk.cu_seqlens_padded));
    longest.push_back(at::scalar_tensor(chunk.max_seqlen, at::kInt));
    masks.push_back(mask_tensor(chunk.padding_mask));
  }
  stream["cu_seqlens"] = at::stack(offsets).to(device);
  if (!chunks.front().cu_seqlens_padded.empty()) {
    stream["cu_seqlens_padded"] = at::stack(padded).to(device);
  }
  stream["max_seqlen"] = at::stack(longest);
  stream["padding_mask"] = at::stack(masks).to(device);
}

// Without lengths the padding id says what is padding, which is only certain when nothing but the tail has it.
at::Tensor padding_mask_by_id(const at::Tensor& ids_CT, int64_t padding_token_id) {
  if (ids_CT.dim() != 2) {
    throw_bad_argument("embeddings without seq_lens do not say where padding is", "seq_lens and seq_lens_padded");
  }
  std::vector<at::Tensor> masks;
  for (const at::Tensor& ids_T : ids_CT.to(at::kCPU, at::kLong).contiguous().unbind(0)) {
    const std::span<const int64_t> ids(ids_T.const_data_ptr<int64_t>(), static_cast<size_t>(ids_T.numel()));
    masks.push_back(mask_tensor(layout::tail_padding_mask(ids, padding_token_id)).to(ids_CT.device()));
  }
  return at::stack(masks);
}

}  // namespace

Batch rows_to_stream(const Batch& rows, const StreamOptions& options) {
  for (const char* key : kStreamKeys) {
    rows.required(key);
  }
  const at::Tensor& ids = rows.at("input_ids");
  const int64_t chunks = options.num_chunks;
  if (ids.dim() < 2 || chunks < 1 || ids.size(0) % chunks != 0) {
    throw_bad_argument(fmt::format("input_ids of shape [{}] in {} chunks", fmt::join(ids.sizes(), ", "), chunks),
                       "rows [B, S] that the number of chunks divides");
  }
  const int64_t token_count = ids.size(0) / chunks * ids.size(1);
  Batch stream;
  stream["input_ids"] = as_streams("input_ids", ids, chunks, token_count);
  stream["labels"] = as_streams("labels", rows.at("labels"), chunks, token_count);
  stream["position_ids"] = positions_as_streams(rows.at("position_ids"), chunks, token_count);
  if (rows.at("seq_lens").defined()) {
    set_offsets(stream, offsets_of(rows, options), ids.device());
  } else {
    stream["padding_mask"] = padding_mask_by_id(stream["input_ids"], options.padding_token_id);
    stream["cu_seqlens"] = at::Tensor();
  }
  stream.values = rows.values;
  if (chunks > 1) {
    return stream;  // what only passes through has no chunks
  }
  for (auto& [key, tensor] : stream) {
    tensor = tensor.defined() ? tensor.squeeze(0) : tensor;
  }
  Batch passed_through = rows;
  passed_through.erase("seq_lens");
  passed_through.erase("seq_lens_padded");
  stream.insert(passed_through.begin(), passed_through.end());
  return stream;
}

bool is_packed(const Batch& batch) {
  const auto has = [&](const char* key) {
    const auto found = batch.find(key);
    return found != batch.end() && found->second.defined();
  };
  return batch.declares_stream() || has("seq_lens") || has("cu_seqlens");
}

void refuse_extra_keys(const Batch& batch, const BatchOptions& options) {
  for (const auto& [key, axis] : options.extra_sequence_keys) {
    if (batch.count(key) > 0) {
      throw_unsupported(fmt::format("\"{}\" is to be cut with rows that become a stream or are packed anew", key),
                        "no extra keys: cut it with shard_token_tensor");
    }
  }
}

std::vector<Longs> length_lists(const at::Tensor& lengths) {
  std::vector<Longs> lists;
  for (const at::Tensor& row : (lengths.dim() == 1 ? lengths.unsqueeze(0) : lengths).to(at::kCPU, at::kLong).contiguous().unbind(0)) {
    lists.emplace_back(row.const_data_ptr<int64_t>(), row.const_data_ptr<int64_t>() + row.numel());
  }
  return lists;
}

Longs entries_of(const at::Tensor& lengths, int64_t filler) {
  const at::Tensor flat = lengths.to(at::kCPU, at::kLong).contiguous().flatten();
  const int64_t* begin = flat.const_data_ptr<int64_t>();
  Longs entries(begin, begin + flat.numel());
  entries.erase(std::remove(entries.begin(), entries.end(), filler), entries.end());
  return entries;
}

Longs cumulative(const Longs& lengths) {
  Longs offsets(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  return offsets;
}

std::vector<Longs> document_offsets_of_rows(const Batch& batch, int64_t row_length) {
  const auto lengths = batch.find("seq_lens"), padded = batch.find("seq_lens_padded");
  const auto slots = padded != batch.end() && padded->second.defined() ? padded : lengths;
  if (slots == batch.end() || !slots->second.defined()) {
    return {};
  }
  std::vector<Longs> offsets;
  for (Longs row : length_lists(slots->second)) {
    row.erase(std::remove(row.begin(), row.end(), kNoDocument), row.end());
    offsets.push_back(cumulative(row));
    if (offsets.back().back() > row_length) {
      throw_bad_argument(
          fmt::format("the documents of row {} add up to {}, the row has {} tokens", offsets.size() - 1, offsets.back().back(), row_length),
          "at most the row's length");
    }
  }
  const int64_t rows = batch.at(primary_key(batch)).size(0);
  if (static_cast<int64_t>(offsets.size()) != rows) {
    throw_bad_argument(fmt::format("the lengths of {} rows beside {} rows", offsets.size(), rows), "one list of lengths a row");
  }
  return offsets;
}

void add_document_lengths(Batch& batch, const std::vector<Longs>& lengths, const std::vector<Longs>& padded_lengths) {
  size_t width = 1;
  for (const Longs& row : lengths) {
    width = std::max(width, row.size());
  }
  const auto tensor_of = [&](const std::vector<Longs>& rows) {
    const at::Tensor filled = at::full({static_cast<int64_t>(rows.size()), static_cast<int64_t>(width)}, kNoDocument, at::kLong);
    for (size_t row = 0; row < rows.size(); ++row) {
      filled[static_cast<int64_t>(row)].narrow(0, 0, static_cast<int64_t>(rows[row].size())).copy_(at::tensor(rows[row], at::kLong));
    }
    return filled;
  };
  batch["seq_lens"] = tensor_of(lengths);
  batch["seq_lens_padded"] = tensor_of(padded_lengths);
  batch.values["qkv_format"] = "thd";
}

}  // namespace ringwright::worker
