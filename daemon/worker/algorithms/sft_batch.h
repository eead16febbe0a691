// From rows to tensors, in caller coordinates: nothing here knows of sharding.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "daemon/worker/algorithms/targets.h"
#include "daemon/worker/data/dataset.h"

namespace ringwright::worker {

// B rows, right-padded to the longest, S tokens.
struct SftBatch {
  at::Tensor ids_BS;        // int64
  at::Tensor targets_BS;    // int64: the next token's id at each position; kIgnoredTarget where there is none, or where it is not trained on
  at::Tensor weights_BS;    // float32: 1 / global token count at trained targets, else 0
  int64_t token_count = 0;  // trained targets in this batch
  int64_t row_count = 0;
};

// The rows of a global batch that data rank `rank` of `size` works on: one stretch, in the batch's order; stretches differ by at most one row.
std::vector<const Row*> rows_of_rank(const std::vector<const Row*>& rows, int rank, int size);

// Number of trained targets: what a global batch's loss is divided by. A row's first token has no prediction.
int64_t count_targets(const std::vector<const Row*>& rows);

// `pad_id` fills the end of shorter rows. `global_token_count` is that of the whole global batch, over all microbatches (and ranks of data
// parallelism).
SftBatch make_sft_batch(const std::vector<const Row*>& rows, int64_t pad_id, int64_t global_token_count);

}  // namespace ringwright::worker
