#include "daemon/worker/models/local_attention.h"

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/context_parallel/whole_attention.h"

namespace ringwright::worker {

at::Tensor local_attention(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, const layout::Mask& mask, double scale) {
  // Ranks may be threads of one process, and a method's plans belong to one of them.
  thread_local const AttentionFunction attend = differentiable(make_whole_method(), 1);
  return attend(q_BHLD, k_BKLD, v_BKLD, mask, scale);
}

}  // namespace ringwright::worker
