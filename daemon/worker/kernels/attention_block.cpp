#include "daemon/worker/kernels/attention_block.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "daemon/worker/kernels/attention_kernels.h"
#include "daemon/worker/kernels/plugin.h"
#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

[[noreturn]] void throw_shape(const std::string& what) {
  throw Error({.code = "RW-KERNEL-001",
               .what = what,
               .where = "attention",
               .expected = "q [B, H, L, D]; k and v [B, K, M, D] with K dividing H; L = M under a causal mask",
               .action = "look at the model's config.json: head counts and sizes",
               .exit_code = ExitCode::run_failed});
}

void check_shapes(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const BlockMask& mask) {
  const bool fits = q.dim() == 4 && k.dim() == 4 && k.sizes() == v.sizes() && q.size(0) == k.size(0) && q.size(3) == k.size(3) && k.size(1) > 0 &&
                    q.size(1) % k.size(1) == 0 && q.scalar_type() == k.scalar_type() && k.scalar_type() == v.scalar_type();
  if (!fits) {
    throw_shape(fmt::format("attention was given q [{}], k [{}], v [{}]", fmt::join(q.sizes(), ", "), fmt::join(k.sizes(), ", "),
                            fmt::join(v.sizes(), ", ")));
  }
  if (mask.causal && (q.size(2) != k.size(2) || mask.allowed_LM.defined())) {
    throw_shape(fmt::format("a causal block of {} queries and {} keys", q.size(2), k.size(2)));
  }
}

AttentionBlock empty_block(const at::Tensor& q_BHLD) {
  const at::ScalarType lse_type = q_BHLD.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return {at::zeros_like(q_BHLD), at::full({q_BHLD.size(0), q_BHLD.size(1), q_BHLD.size(2)}, -kInfinity, q_BHLD.options().dtype(lse_type))};
}

bool cuda_flash_takes(const at::Tensor& q_BHLD, const BlockMask& mask) { return !mask.allowed_LM.defined() && kernels::cuda_flash_takes(q_BHLD); }

}  // namespace

AttentionBlock attention_block_forward(const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD, const BlockMask& mask,
                                       double scale) {
  check_shapes(q_BHLD, k_BKMD, v_BKMD, mask);
  if (q_BHLD.numel() == 0 || k_BKMD.numel() == 0) {
    return empty_block(q_BHLD);  // LibTorch's operator divides by zero here and takes the process with it
  }
  if (q_BHLD.is_cpu()) {
    return kernels::flash_forward_cpu(q_BHLD, k_BKMD, v_BKMD, mask, scale);
  }
  if (cuda_flash_takes(q_BHLD, mask)) {
    return require_cuda().flash_forward(q_BHLD, k_BKMD, v_BKMD, mask.causal, scale);
  }
  return kernels::math_forward(q_BHLD, k_BKMD, v_BKMD, mask, scale);
}

AttentionBlockGradients attention_block_backward(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKMD,
                                                 const at::Tensor& v_BKMD, const AttentionBlock& merged, const BlockMask& mask, double scale) {
  check_shapes(q_BHLD, k_BKMD, v_BKMD, mask);
  if (q_BHLD.numel() == 0 || k_BKMD.numel() == 0) {
    return {at::zeros_like(q_BHLD), at::zeros_like(k_BKMD), at::zeros_like(v_BKMD)};
  }
  if (q_BHLD.is_cpu()) {
    return kernels::flash_backward_cpu(grad_out_BHLD, q_BHLD, k_BKMD, v_BKMD, merged, mask, scale);
  }
  if (cuda_flash_takes(q_BHLD, mask)) {
    return require_cuda().flash_backward(grad_out_BHLD, q_BHLD, k_BKMD, v_BKMD, merged, mask.causal, scale);
  }
  return kernels::math_backward(grad_out_BHLD, q_BHLD, k_BKMD, v_BKMD, merged, mask, scale);
}

void merge_attention_block(const AttentionBlock& into, const AttentionBlock& block) {
  // The weight of the new block is exp(l2) / (exp(l1) + exp(l2)); a row that no block has seen so far (-inf both) keeps 0.
  at::Tensor weight_BHL = (block.lse_BHL - into.lse_BHL).sigmoid_().nan_to_num_(0.0);
  into.out_BHLD.lerp_(block.out_BHLD.to(into.out_BHLD.scalar_type()), weight_BHL.unsqueeze(-1));
  at::logaddexp_out(const_cast<at::Tensor&>(into.lse_BHL), into.lse_BHL, block.lse_BHL);
}

}  // namespace ringwright::worker
