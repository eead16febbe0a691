#include "daemon/worker/models/llama_blocks.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include "daemon/worker/kernels/simd/row_kernels.h"

namespace ringwright::worker {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

float* data(const at::Tensor& tensor) { return tensor.data_ptr<float>(); }

// An autograd node takes no undefined tensor: an absent bias goes through it as an empty one.
bool is_present(const at::Tensor& bias) { return bias.numel() > 0; }
at::Tensor or_empty(const at::Tensor& bias, const at::Tensor& like) { return bias.defined() ? bias : at::empty({0}, like.options()); }

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return is_present(bias) ? at::linear(x, weight, bias) : at::linear(x, weight);
}

struct Normed {
  at::Tensor y_Td, rstd_T;
};
Normed norm_forward(const at::Tensor& x_Td, const at::Tensor& weight_d, double eps) {
  Normed normed{at::empty_like(x_Td), at::empty({x_Td.size(0)}, x_Td.options())};
  simd::rms_norm_forward(data(x_Td), data(weight_d), static_cast<float>(eps), x_Td.size(0), x_Td.size(1), data(normed.y_Td), data(normed.rstd_T));
  return normed;
}

at::Tensor norm_again(const at::Tensor& x_Td, const at::Tensor& weight_d, const at::Tensor& rstd_T) {
  at::Tensor y_Td = at::empty_like(x_Td);
  simd::rms_norm_again(data(x_Td), data(weight_d), data(rstd_T), x_Td.size(0), x_Td.size(1), data(y_Td));
  return y_Td;
}

struct NormGradients {
  at::Tensor x_Td, weight_d;
};
// `residual_Td`: added to the gradient of x; undefined: none.
NormGradients norm_backward(const at::Tensor& dy_Td, const at::Tensor& x_Td, const at::Tensor& weight_d, const at::Tensor& rstd_T,
                            const at::Tensor& residual_Td) {
  NormGradients gradients{at::empty_like(x_Td), at::empty_like(weight_d)};
  simd::rms_norm_backward(data(dy_Td), data(x_Td), data(weight_d), data(rstd_T), residual_Td.defined() ? data(residual_Td) : nullptr, x_Td.size(0),
                          x_Td.size(1), data(gradients.x_Td), data(gradients.weight_d));
  return gradients;
}

void rotate(const at::Tensor& x_TQ, const at::Tensor& cos_Th, const at::Tensor& sin_Th, bool inverse) {
  const int64_t head_dim = 2 * cos_Th.size(1);
  simd::rotate_halves(data(x_TQ), data(cos_Th), data(sin_Th), x_TQ.size(0), x_TQ.size(1) / head_dim, head_dim, inverse);
}

at::Tensor bias_gradient(const at::Tensor& gradient_TQ, const at::Tensor& bias) { return is_present(bias) ? gradient_TQ.sum(0) : at::Tensor(); }

// A gradient that an earlier node may share must not be changed in place.
at::Tensor own_copy(const at::Tensor& gradient, int64_t rows) {
  const at::Tensor flat = gradient.reshape({rows, -1});
  return flat.is_alias_of(gradient) ? flat.clone(at::MemoryFormat::Contiguous) : flat;
}

class NormFunction : public torch::autograd::Function<NormFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x_Td, const Variable& weight_d, double eps) {
    Normed normed = norm_forward(x_Td, weight_d, eps);
    context->save_for_backward({x_Td, weight_d, normed.rstd_T});
    return normed.y_Td;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const NormGradients out = norm_backward(gradients[0].contiguous(), saved[0], saved[1], saved[2], {});
    return {out.x_Td, out.weight_d, {}};
  }
};

class AttentionInputsFunction : public torch::autograd::Function<AttentionInputsFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Variable& x_Td, const Variable& norm_d, const Variable& q_Qd, const Variable& k_Pd,
                               const Variable& v_Pd, const Variable& q_bias, const Variable& k_bias, const Variable& v_bias, const Variable& cos_Th,
                               const Variable& sin_Th, double eps) {
    const Normed normed = norm_forward(x_Td, norm_d, eps);
    at::Tensor q_TQ = linear(normed.y_Td, q_Qd, q_bias), k_TP = linear(normed.y_Td, k_Pd, k_bias), v_TP = linear(normed.y_Td, v_Pd, v_bias);
    rotate(q_TQ, cos_Th, sin_Th, false);
    rotate(k_TP, cos_Th, sin_Th, false);
    context->save_for_backward({x_Td, norm_d, q_Qd, k_Pd, v_Pd, q_bias, k_bias, v_bias, cos_Th, sin_Th, normed.rstd_T});
    const int64_t rows = x_Td.size(0), head_dim = 2 * cos_Th.size(1);
    return {q_TQ.view({rows, -1, head_dim}), k_TP.view({rows, -1, head_dim}), v_TP.view({rows, -1, head_dim})};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x_Td = saved[0], &cos_Th = saved[8], &sin_Th = saved[9];
    const int64_t rows = x_Td.size(0);
    const at::Tensor dq_TQ = own_copy(gradients[0], rows), dk_TP = own_copy(gradients[1], rows),
                     dv_TP = gradients[2].reshape({rows, -1}).contiguous();
    rotate(dq_TQ, cos_Th, sin_Th, true);
    rotate(dk_TP, cos_Th, sin_Th, true);
    const at::Tensor a_Td = norm_again(x_Td, saved[1], saved[10]);
    at::Tensor da_Td = at::mm(dq_TQ, saved[2]);
    da_Td.addmm_(dk_TP, saved[3]).addmm_(dv_TP, saved[4]);
    const NormGradients norm = norm_backward(da_Td, x_Td, saved[1], saved[10], {});
    return {norm.x_Td,
            norm.weight_d,
            at::mm(dq_TQ.t(), a_Td),
            at::mm(dk_TP.t(), a_Td),
            at::mm(dv_TP.t(), a_Td),
            bias_gradient(dq_TQ, saved[5]),
            bias_gradient(dk_TP, saved[6]),
            bias_gradient(dv_TP, saved[7]),
            {},
            {},
            {}};
  }
};

