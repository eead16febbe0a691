#include "daemon/worker/context_parallel/stream_strategies.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "daemon/worker/context_parallel/shard_errors.h"
#include "shared/layout/names.h"
#include "shared/layout/stream.h"

namespace ringwright::worker {
namespace {

using Longs = std::vector<int64_t>;

constexpr const char* kTokenKeys[] = {"input_ids", "labels", "position_ids", "padding_mask"};

// Cuts a stream, or each chunk of a stacked one. indices[k]: positions of chunk k that this rank holds.
Batch cut_stream(Batch stream, const std::vector<at::Tensor>& indices, bool chunked, const ProcessGroup& group) {
  for (const char* key : kTokenKeys) {
    at::Tensor& tensor = stream[key];
    const bool sections = std::string_view(key) == "position_ids" && tensor.dim() == (chunked ? 4 : 3);
    const int64_t axis = sections ? 2 : 0;
    if (!chunked) {
      tensor = cut_tokens(tensor, axis, indices.front());
      continue;
    }
    std::vector<at::Tensor> parts;
    for (size_t chunk = 0; chunk < indices.size(); ++chunk) {
      parts.push_back(cut_tokens(tensor[static_cast<int64_t>(chunk)], axis, indices[chunk]));
    }
    tensor = at::stack(parts);
  }
  stream.erase("attention_mask");
  stream.values["cp_size"] = int64_t{group.size};
  stream.values["cp_rank"] = int64_t{group.rank};
  return stream;
}

// The padded offsets of each chunk of a stream; `offsets` keeps the fillers.
struct StreamOffsets {
  at::Tensor offsets;
  std::vector<Longs> chunks;
};

StreamOffsets padded_offsets(const Batch& stream, const StreamOptions& options) {
  const auto padded = stream.find("cu_seqlens_padded");
  StreamOffsets result = {padded == stream.end() ? stream.at("cu_seqlens") : padded->second, {}};
  if (!result.offsets.defined()) {
    throw_missing_key("seq_lens");
  }
  const bool chunked = options.num_chunks > 1;
  for (int64_t chunk = 0; chunk < options.num_chunks; ++chunk) {
    result.chunks.push_back(entries_of(chunked ? result.offsets[chunk] : result.offsets, options.filler));
  }
  return result;
}

int64_t longest_document(const Longs& offsets) {
  int64_t longest = 0;
  for (size_t k = 1; k < offsets.size(); ++k) {
    longest = std::max(longest, offsets[k] - offsets[k - 1]);
  }
  return longest;
}

Batch to_stream(const Batch& batch, const StreamOptions& options) {
  Batch stream = rows_to_stream(batch, options);
  stream.erase("loss_mask");  // its owner cuts it with shard_token_tensor
  return stream;
}

class ThdStrategy final : public ShardStrategy {
 public:
  explicit ThdStrategy(const StreamOptions& options) : options_(options) {}

  std::string_view label() const override { return layout::names::kThd; }

  ShardedBatch shard(const Batch& batch, const ProcessGroup& group) const override {
    Batch stream = to_stream(batch, options_);
    const at::Tensor& rows = batch.at("input_ids");
    if (group.size == 1) {
      ShardFacts facts = uncut_facts(rows, options_.num_chunks > 1);
      if (options_.num_chunks == 1) {
        facts.row_document_offsets = padded_offsets(stream, options_).chunks;
      }
      return {std::move(stream), std::move(facts)};
    }
    if (stream.at("position_ids").dim() > (options_.num_chunks > 1 ? 2 : 1)) {
      throw_unsupported("positions in several sections (mRoPE) cannot be cut per document", "position_ids of shape [B, S]");
    }
    const StreamOffsets offsets = padded_offsets(stream, options_);
    const int64_t token_count = rows.size(0) / options_.num_chunks * rows.size(1);
    std::vector<at::Tensor> indices;
    std::vector<int32_t> longest;
    std::shared_ptr<const layout::Layout> layout;
    for (const Longs& chunk : offsets.chunks) {
      layout = layout::make_layout(layout::names::kThd, group.size, {.document_offsets = chunk});
      indices.push_back(index_tensor(*layout, token_count, group.rank));
      longest.push_back(static_cast<int32_t>(longest_document(chunk)));
    }
    const bool chunked = options_.num_chunks > 1;
    Batch local = cut_stream(std::move(stream), indices, chunked, group);
    local["cu_seqlens"] = offsets.offsets;
    local.erase("cu_seqlens_padded");
    local["max_seqlen"] = chunked ? at::tensor(longest) : at::scalar_tensor(longest.front(), at::kInt);
    if (chunked) {
      return {std::move(local), {}};
    }
    ShardFacts facts = stream_facts(std::move(layout), rows.size(0), rows.size(1), group.rank);
    facts.row_document_offsets = offsets.chunks;
    return {std::move(local), std::move(facts)};
  }

