#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>

#include "daemon/worker/models/llama_blocks.h"

namespace ringwright::worker {
namespace {

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return bias.defined() ? at::linear(x, weight, bias) : at::linear(x, weight);
}

at::Tensor rotate(const at::Tensor& x_THD, const RopeTable& rope) {
  const at::Tensor x = x_THD.to(at::kFloat), cos = rope.cos_Th.unsqueeze(1), sin = rope.sin_Th.unsqueeze(1);
  const int64_t half = x.size(-1) / 2;
  const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
  return at::cat({a * cos - b * sin, b * cos + a * sin}, -1).to(x_THD.scalar_type());
}

}  // namespace

bool fused_blocks_apply(const at::Tensor& x) { return x.is_cpu() && x.scalar_type() == at::kFloat; }

at::Tensor rms_norm_composed(const at::Tensor& x_Td, const at::Tensor& weight_d, double eps) {
  const at::Tensor x = x_Td.to(x_Td.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  return weight_d * (x * at::rsqrt(x.square().mean(-1, true) + eps)).to(x_Td.scalar_type());
}

AttentionInputs attention_inputs_composed(const at::Tensor& x_Td, const AttentionInputWeights& weights, const RopeTable& rope, int64_t head_dim,
                                          double eps) {
  const at::Tensor a_Td = rms_norm_composed(x_Td, weights.norm_d, eps);
  const int64_t rows = x_Td.size(0);
  const auto project = [&](const at::Tensor& weight, const at::Tensor& bias) { return linear(a_Td, weight, bias).view({rows, -1, head_dim}); };
  return {rotate(project(weights.q_Qd, weights.q_bias), rope), rotate(project(weights.k_Pd, weights.k_bias), rope),
          project(weights.v_Pd, weights.v_bias)};
}

at::Tensor mlp_residual_composed(const at::Tensor& x_Td, const MlpWeights& weights, double eps) {
  const at::Tensor a_Td = rms_norm_composed(x_Td, weights.norm_d, eps);
  const at::Tensor h_TF = at::silu(linear(a_Td, weights.gate_Fd, weights.gate_bias)) * linear(a_Td, weights.up_Fd, weights.up_bias);
  return x_Td + linear(h_TF, weights.down_dF, weights.down_bias);
}

at::Tensor project_residual(const at::Tensor& x_Td, const at::Tensor& attended_TQ, const at::Tensor& weight_dQ, const at::Tensor& bias_d) {
  const at::Tensor sum_Td = at::addmm(x_Td, attended_TQ, weight_dQ.t());
  return bias_d.defined() ? sum_Td + bias_d : sum_Td;
}

}  // namespace ringwright::worker
