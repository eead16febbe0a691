#include "daemon/worker/context_parallel/deepseek_v4_strategy.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "daemon/worker/context_parallel/row_strategies.h"
#include "daemon/worker/context_parallel/shard_errors.h"
#include "daemon/worker/context_parallel/stream.h"
#include "daemon/worker/parallel/collectives.h"
#include "shared/layout/deepseek_v4.h"
#include "shared/layout/names.h"

namespace ringwright::worker {
namespace {

using Longs = std::vector<int64_t>;

bool has(const Batch& batch, const char* key) {
  const auto found = batch.find(key);
  return found != batch.end() && found->second.defined();
}

// One list of the rebuilt rows as a tensor [B, width], filled with `filler` up to the widest.
at::Tensor tensor_of(const std::vector<layout::RepackedRow>& rows, Longs layout::RepackedRow::* list, int64_t filler) {
  size_t width = 0;
  for (const layout::RepackedRow& row : rows) {
    width = std::max(width, (row.*list).size());
  }
  std::vector<at::Tensor> tensors;
  for (const layout::RepackedRow& row : rows) {
    tensors.push_back(pad_right(at::tensor(row.*list, at::kLong), 0, static_cast<int64_t>(width), static_cast<double>(filler)));
  }
  return at::stack(tensors);
}

// Tokens move to where their rows were rebuilt; `sources` [B, T] names each new slot's old one, -1: padding, which gets `value`.
at::Tensor rebuild(const at::Tensor& tensor, const at::Tensor& sources, double value) {
  at::Tensor index = sources.clamp_min(0), padding = sources < 0;
  std::vector<int64_t> shape = sources.sizes().vec();
  for (int64_t axis = 2; axis < tensor.dim(); ++axis) {
    index = index.unsqueeze(-1);
    padding = padding.unsqueeze(-1);
    shape.push_back(tensor.size(axis));
  }
  return tensor.gather(1, index.expand(shape)).masked_fill(padding, value);
}

class DeepseekV4Strategy final : public ShardStrategy {
 public:
  DeepseekV4Strategy(int cp, const DeepseekV4Options& options)
      : options_(options), layout_(layout::make_layout(layout::names::kDeepseekV4, cp, {.pad_multiple = options.pad_multiple})) {}

  std::string_view label() const override { return layout_->name(); }
  std::shared_ptr<const layout::Layout> closed_form() const override { return layout_; }

  ShardedBatch shard(const Batch& batch, const ProcessGroup& group) const override {
    primary_key(batch);
    if (group.size == 1) {
      return {uncut(batch), {}};
    }
    return is_packed(batch) ? shard_packed(batch, group) : make_row_strategy(layout_, kContiguousRules, options_.batch)->shard(batch, group);
  }

 private:
  static Batch uncut(const Batch& batch) {
    Batch result = batch;
    if (is_packed(batch)) {
      result.values["qkv_format"] = "thd";
    }
    if (!has(batch, "labels") && has(batch, "loss_mask")) {
      result["labels"] = batch.at("loss_mask");
      result.erase("loss_mask");
    }
    return result;
  }

  ShardedBatch shard_packed(const Batch& batch, const ProcessGroup& group) const {
    refuse_extra_keys(batch, options_.batch);
    const layout::RepackedRows rebuilt = repack(batch, group);
    const at::Device device = batch.at(primary_key(batch)).device();
    const at::Tensor sources = tensor_of(rebuilt.rows, &layout::RepackedRow::old_positions, -1).to(device);
    Batch rows = rebuild_rows(batch, sources);
    rows["position_ids"] = tensor_of(rebuilt.rows, &layout::RepackedRow::position_ids, 0).to(device);
    rows["packed_seq_ids"] = tensor_of(rebuilt.rows, &layout::RepackedRow::packed_seq_ids, 0).to(device);
    rows["padding_mask"] = sources < 0;

    ShardFacts facts;
    facts.padded_length = rebuilt.row_length;
    facts.input_token_stream_positions = tensor_of(rebuilt.rows, &layout::RepackedRow::new_positions, -1);
    facts.layout = layout_;
    const at::Tensor indices = index_tensor(*layout_, rebuilt.row_length, group.rank);
    for (const char* key : {"input_ids", "inputs_embeds", "labels", "loss_mask", "position_ids", "packed_seq_ids", "padding_mask"}) {
      if (rows.count(key) > 0) {
        rows[key] = cut_tokens(rows[key], 1, indices);
      }
    }
    rows["seq_lens"] = tensor_of(rebuilt.rows, &layout::RepackedRow::real_lengths, kNoDocument);
    rows["seq_lens_padded"] = tensor_of(rebuilt.rows, &layout::RepackedRow::slot_lengths, kNoDocument);
    rows.values["qkv_format"] = "thd";
    for (const layout::RepackedRow& row : rebuilt.rows) {
      facts.row_document_offsets.push_back(cumulative(row.slot_lengths));
    }
    return {std::move(rows), std::move(facts)};
  }

  layout::RepackedRows repack(const Batch& batch, const ProcessGroup& group) const {
    if (!has(batch, "seq_lens")) {
      if (has(batch, "cu_seqlens")) {
        throw_unsupported("cu_seqlens without seq_lens does not say which row a document is in", "seq_lens [B, k]");
      }
      throw_missing_key("seq_lens");
    }
    const at::Tensor& primary = batch.at(primary_key(batch));
    const std::vector<Longs> lengths = length_lists(batch.at("seq_lens"));
    const std::vector<Longs> slots = has(batch, "seq_lens_padded") ? length_lists(batch.at("seq_lens_padded")) : std::vector<Longs>();
    if (primary.dim() < 2 || static_cast<int64_t>(lengths.size()) != primary.size(0)) {
      throw_bad_argument(fmt::format("seq_lens has {} rows, the batch has the shape [{}]", lengths.size(), fmt::join(primary.sizes(), ", ")),
                         "one list of lengths a row");
    }
    const layout::RepackedRows rebuilt = layout::repack_rows(lengths, slots, primary.size(1), group.size, options_.pad_multiple);
    if (!options_.equal_rows) {
      return rebuilt;
    }
    int64_t longest = 0;
    for (const at::Tensor& length : all_gather(at::tensor({rebuilt.row_length}, at::kLong), *options_.equal_rows)) {
      longest = std::max(longest, length.item<int64_t>());
    }
    return layout::repack_rows(lengths, slots, primary.size(1), group.size, options_.pad_multiple, longest);
  }

  Batch rebuild_rows(const Batch& batch, const at::Tensor& sources) const {
    Batch rows = batch;
    for (const char* gone : {"attention_mask", "cu_seqlens", "cu_seqlens_padded"}) {
      rows.erase(gone);
    }
    batch.required("labels");
    const std::pair<const char*, double> pads[] = {
        {"input_ids", static_cast<double>(options_.batch.padding_token_id)}, {"inputs_embeds", 0}, {"labels", kIgnoredLabel}, {"loss_mask", 0}};
    for (const auto& [key, value] : pads) {
      if (has(batch, key)) {
        rows[key] = rebuild(batch.at(key), sources, value);
      }
    }
    return rows;
  }

  DeepseekV4Options options_;
  std::shared_ptr<const layout::Layout> layout_;
};

}  // namespace

StrategyPointer make_deepseek_v4_strategy(int cp, const DeepseekV4Options& options) { return std::make_shared<DeepseekV4Strategy>(cp, options); }

}  // namespace ringwright::worker