 private:
  static ShardFacts uncut_facts(const at::Tensor& rows, bool chunked) {
    ShardFacts facts;
    if (!chunked) {
      facts.padded_length = rows.size(0) * rows.size(1);
      facts.input_row_shape = {rows.size(0), rows.size(1)};
      facts.local_token_global_indices = at::arange(*facts.padded_length, at::kLong);
      facts.layout = layout::make_layout(layout::names::kNone, 1);
    }
    return facts;
  }

  StreamOptions options_;
};

class GlmStrategy final : public ShardStrategy {
 public:
  GlmStrategy(int cp, const StreamOptions& options) : options_(options), layout_(layout::make_layout(layout::names::kGlm, cp)) {}

  std::string_view label() const override { return layout::names::kGlm; }
  std::shared_ptr<const layout::Layout> closed_form() const override { return layout_; }

  ShardedBatch shard(const Batch& batch, const ProcessGroup& group) const override {
    Batch stream = to_stream(batch, options_);
    const StreamOffsets offsets = padded_offsets(stream, options_);
    const at::Tensor& rows = batch.at("input_ids");
    const bool chunked = options_.num_chunks > 1;
    const int64_t token_count = layout_->padded_length(rows.size(0) / options_.num_chunks * rows.size(1));
    const std::vector<at::Tensor> indices(static_cast<size_t>(options_.num_chunks), index_tensor(*layout_, token_count, group.rank));
    Batch local = cut_stream(std::move(stream), indices, chunked, group);
    local["glm_dsa_cp_query_indices"] = (chunked ? at::stack(indices) : indices.front()).to(rows.device(), at::kInt);
    local.values["qkv_format"] = "thd";
    if (chunked) {
      return {std::move(local), {}};
    }
    ShardFacts facts = stream_facts(layout_, rows.size(0), rows.size(1), group.rank);
    facts.row_document_offsets = offsets.chunks;
    return {std::move(local), std::move(facts)};
  }

 private:
  StreamOptions options_;
  std::shared_ptr<const layout::Layout> layout_;
};

class DispatchStrategy final : public ShardStrategy {
 public:
  explicit DispatchStrategy(const DispatchOptions& options) : options_(options) {}

  std::string_view label() const override { return options_.label; }

  ShardedBatch shard(const Batch& batch, const ProcessGroup& group) const override {
    const at::Tensor& primary = batch.at(primary_key(batch));
    if (primary.dim() < 2) {
      throw_bad_argument(fmt::format("the batch's primary stream has {} axes", primary.dim()), "rows and tokens: [B, S]");
    }
    const int64_t rows = primary.size(0), row_length = primary.size(1);
    check_magi(batch, rows, group);
    layout::Mask mask = options_.mask;
    const Longs offsets = document_offsets(batch, rows, row_length);
    if (offsets.size() > 2) {
      mask.document_offsets = offsets;
    }
    const std::shared_ptr<const layout::Layout> layout = layout::make_layout(
        layout::names::kBalanced, group.size, {.sequence_length = rows * row_length, .chunk = options_.chunk, .mask = std::move(mask)});
    ShardFacts facts = facts_of(layout, rows, row_length, group.rank);
    facts.row_document_offsets = {offsets};
    return {cut(batch, facts, group.rank), std::move(facts)};
  }

