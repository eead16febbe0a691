// Cuts a batch over the CP group and brings per-token tensors there and back, in the caller's own coordinates (context-parallel contract,
// section 4). Padding and order are the sharder's secret: an algorithm hands in and gets back the length that it knows.
#pragma once

#include "daemon/worker/context_parallel/shard_strategy.h"

namespace ringwright::worker {

class Sharder {
 public:
  // `facts`: of a batch that was cut before. Throws Error RW-SHARD-004 without a strategy, or when its layout and the group differ in size.
  Sharder(StrategyPointer strategy, ProcessGroup group, ShardFacts facts = {});

  // This rank's part of `batch`, which is never changed; captures the facts. Every rank of the group starts from the same batch. Errors: those of
  // the strategy.
  Batch shard(const Batch& batch);

  // This rank's part of a tensor in the caller's length or in the padded one. `fill`: what padding gets; never guessed. Differentiable. Contiguous.
  // Rows that became a stream give a flat shard. Throws Error RW-SHARD-001, RW-SHARD-003 (before the first batch, where the map depends on it).
  at::Tensor shard_token_tensor(const at::Tensor& tensor, int64_t sequence_axis = 1, std::optional<double> fill = {}) const;

  // The parts of all ranks in global order, on every rank; trim: in the caller's own coordinates. Backward is a reduce-scatter with SUM in rank
  // order: when every rank computes the same loss from the result, the local gradient is cp times that of one. Every rank must run it.
  at::Tensor gather_token_tensor(const at::Tensor& tensor, int64_t sequence_axis = 1, bool trim = false, std::optional<double> fill = {}) const;

  // Global position of each local slot of this rank, int64 [padded_length / cp].
  at::Tensor local_token_global_indices(int64_t padded_length) const { return index_map(padded_length, group_.rank); }

  // The sequence axis of this batch's shards: 0 where rows became one stream, else 1.
  int64_t token_axis() const { return facts_.input_row_shape.empty() ? 1 : 0; }

  std::string_view label() const { return strategy_->label(); }
  bool has_closed_form() const { return strategy_->closed_form() != nullptr; }
  const ShardFacts& facts() const { return facts_; }
  // Of the batch that was cut last, else the closed form; null where neither is known.
  std::shared_ptr<const layout::Layout> layout() const { return facts_.layout ? facts_.layout : strategy_->closed_form(); }
  const ProcessGroup& group() const { return group_; }

 private:
  at::Tensor index_map(int64_t padded_length, int rank) const;
  std::vector<at::Tensor> index_maps(int64_t padded_length) const;
  at::Tensor place_by_position(const at::Tensor& tensor, std::optional<double> fill) const;
  at::Tensor rows_as_stream(const at::Tensor& rows, std::optional<double> fill) const;
  at::Tensor pad_to_layout(const at::Tensor& tensor, int64_t axis, std::optional<double> fill) const;
  at::Tensor trim(const at::Tensor& full, int64_t sequence_axis, std::optional<double> fill) const;
  at::Tensor stream_as_rows(const at::Tensor& full) const;

  StrategyPointer strategy_;
  ProcessGroup group_;
  ShardFacts facts_;
};

}  // namespace ringwright::worker
