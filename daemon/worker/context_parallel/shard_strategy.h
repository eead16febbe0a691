// One way to spread a batch over the CP group. A Sharder asks its strategy to cut the batch, and works from the facts from then on; nothing
// branches on a strategy's label.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/worker/context_parallel/batch.h"
#include "daemon/worker/parallel/process_groups.h"
#include "shared/layout/layout.h"
#include "shared/layout/mask.h"

namespace ringwright::worker {

// What cutting a batch taught about it (context-parallel contract, section 4.1). Never valid for another batch.
struct ShardFacts {
  at::Tensor local_token_global_indices;    // of this rank, integers of any shape; undefined: the closed form is used
  std::optional<int64_t> original_length;   // S. With input_row_shape: of rows that were padded before they became a stream
  std::optional<int64_t> padded_length;     // P
  std::vector<int64_t> input_row_shape;     // [B, S] when rows became one stream; else empty
  at::Tensor input_token_stream_positions;  // int64 [B, S_in], -1 for dropped slots; undefined without

  // What attention works on; not among the contract's facts.
  std::shared_ptr<const layout::Layout> layout;            // null: none is known beside the captured indices
  std::vector<std::vector<int64_t>> row_document_offsets;  // packed: cumulative padded lengths of each row (one row for a stream); else empty
};

struct ShardedBatch {
  Batch batch;
  ShardFacts facts;
};

class ShardStrategy {
 public:
  virtual ~ShardStrategy() = default;

  // For people: "round_robin".
  virtual std::string_view label() const = 0;
  // The map that is known before any batch; null: it depends on the batch.
  virtual std::shared_ptr<const layout::Layout> closed_form() const { return nullptr; }
  // This rank's part. The batch handed in is not changed. Throws Error RW-SHARD-001 (bad argument), RW-SHARD-002 (missing key),
  // RW-SHARD-003 (unsupported).
  virtual ShardedBatch shard(const Batch& batch, const ProcessGroup& group) const = 0;
};

using StrategyPointer = std::shared_ptr<const ShardStrategy>;

// The global positions of this rank's slots as a tensor.
at::Tensor index_tensor(const layout::Layout& layout, int64_t padded_length, int rank);

// Cuts `tensor` along `axis` by the positions of this rank's slots; the gradient goes back to them.
at::Tensor cut_tokens(const at::Tensor& tensor, int64_t axis, const at::Tensor& indices);

}  // namespace ringwright::worker
