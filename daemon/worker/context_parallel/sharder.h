// Cuts a batch over the CP group and brings per-token tensors there and back, in the caller's own coordinates (context-parallel contract,
// sections 4 and 5). Padding and order are the sharder's secret: an algorithm hands in and gets back the length that it knows.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "daemon/worker/context_parallel/batch.h"
#include "daemon/worker/parallel/process_groups.h"
#include "shared/layout/layout.h"

namespace ringwright::worker {

// What shard() learned about its batch. A layout that moves nothing by data has only the two lengths.
struct ShardFacts {
  std::vector<int64_t> local_token_global_indices;  // of this rank; empty: the layout's closed form is used
  std::optional<int64_t> original_length;
  std::optional<int64_t> padded_length;
  std::vector<int64_t> input_row_shape;     // [B, S] when rows became one stream; else empty
  at::Tensor input_token_stream_positions;  // [B, S_in], -1 for dropped slots; undefined without
};

class Sharder {
 public:
  // layout null: its map is known only after shard() (or from `facts`). Throws Error RW-SHARD-004 when layout and group differ in size.
  Sharder(std::shared_ptr<const layout::Layout> layout, ProcessGroup group, BatchRules rules, BatchOptions options = {}, ShardFacts facts = {});

  // This rank's part of `batch`, which is never changed; captures the facts. Every rank of the group starts from the same batch.
  Batch shard(const Batch& batch);

  // This rank's part of a tensor in the caller's length or in the padded one. `fill`: what padding gets; never guessed. Differentiable. Contiguous.
  at::Tensor shard_token_tensor(const at::Tensor& tensor, int64_t sequence_axis = 1, std::optional<double> fill = {}) const;

  // The parts of all ranks in global order, on every rank; trim: in the caller's own coordinates. Backward is a reduce-scatter with SUM in rank
  // order: when every rank computes the same loss from the result, the local gradient is cp times that of one. Every rank must run it.
  at::Tensor gather_token_tensor(const at::Tensor& tensor, int64_t sequence_axis = 1, bool trim = false, std::optional<double> fill = {}) const;

  // Global position of each local slot of this rank, int64 [padded_length / cp].
  at::Tensor local_token_global_indices(int64_t padded_length) const { return index_map(padded_length, group_.rank); }

  const ShardFacts& facts() const { return facts_; }
  const std::shared_ptr<const layout::Layout>& layout() const { return layout_; }
  const ProcessGroup& group() const { return group_; }

 private:
  at::Tensor index_map(int64_t padded_length, int rank) const;
  std::vector<at::Tensor> index_maps(int64_t padded_length) const;
  at::Tensor place_by_position(const at::Tensor& tensor, std::optional<double> fill) const;
  at::Tensor trim(const at::Tensor& full, int64_t sequence_axis, std::optional<double> fill) const;

  std::shared_ptr<const layout::Layout> layout_;
  ProcessGroup group_;
  BatchRules rules_;
  BatchOptions options_;
  ShardFacts facts_;
};

struct SharderOptions {
  BatchOptions batch;
  int64_t pad_multiple = 1;  // contiguous only
};

// flavour: "none", "round_robin" or "contiguous"; at one rank round_robin is none. Throws Error RW-LAYOUT-003 for another name.
Sharder make_sharder(std::string_view flavour, const ProcessGroup& group, const SharderOptions& options = {});

}  // namespace ringwright::worker
