// What attention_block.cpp chooses from. Each function may rely on L, M > 0 and on shapes that fit together.
#pragma once

#include "daemon/worker/kernels/attention_block.h"

namespace ringwright::worker::kernels {

AttentionBlock flash_forward_cpu(const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD, const BlockMask& mask, double scale);
AttentionBlockGradients flash_backward_cpu(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKMD,
                                           const at::Tensor& v_BKMD, const AttentionBlock& merged, const BlockMask& mask, double scale);

// Whether the CUDA plug-in's flash operators take such queries, the mask aside.
bool cuda_flash_takes(const at::Tensor& q_BHLD);

// Plain matrix products, on any device and for any floating-point type. Holds all L x M scores: for types that no flash operator takes.
AttentionBlock math_forward(const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD, const BlockMask& mask, double scale);
AttentionBlockGradients math_backward(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD,
                                      const AttentionBlock& merged, const BlockMask& mask, double scale);

}  // namespace ringwright::worker::kernels
