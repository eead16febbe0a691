// From rows to tensors, in caller coordinates: nothing here knows of sharding.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "daemon/worker/data/dataset.h"
#include "daemon/worker/data/microbatches.h"

namespace ringwright::worker {

// What stands in a target array where there is no target: any negative id would do, this one is the custom.
inline constexpr int64_t kIgnoredTarget = -100;

// B rows, right-padded to S tokens; or one pack: B = 1, its documents one after another, each padded to its slot.
struct SftBatch {
  at::Tensor ids_BS;             // int64
  at::Tensor targets_BS;         // int64: the next token's id at each position; kIgnoredTarget where there is none, or where it is not trained on
  at::Tensor weights_BS;         // float32: 1 / global token count at trained targets, else 0
  at::Tensor positions_BS;       // int64: within each row or document; padding counts on
  std::vector<int64_t> lengths;  // real tokens of each row, or of each document of the pack
  std::vector<int64_t> document_offsets;  // a pack's slots: [0, ..., S]. Empty: rows
  int64_t longest_length = 0;             // of a row or a document, padding included
  int64_t token_count = 0;                // trained targets in this batch

  bool packed() const { return !document_offsets.empty(); }
};

// The rows of a global batch that data rank `rank` of `size` works on: one stretch, in the batch's order; stretches differ by at most one row.
std::vector<const Row*> rows_of_rank(const std::vector<const Row*>& rows, int rank, int size);

// Number of trained targets: what a global batch's loss is divided by. A row's first token has no prediction.
int64_t count_targets(const std::vector<const Row*>& rows);

// The rows of a microbatch, of a global batch's `rows`: right-padded with `pad_id` to its row length, or as one pack in its slots.
// `global_token_count` is that of the whole global batch, over all microbatches and ranks of data parallelism.
SftBatch make_batch(const std::vector<const Row*>& rows, const Microbatch& microbatch, int64_t pad_id, int64_t global_token_count);

// What a per-token tensor [B, S] of the batch says of row or document `index`: [its length].
at::Tensor tokens_of(const SftBatch& batch, const at::Tensor& tensor_BS, size_t index);

}  // namespace ringwright::worker
