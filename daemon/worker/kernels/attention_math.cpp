#include <ATen/ATen.h>

#include <limits>

#include "daemon/worker/kernels/attention_kernels.h"

namespace ringwright::worker::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::ScalarType compute_type(const at::Tensor& q_BHLD) { return q_BHLD.scalar_type() == at::kDouble ? at::kDouble : at::kFloat; }

// Query heads that share a KV head become one axis: [B, K, H/K, L, D]. No KV head is copied.
at::Tensor grouped(const at::Tensor& x_BHLD, int64_t kv_heads, at::ScalarType type) {
  return x_BHLD.to(type).unflatten(1, {kv_heads, x_BHLD.size(1) / kv_heads});
}

at::Tensor scores_BKGLM(const at::Tensor& q_BKGLD, const at::Tensor& k_BKMD, const BlockMask& mask, double scale) {
  at::Tensor scores = at::matmul(q_BKGLD, k_BKMD.unsqueeze(2).transpose(-1, -2)).mul_(scale);
  if (mask.causal) {
    const at::Tensor blocked = at::ones({scores.size(-2), scores.size(-1)}, scores.options().dtype(at::kBool)).triu_(1);
    scores.masked_fill_(blocked, -kInfinity);
  }
  if (mask.allowed_LM.defined()) {
    scores.masked_fill_(mask.allowed_LM.logical_not(), -kInfinity);
  }
  return scores;
}

// exp(scores - lse), 0 in rows that see no key (lse = -inf).
at::Tensor probabilities(const at::Tensor& scores_BKGLM, const at::Tensor& lse_BKGL) {
  const at::Tensor safe_lse = lse_BKGL.masked_fill(lse_BKGL == -kInfinity, kInfinity);
  return (scores_BKGLM - safe_lse.unsqueeze(-1)).exp_();
}

constexpr int64_t kCudaFlashHeadSizeMax = 256;

}  // namespace

bool cuda_flash_takes(const at::Tensor& q_BHLD) {
  const bool half = q_BHLD.scalar_type() == at::kHalf || q_BHLD.scalar_type() == at::kBFloat16;
  return q_BHLD.is_cuda() && half && q_BHLD.size(3) <= kCudaFlashHeadSizeMax;
}

AttentionBlock math_forward(const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD, const BlockMask& mask, double scale) {
  const at::ScalarType type = compute_type(q_BHLD);
  const at::Tensor scores = scores_BKGLM(grouped(q_BHLD, k_BKMD.size(1), type), k_BKMD.to(type), mask, scale);
  const at::Tensor lse_BKGL = scores.logsumexp(-1);
  const at::Tensor out_BKGLD = at::matmul(probabilities(scores, lse_BKGL), v_BKMD.to(type).unsqueeze(2));
  return {out_BKGLD.flatten(1, 2).to(q_BHLD.scalar_type()), lse_BKGL.flatten(1, 2)};
}

AttentionBlockGradients math_backward(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD,
                                      const AttentionBlock& merged, const BlockMask& mask, double scale) {
  const at::ScalarType type = compute_type(q_BHLD);
  const int64_t kv_heads = k_BKMD.size(1);
  const at::Tensor q_BKGLD = grouped(q_BHLD, kv_heads, type), grad_out_BKGLD = grouped(grad_out_BHLD, kv_heads, type);
  const at::Tensor k = k_BKMD.to(type), v = v_BKMD.to(type);
  const at::Tensor lse_BKGL = merged.lse_BHL.unflatten(1, {kv_heads, q_BHLD.size(1) / kv_heads});
  const at::Tensor p_BKGLM = probabilities(scores_BKGLM(q_BKGLD, k, mask, scale), lse_BKGL);
  const at::Tensor delta_BKGL = (grad_out_BKGLD * grouped(merged.out_BHLD, kv_heads, type)).sum(-1);
  at::Tensor grad_p_BKGLM = at::matmul(grad_out_BKGLD, v.unsqueeze(2).transpose(-1, -2));
  const at::Tensor grad_scores_BKGLM = grad_p_BKGLM.sub_(delta_BKGL.unsqueeze(-1)).mul_(p_BKGLM).mul_(scale);
  return {at::matmul(grad_scores_BKGLM, k.unsqueeze(2)).flatten(1, 2).to(q_BHLD.scalar_type()),
          at::matmul(grad_scores_BKGLM.transpose(-1, -2), q_BKGLD).sum(2).to(k_BKMD.scalar_type()),
          at::matmul(p_BKGLM.transpose(-1, -2), grad_out_BKGLD).sum(2).to(v_BKMD.scalar_type())};
}

}  // namespace ringwright::worker::kernels
