// LibTorch's flash attention for the CPU. It takes fewer KV heads as they are.
#include <ATen/ATen.h>

#include <limits>
#include <optional>

#include "daemon/worker/kernels/attention_kernels.h"

namespace ringwright::worker::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The operator adds its mask to the scores.
std::optional<at::Tensor> additive_mask(const BlockMask& mask, const at::Tensor& q_BHLD) {
  if (!mask.allowed_LM.defined()) {
    return std::nullopt;
  }
  return at::zeros(mask.allowed_LM.sizes(), q_BHLD.options()).masked_fill_(mask.allowed_LM.logical_not(), -kInfinity);
}

// The operator reads a head's values as neighbours, and does not look whether they are.
at::Tensor dense(const at::Tensor& x_BHLD) { return x_BHLD.stride(-1) == 1 ? x_BHLD : x_BHLD.contiguous(); }

at::Tensor rows_without_key_L(const BlockMask& mask) { return mask.allowed_LM.any(-1).logical_not_(); }

}  // namespace

AttentionBlock flash_forward_cpu(const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD, const BlockMask& mask, double scale) {
  auto [out_BHLD, lse_BHL] = at::_scaled_dot_product_flash_attention_for_cpu(dense(q_BHLD), dense(k_BKMD), dense(v_BKMD), 0.0, mask.causal,
                                                                             additive_mask(mask, q_BHLD), scale);
  if (mask.allowed_LM.defined()) {
    lse_BHL.masked_fill_(rows_without_key_L(mask), -kInfinity);  // the operator says 0, which would merge as a weight of 1
  }
  return {out_BHLD, lse_BHL};
}

AttentionBlockGradients flash_backward_cpu(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKMD,
                                           const at::Tensor& v_BKMD, const AttentionBlock& merged, const BlockMask& mask, double scale) {
  at::Tensor lse_BHL = merged.lse_BHL;
  if (mask.allowed_LM.defined()) {
    lse_BHL = lse_BHL.masked_fill(lse_BHL == -kInfinity, kInfinity);  // exp(-inf - inf) is 0, exp(-inf + inf) is NaN
  }
  auto [grad_q_BHLD, grad_k_BKMD, grad_v_BKMD] =
      at::_scaled_dot_product_flash_attention_for_cpu_backward(dense(grad_out_BHLD), dense(q_BHLD), dense(k_BKMD), dense(v_BKMD),
                                                               dense(merged.out_BHLD), lse_BHL, 0.0, mask.causal, additive_mask(mask, q_BHLD), scale);
  return {grad_q_BHLD, grad_k_BKMD, grad_v_BKMD};
}

}  // namespace ringwright::worker::kernels
