#include "daemon/worker/algorithms/fused_nll.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <string>

#include "daemon/worker/kernels/simd/row_kernels.h"
#include "shared/base/error.h"
#include "shared/estimate/logits_chunk.h"

namespace ringwright::worker {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

int64_t rows_per_chunk(int64_t asked, int64_t vocabulary) { return asked > 0 ? asked : estimate::logits_chunk_rows(vocabulary); }

// Turns a chunk's logits into log-probabilities, and, with weights, the logits themselves into their gradient.
at::Tensor nll_chunk_fused(at::Tensor& logits_CV, const at::Tensor& targets_C, const at::Tensor& weights_C) {
  at::Tensor logprobs_C = at::empty({logits_CV.size(0)}, logits_CV.options());
  simd::nll_rows(logits_CV.data_ptr<float>(), targets_C.data_ptr<int64_t>(), weights_C.defined() ? weights_C.data_ptr<float>() : nullptr,
                 logits_CV.size(0), logits_CV.size(1), logprobs_C.data_ptr<float>());
  return logprobs_C;
}

at::Tensor nll_chunk_composed(at::Tensor& logits_CV, const at::Tensor& targets_C, const at::Tensor& weights_C) {
  at::Tensor log_p_CV = at::log_softmax(logits_CV, -1, logits_CV.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  const at::Tensor logprobs_C = log_p_CV.gather(1, targets_C.unsqueeze(1)).squeeze(1);
  if (weights_C.defined()) {
    const at::Tensor weights_C1 = weights_C.to(log_p_CV.scalar_type()).unsqueeze(1);
    log_p_CV.exp_().mul_(weights_C1);
    log_p_CV.scatter_add_(1, targets_C.unsqueeze(1), -weights_C1);
    logits_CV = log_p_CV.to(logits_CV.scalar_type());
  }
  return logprobs_C;
}

struct Pass {
  at::Tensor logprobs_T, hidden_gradient_Td, weight_gradient_Vd;
};

// All chunks of tokens that have a target. Without weights: log-probabilities only.
Pass run_chunks(const at::Tensor& hidden_Td, const at::Tensor& weight_Vd, const at::Tensor& targets_T, const at::Tensor& weights_T,
                int64_t chunk_rows) {
  const at::NoGradGuard no_grad;
  const bool fused = hidden_Td.is_cpu() && hidden_Td.scalar_type() == at::kFloat, gradients = weights_T.defined();
  const int64_t rows = hidden_Td.size(0), vocabulary = weight_Vd.size(0),
                chunk = std::min(rows_per_chunk(chunk_rows, vocabulary), std::max<int64_t>(1, rows));
  Pass pass{at::empty({rows}, hidden_Td.options().dtype(hidden_Td.scalar_type() == at::kDouble ? at::kDouble : at::kFloat)), {}, {}};
  if (gradients)
    pass.hidden_gradient_Td = at::empty_like(hidden_Td), pass.weight_gradient_Vd = rows > 0 ? at::empty_like(weight_Vd) : at::zeros_like(weight_Vd);
  const at::Tensor buffer_CV = at::empty({chunk, vocabulary}, hidden_Td.options());
  for (int64_t begin = 0; begin < rows; begin += chunk) {
    const int64_t count = std::min(chunk, rows - begin);
    const at::Tensor hidden_Cd = hidden_Td.narrow(0, begin, count);
    at::Tensor logits_CV = buffer_CV.narrow(0, 0, count);
    at::mm_out(logits_CV, hidden_Cd, weight_Vd.t());
    const auto nll_chunk = fused ? nll_chunk_fused : nll_chunk_composed;
    pass.logprobs_T.narrow(0, begin, count)
        .copy_(nll_chunk(logits_CV, targets_T.narrow(0, begin, count), gradients ? weights_T.narrow(0, begin, count) : at::Tensor()));
    if (!gradients) continue;
    at::Tensor hidden_gradient_Cd = pass.hidden_gradient_Td.narrow(0, begin, count);
    at::mm_out(hidden_gradient_Cd, logits_CV, weight_Vd);
    if (begin == 0) {
      at::mm_out(pass.weight_gradient_Vd, logits_CV.t(), hidden_Cd);
    } else {
      pass.weight_gradient_Vd.addmm_(logits_CV.t(), hidden_Cd);
    }
  }
  return pass;
}

// The same, with the tokens that have no target left out of the matrix products.
Pass run_targets(const at::Tensor& hidden_Td, const at::Tensor& weight_Vd, const at::Tensor& targets_T, const at::Tensor& weights_T,
                 int64_t chunk_rows) {
  const at::NoGradGuard no_grad;
  const at::Tensor rows_N = (targets_T >= 0).nonzero().squeeze(1);
  if (rows_N.size(0) == targets_T.size(0))
    return run_chunks(hidden_Td.contiguous(), weight_Vd, targets_T.contiguous(), weights_T.defined() ? weights_T.contiguous() : weights_T,
                      chunk_rows);
  const Pass some = run_chunks(hidden_Td.index_select(0, rows_N), weight_Vd, targets_T.index_select(0, rows_N),
                               weights_T.defined() ? weights_T.index_select(0, rows_N) : weights_T, chunk_rows);
  Pass all{at::zeros({hidden_Td.size(0)}, some.logprobs_T.options()).index_copy_(0, rows_N, some.logprobs_T), {}, some.weight_gradient_Vd};
  if (weights_T.defined()) all.hidden_gradient_Td = at::zeros_like(hidden_Td).index_copy_(0, rows_N, some.hidden_gradient_Td);
  return all;
}

class FusedNllFunction : public torch::autograd::Function<FusedNllFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Variable& hidden_Td, const Variable& weight_Vd, const at::Tensor& targets_T,
                               const at::Tensor& weights_T, int64_t chunk_rows) {
    Pass pass = run_targets(hidden_Td, weight_Vd, targets_T, weights_T, chunk_rows);
    // Selected, not multiplied: what stands at a token without weight must not reach the loss.
    const at::Tensor loss = -(pass.logprobs_T * weights_T).masked_fill(weights_T == 0, 0).sum();
    context->save_for_backward({pass.hidden_gradient_Td, pass.weight_gradient_Vd});
    context->mark_non_differentiable({pass.logprobs_T});
    return {loss, pass.logprobs_T};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    at::Tensor hidden_Td = saved[0], weight_Vd = saved[1];
    if (const at::Tensor& scale = gradients[0]; !scale.is_cpu() || scale.item<double>() != 1) {
      hidden_Td = hidden_Td * scale;
      weight_Vd = weight_Vd * scale;
    }
    return {hidden_Td, weight_Vd, {}, {}, {}};
  }
};

