// The two halves of a Llama layer around attention, each one autograd node: between forward and backward they keep their input and what cannot be
// recomputed cheaply, and run the norm, rope and gating in fused loops where the tensors are float32 on a CPU. Elsewhere the same maths is composed
// of LibTorch's operators; the tests compare the two.
//
// Shape letters: T tokens (all rows), d hidden size, H query heads, K key/value heads, D head size, F width of the MLP.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "daemon/worker/models/rope.h"

namespace ringwright::worker {

// y = weight * x / sqrt(mean(x^2) + eps), over the last axis; in half precision the normalised value is rounded before it meets the weight.
at::Tensor rms_norm(const at::Tensor& x_Td, const at::Tensor& weight_d, double eps);

struct AttentionInputWeights {
  at::Tensor norm_d, q_Qd, k_Pd, v_Pd;  // Q = H D, P = K D
  at::Tensor q_bias, k_bias, v_bias;    // undefined: none
};
struct AttentionInputs {
  at::Tensor q_THD, k_TKD, v_TKD;
};
// Norm, projections and rope.
AttentionInputs attention_inputs(const at::Tensor& x_Td, const AttentionInputWeights& weights, const RopeTable& rope, int64_t head_dim, double eps);

struct MlpWeights {
  at::Tensor norm_d, gate_Fd, up_Fd, down_dF;
  at::Tensor gate_bias, up_bias, down_bias;  // undefined: none
};
// x + down(silu(gate(norm x)) * up(norm x)).
at::Tensor mlp_residual(const at::Tensor& x_Td, const MlpWeights& weights, double eps);

// x + linear(attended).
at::Tensor project_residual(const at::Tensor& x_Td, const at::Tensor& attended_TQ, const at::Tensor& weight_dQ, const at::Tensor& bias_d);

// True where the fused loops run: float32 on the CPU.
bool fused_blocks_apply(const at::Tensor& x);
// The composed forms, for every device and type.
at::Tensor rms_norm_composed(const at::Tensor& x_Td, const at::Tensor& weight_d, double eps);
AttentionInputs attention_inputs_composed(const at::Tensor& x_Td, const AttentionInputWeights& weights, const RopeTable& rope, int64_t head_dim,
                                          double eps);
at::Tensor mlp_residual_composed(const at::Tensor& x_Td, const MlpWeights& weights, double eps);

}  // namespace ringwright::worker