class MlpFunction : public torch::autograd::Function<MlpFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x_Td, const Variable& norm_d, const Variable& gate_Fd, const Variable& up_Fd,
                          const Variable& down_dF, const Variable& gate_bias, const Variable& up_bias, const Variable& down_bias, double eps) {
    const Normed normed = norm_forward(x_Td, norm_d, eps);
    const at::Tensor g_TF = linear(normed.y_Td, gate_Fd, gate_bias), u_TF = linear(normed.y_Td, up_Fd, up_bias);
    const at::Tensor h_TF = at::empty_like(g_TF);
    simd::silu_multiply_forward(data(g_TF), data(u_TF), g_TF.numel(), data(h_TF));
    at::Tensor out_Td = at::addmm(x_Td, h_TF, down_dF.t());
    if (is_present(down_bias)) out_Td.add_(down_bias);
    context->save_for_backward({x_Td, norm_d, gate_Fd, up_Fd, down_dF, gate_bias, up_bias, down_bias, normed.rstd_T, g_TF, u_TF});
    return out_Td;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor dout_Td = gradients[0].contiguous(), &x_Td = saved[0], &g_TF = saved[9], &u_TF = saved[10];
    at::Tensor work_TF = at::empty_like(g_TF);  // first h, then its gradient
    simd::silu_multiply_forward(data(g_TF), data(u_TF), g_TF.numel(), data(work_TF));
    const at::Tensor ddown_dF = at::mm(dout_Td.t(), work_TF);
    at::mm_out(work_TF, dout_Td, saved[4]);
    const at::Tensor dg_TF = at::empty_like(g_TF), du_TF = at::empty_like(g_TF);
    simd::silu_multiply_backward(data(work_TF), data(g_TF), data(u_TF), g_TF.numel(), data(dg_TF), data(du_TF));
    work_TF.reset();
    const at::Tensor a_Td = norm_again(x_Td, saved[1], saved[8]);
    at::Tensor da_Td = at::mm(dg_TF, saved[2]);
    da_Td.addmm_(du_TF, saved[3]);
    const NormGradients norm = norm_backward(da_Td, x_Td, saved[1], saved[8], dout_Td);
    return {norm.x_Td,
            norm.weight_d,
            at::mm(dg_TF.t(), a_Td),
            at::mm(du_TF.t(), a_Td),
            ddown_dF,
            bias_gradient(dg_TF, saved[5]),
            bias_gradient(du_TF, saved[6]),
            bias_gradient(dout_Td, saved[7]),
            {}};
  }
};

}  // namespace

at::Tensor rms_norm(const at::Tensor& x_Td, const at::Tensor& weight_d, double eps) {
  return fused_blocks_apply(x_Td) ? NormFunction::apply(x_Td.contiguous(), weight_d, eps) : rms_norm_composed(x_Td, weight_d, eps);
}

AttentionInputs attention_inputs(const at::Tensor& x_Td, const AttentionInputWeights& w, const RopeTable& rope, int64_t head_dim, double eps) {
  if (!fused_blocks_apply(x_Td)) return attention_inputs_composed(x_Td, w, rope, head_dim, eps);
  const auto bias = [&](const at::Tensor& tensor) { return or_empty(tensor, x_Td); };
  const auto out = AttentionInputsFunction::apply(x_Td.contiguous(), w.norm_d, w.q_Qd, w.k_Pd, w.v_Pd, bias(w.q_bias), bias(w.k_bias), bias(w.v_bias),
                                                  rope.cos_Th, rope.sin_Th, eps);
  return {out[0], out[1], out[2]};
}

at::Tensor mlp_residual(const at::Tensor& x_Td, const MlpWeights& w, double eps) {
  if (!fused_blocks_apply(x_Td)) return mlp_residual_composed(x_Td, w, eps);
  const auto bias = [&](const at::Tensor& tensor) { return or_empty(tensor, x_Td); };
  return MlpFunction::apply(x_Td.contiguous(), w.norm_d, w.gate_Fd, w.up_Fd, w.down_dF, bias(w.gate_bias), bias(w.up_bias), bias(w.down_bias), eps);
}

}  // namespace ringwright::worker