void check_targets(const at::Tensor& targets_T, int64_t vocabulary) {
  if (targets_T.numel() == 0) return;
  if (const auto largest = targets_T.max().item<int64_t>(); largest >= vocabulary)
    throw Error({"RW-LOSS-001", "token id " + std::to_string(largest) + " is outside the model's vocabulary", "targets of the loss",
                 "ids below " + std::to_string(vocabulary), "use the tokenizer that belongs to the model", ExitCode::refused});
}

}  // namespace

FusedNll fused_linear_nll(const at::Tensor& hidden_Td, const at::Tensor& weight_Vd, const at::Tensor& targets_T, const at::Tensor& weights_T,
                          int64_t chunk_rows) {
  check_targets(targets_T, weight_Vd.size(0));
  if (!at::GradMode::is_enabled() || (!hidden_Td.requires_grad() && !weight_Vd.requires_grad())) {
    const at::Tensor logprobs_T = token_logprobs(hidden_Td, weight_Vd, targets_T, chunk_rows);
    return {-(logprobs_T * weights_T).masked_fill(weights_T == 0, 0).sum(), logprobs_T};
  }
  const auto out = FusedNllFunction::apply(hidden_Td, weight_Vd, targets_T, weights_T, chunk_rows);
  return {out[0], out[1].detach()};
}

at::Tensor token_logprobs(const at::Tensor& hidden_Td, const at::Tensor& weight_Vd, const at::Tensor& targets_T, int64_t chunk_rows) {
  check_targets(targets_T, weight_Vd.size(0));
  return run_targets(hidden_Td, weight_Vd, targets_T, {}, chunk_rows).logprobs_T;
}

}  // namespace ringwright::worker