 private:
  void check_magi(const Batch& batch, int64_t rows, const ProcessGroup& group) const {
    if (!options_.magi_rules) {
      return;
    }
    if (options_.multimodal && group.size > 1) {
      throw_bad_argument(fmt::format("a model with a vision or audio tower on magi at cp = {}", group.size), "cp = 1");
    }
    if (!is_packed(batch) && rows > 1) {
      throw_bad_argument(fmt::format("{} rows on magi, which takes one sequence", rows), "one row, or packed documents");
    }
    if (options_.plain_masks && (options_.mask.window > 0 || !options_.mask.prefix_tree.empty())) {
      throw_unsupported("magi takes neither a sliding window nor a prefix tree on this path", "the flavour balanced, which does both");
    }
  }

  // Cumulative lengths over the whole stream.
  Longs document_offsets(const Batch& batch, int64_t rows, int64_t row_length) const {
    if (!is_packed(batch)) {
      return offsets_of_rows(std::vector<Longs>(static_cast<size_t>(rows), {0, row_length}), row_length);
    }
    if (const auto offsets = batch.find("cu_seqlens"); batch.count("seq_lens") == 0 && offsets != batch.end()) {
      const auto padded = batch.find("cu_seqlens_padded");
      const Longs padded_offsets = padded == batch.end() ? Longs() : entries_of(padded->second);
      return cumulative(layout::document_lengths(entries_of(offsets->second), padded_offsets, rows * row_length));
    }
    batch.required("seq_lens");
    return offsets_of_rows(document_offsets_of_rows(batch, row_length), row_length);
  }

  // A row's tail behind its last slot is a document of its own.
  Longs offsets_of_rows(const std::vector<Longs>& offsets_by_row, int64_t row_length) const {
    Longs offsets = {0};
    int64_t start = 0;
    for (const Longs& ends : offsets_by_row) {
      for (size_t k = 1; k < ends.size(); ++k) {
        offsets.push_back(start + ends[k]);
      }
      if (ends.back() < row_length && options_.magi_rules) {
        throw_bad_argument(fmt::format("documents that add up to {} in a row of {} tokens", ends.back(), row_length),
                           "documents that fill the stream");
      }
      start += row_length;
      if (ends.back() < row_length) {
        offsets.push_back(start);
      }
    }
    return offsets;
  }

  ShardFacts facts_of(const std::shared_ptr<const layout::Layout>& layout, int64_t rows, int64_t row_length, int rank) const {
    ShardFacts facts = stream_facts(layout, rows, row_length, rank);
    if (!options_.magi_rules) {
      facts.original_length.reset();
      facts.input_row_shape = {rows, row_length};
    }
    return facts;
  }

  // The rows become one row of the stream, which is padded and cut like any other; a flat stream is what the verbs give then.
  Batch cut(const Batch& batch, const ShardFacts& facts, int rank) const {
    const at::Tensor indices = index_tensor(*facts.layout, *facts.padded_length, rank);
    const BatchSharding sharding(kContiguousRules, options_.batch);
    Batch local = sharding.apply(sharding.as_one_row(batch), *facts.padded_length, [&](const at::Tensor& tensor, int64_t axis) {
      const at::Tensor part = cut_tokens(tensor, axis, indices);
      return facts.input_row_shape.empty() ? part : part.squeeze(axis - 1);
    });
    local.erase("seq_lens");
    local.erase("seq_lens_padded");
    local.erase("cu_seqlens");
    local.erase("cu_seqlens_padded");
    return local;
  }

  DispatchOptions options_;
};

}  // namespace

ShardFacts stream_facts(std::shared_ptr<const layout::Layout> layout, int64_t rows, int64_t row_length, int rank) {
  const layout::Facts known = layout->facts(rows, row_length);
  ShardFacts facts;
  facts.original_length = known.original_length;
  facts.padded_length = known.padded_length;
  facts.input_row_shape = known.row_shape;
  if (known.index_map) {
    facts.local_token_global_indices = index_tensor(*layout, *known.padded_length, rank);
  }
  facts.layout = std::move(layout);
  return facts;
}

StrategyPointer make_thd_strategy(const StreamOptions& options) { return std::make_shared<ThdStrategy>(options); }

StrategyPointer make_glm_strategy(int cp, const StreamOptions& options) { return std::make_shared<GlmStrategy>(cp, options); }

StrategyPointer make_dispatch_strategy(const DispatchOptions& options) { return std::make_shared<DispatchStrategy>(options); }

}  // namespace ringwright::worker
