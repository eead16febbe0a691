// Attention of one rank over its own tokens: what stands behind the seam at cp = 1.
#pragma once

#include "daemon/worker/context_parallel/attention.h"

namespace ringwright::worker {

// See AttentionFunction; the tokens stand in global order. Throws Error RW-MASK-00x for a mask that does not fit them.
at::Tensor local_attention(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, const layout::Mask& mask, double scale);

}  // namespace ringwright::worker
