// All-gather of per-token tensors into global order, with its gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "daemon/worker/parallel/process_groups.h"

namespace ringwright::worker {

// index_maps[q]: global position of each slot of rank q, int64; together a permutation. Backward: reduce-scatter, SUM in rank order.
at::Tensor gather_tokens(const at::Tensor& local, int64_t sequence_axis, const std::vector<at::Tensor>& index_maps, const ProcessGroup& group);

}  // namespace ringwright::worker
