// LibTorch's FlashAttention 2. Its tensors are [B, L, H, D]; it takes fewer KV heads as they are, and head sizes that are multiples of 8.
#include <ATen/ATen.h>

#include "daemon/worker/kernels/cuda/cuda_functions.h"

namespace ringwright::worker::cuda {
namespace {

constexpr int64_t kHeadSizeMultiple = 8;

// Head sizes are padded with 0: that changes neither scores nor the first D columns of the result.
at::Tensor padded(const at::Tensor& x_D) {
  const int64_t missing = (kHeadSizeMultiple - x_D.size(-1) % kHeadSizeMultiple) % kHeadSizeMultiple;
  return missing == 0 ? x_D.contiguous() : at::constant_pad_nd(x_D, {0, missing}).contiguous();
}

// [B, H, L, D] -> [B, L, H, padded D].
at::Tensor to_flash(const at::Tensor& x_BHLD) { return padded(x_BHLD.transpose(1, 2)); }

at::Tensor from_flash(const at::Tensor& x_BLHD, int64_t head_size) { return x_BLHD.narrow(3, 0, head_size).transpose(1, 2); }

}  // namespace

AttentionBlock flash_forward(const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD, bool causal, double scale) {
  const auto result = at::_flash_attention_forward(to_flash(q_BHLD), to_flash(k_BKMD), to_flash(v_BKMD), std::nullopt, std::nullopt, q_BHLD.size(2),
                                                   k_BKMD.size(2), 0.0, causal, false, scale);
  return {from_flash(std::get<0>(result), q_BHLD.size(3)), std::get<1>(result).narrow(2, 0, q_BHLD.size(2))};
}

AttentionBlockGradients flash_backward(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD,
                                       const AttentionBlock& merged, bool causal, double scale) {
  const at::Tensor no_random_state = at::empty({2}, q_BHLD.options().dtype(at::kLong));  // read only with dropout
  const auto [grad_q, grad_k, grad_v] = at::_flash_attention_backward(
      to_flash(grad_out_BHLD), to_flash(q_BHLD), to_flash(k_BKMD), to_flash(v_BKMD), to_flash(merged.out_BHLD), merged.lse_BHL.contiguous(),
      at::Tensor(), at::Tensor(), q_BHLD.size(2), k_BKMD.size(2), 0.0, causal, no_random_state, no_random_state, scale);
  const int64_t head_size = q_BHLD.size(3);
  return {from_flash(grad_q, head_size), from_flash(grad_k, head_size), from_flash(grad_v, head_size)};
}

PackedBlock flash_packed_forward(const at::Tensor& q_THD, const at::Tensor& k_TKD, const at::Tensor& v_TKD, const PackedLengths& lengths, bool causal,
                                 double scale) {
  const auto result = at::_flash_attention_forward(padded(q_THD), padded(k_TKD), padded(v_TKD), lengths.query_offsets, lengths.key_offsets,
                                                   lengths.query_length_max, lengths.key_length_max, 0.0, causal, false, scale);
  return {std::get<0>(result).narrow(2, 0, q_THD.size(2)), std::get<1>(result)};
}

PackedGradients flash_packed_backward(const at::Tensor& grad_out_THD, const at::Tensor& q_THD, const at::Tensor& k_TKD, const at::Tensor& v_TKD,
                                      const PackedBlock& merged, const PackedLengths& lengths, bool causal, double scale) {
  const at::Tensor no_random_state = at::empty({2}, q_THD.options().dtype(at::kLong));  // read only with dropout
  const auto [grad_q, grad_k, grad_v] = at::_flash_attention_backward(
      padded(grad_out_THD), padded(q_THD), padded(k_TKD), padded(v_TKD), padded(merged.out_THD), merged.lse_HT.contiguous(), lengths.query_offsets,
      lengths.key_offsets, lengths.query_length_max, lengths.key_length_max, 0.0, causal, no_random_state, no_random_state, scale);
  const int64_t head_size = q_THD.size(2);
  return {grad_q.narrow(2, 0, head_size), grad_k.narrow(2, 0, head_size), grad_v.narrow(2, 0, head_size)};
}

}  // namespace ringwright::worker::cuda
