// Brings the ranks' gradients together.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

#include "daemon/worker/parallel/process_groups.h"

namespace ringwright::worker {

// Sums each parameter's gradient over the group, in buckets of at most `bucket_bytes_max` (a larger tensor is a bucket of its own). The losses
// carry the global divisor, so the sum is the gradient. A parameter without a gradient counts as zero on that rank. No-op for one rank.
void sum_gradients(const std::map<std::string, at::Tensor>& parameters, const ProcessGroup& group, int64_t bucket_bytes_max = int64_t{32} << 20);

}  // namespace ringwright::worker
