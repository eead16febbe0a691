// Attention of one rank over its own tokens: what stands behind the seam at cp = 1.
#pragma once

#include "daemon/worker/context_parallel/attention.h"

namespace ringwright::worker {

// See AttentionFunction. Key/value heads are taken as they are; packed documents are run one by one, so no token sees another document.
at::Tensor local_attention(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, const AttentionMask& mask, double scale);

}  // namespace ringwright::worker
