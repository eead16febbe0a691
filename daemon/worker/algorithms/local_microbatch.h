// One rank's part of a microbatch, and the way back to the caller's coordinates. Everything that a step must not get wrong in silence when tokens are
// spread (positions, targets, weights, document edges) is put together here, once.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/worker/algorithms/sft_batch.h"
#include "daemon/worker/context_parallel/attention.h"
#include "daemon/worker/context_parallel/flavours.h"
#include "daemon/worker/parallel/process_groups.h"
#include "shared/layout/layout.h"

namespace ringwright::worker {

struct LocalMicrobatch {
  at::Tensor ids_BL, positions_BL, targets_BL, weights_BL;  // of this rank, in the layout's local order
  layout::Mask mask;                                        // in global positions of the layout
  std::shared_ptr<const layout::Layout> layout;             // null: every token is here
  int64_t longest_length = 0;                               // of a row or document, padding included
  // A per-token tensor of this rank [B, L] -> of the whole batch [B, S], in the batch's own order, on every rank.
  std::function<at::Tensor(const at::Tensor& local_BL)> gather;
};

using ShardFunction = std::function<LocalMicrobatch(const SftBatch& batch)>;

// On one rank.
LocalMicrobatch whole_microbatch(const SftBatch& batch);

// Over the ranks of `cp_group`, all of which must be given the same batches. How each is cut is resolution's answer for `model` (sharded_model makes
// one by a flavour's name).
ShardFunction make_shard_function(ShardedModel model, const ProcessGroup& cp_group, const SharderOptions& options = {});

}  // namespace ringwright::worker
