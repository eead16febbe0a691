#include "daemon/worker/context_parallel/row_strategies.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <mutex>

#include "daemon/worker/context_parallel/shard_errors.h"
#include "daemon/worker/context_parallel/stream.h"
#include "shared/layout/names.h"

namespace ringwright::worker {
namespace {

constexpr const char* kPackedSequenceIds = "_packed_seq_ids";

// The primary stream, which must have rows.
const at::Tensor& rows_of(const Batch& batch) {
  const at::Tensor& primary = batch.at(primary_key(batch));
  if (primary.dim() < 2) {
    throw_bad_argument(fmt::format("the batch's primary stream has the shape [{}]", fmt::join(primary.sizes(), ", ")), "rows and tokens: [B, S]");
  }
  return primary;
}

ShardFacts row_facts(const Batch& batch, int64_t sequence_length, std::shared_ptr<const layout::Layout> layout) {
  ShardFacts facts;
  facts.original_length = sequence_length;
  facts.padded_length = layout->padded_length(sequence_length);
  if (batch.declares_stream()) {
    facts.row_document_offsets = document_offsets_of_rows(batch, sequence_length);
  }
  facts.layout = std::move(layout);
  return facts;
}

class IdentityStrategy final : public ShardStrategy {
 public:
  std::string_view label() const override { return layout::names::kNone; }
  std::shared_ptr<const layout::Layout> closed_form() const override { return layout_; }
  ShardedBatch shard(const Batch& batch, const ProcessGroup&) const override {
    const at::Tensor& primary = batch.at(primary_key(batch));
    return {batch, primary.dim() < 2 ? ShardFacts{} : row_facts(batch, primary.size(1), layout_)};
  }

 private:
  std::shared_ptr<const layout::Layout> layout_ = layout::make_layout(layout::names::kNone, 1);
};

class RowStrategy final : public ShardStrategy {
 public:
  RowStrategy(std::shared_ptr<const layout::Layout> layout, const BatchRules& rules, BatchOptions options)
      : layout_(std::move(layout)), rules_(rules), options_(std::move(options)) {}

  std::string_view label() const override { return layout_->name(); }
  std::shared_ptr<const layout::Layout> closed_form() const override { return layout_; }
  ShardedBatch shard(const Batch& batch, const ProcessGroup& group) const override {
    ShardFacts facts = row_facts(batch, rows_of(batch).size(1), layout_);
    const at::Tensor indices = index_tensor(*layout_, *facts.padded_length, group.rank);
    return {BatchSharding(rules_, options_)
                .apply(batch, *facts.padded_length, [&](const at::Tensor& tensor, int64_t axis) { return cut_tokens(tensor, axis, indices); }),
            std::move(facts)};
  }

 private:
  std::shared_ptr<const layout::Layout> layout_;
  BatchRules rules_;
  BatchOptions options_;
};

class Gemma4Strategy final : public ShardStrategy {
 public:
  Gemma4Strategy(int cp, BatchOptions options) : rows_(layout::make_layout(layout::names::kGemma4, cp), kContiguousRules, std::move(options)) {}

  std::string_view label() const override { return layout::names::kGemma4; }
  std::shared_ptr<const layout::Layout> closed_form() const override { return rows_.closed_form(); }
  ShardedBatch shard(const Batch& batch, const ProcessGroup& group) const override {
    Batch completed = batch;
    if (batch.count(kPackedSequenceIds) == 0) {
      completed[kPackedSequenceIds] = one_document(batch);
    }
    return rows_.shard(completed, group);
  }

 private:
  // 1 on every real token.
  static at::Tensor one_document(const Batch& batch) {
    if (const auto padding = batch.find("padding_mask"); padding != batch.end()) {
      return padding->second.logical_not().to(at::kLong);
    }
    if (const auto mask = batch.find("attention_mask"); mask != batch.end()) {
      return padding_mask_from_attention_mask(mask->second).logical_not().to(at::kLong);
    }
    const at::Tensor& primary = rows_of(batch);
    return at::ones({primary.size(0), primary.size(1)}, primary.options().dtype(at::kLong).requires_grad(false));
  }

  RowStrategy rows_;
};

// Resolution makes a strategy for each batch; while somebody works on the layout of the last one, and so keeps plans for it, it is the same.
std::shared_ptr<const layout::Layout> head_tail_layout(int cp) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<const layout::Layout>> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const layout::Layout> layout = known[cp].lock();
  if (!layout) layout = layout::make_layout(layout::names::kRoundRobin, cp), known[cp] = layout;
  return layout;
}

}  // namespace

at::Tensor index_tensor(const layout::Layout& layout, int64_t padded_length, int rank) {
  return at::tensor(layout.local_token_global_indices(padded_length, rank), at::kLong);
}

at::Tensor cut_tokens(const at::Tensor& tensor, int64_t axis, const at::Tensor& indices) {
  return tensor.index_select(axis, indices.to(tensor.device()));
}

StrategyPointer make_identity_strategy() { return std::make_shared<IdentityStrategy>(); }

StrategyPointer make_row_strategy(std::shared_ptr<const layout::Layout> layout, const BatchRules& rules, const BatchOptions& options) {
  return std::make_shared<RowStrategy>(std::move(layout), rules, options);
}

StrategyPointer make_round_robin_strategy(int cp, const BatchOptions& options) {
  return make_row_strategy(head_tail_layout(cp), kRoundRobinRules, options);
}

StrategyPointer make_contiguous_strategy(int cp, int64_t pad_multiple, const BatchOptions& options) {
  return make_row_strategy(layout::make_layout(layout::names::kContiguous, cp, {.pad_multiple = pad_multiple}), kContiguousRules, options);
}

StrategyPointer make_gemma4_strategy(int cp, BatchOptions options) {
  options.shard_primary = false;
  options.extra_sequence_keys[kPackedSequenceIds] = 1;
  return std::make_shared<Gemma4Strategy>(cp, std::move(options));
}

InModelCut cut_in_model(const at::Tensor& tensor, int64_t axis, double pad_value, const layout::Layout& layout, int rank) {
  if (axis < 0 || axis >= tensor.dim()) {
    throw_bad_argument(fmt::format("sequence axis {} of a tensor of shape [{}]", axis, fmt::join(tensor.sizes(), ", ")), "an axis of the tensor");
  }
  const int64_t length = tensor.size(axis);
  if (layout.cp() == 1) {
    return {tensor, at::arange(length, at::kLong), length};
  }
  const int64_t padded_length = layout.padded_length(length);
  const at::Tensor indices = index_tensor(layout, padded_length, rank);
  return {cut_tokens(pad_right(tensor, axis, padded_length, pad_value), axis, indices), indices, padded_length};
}

}  // namespace ringwright::worker
