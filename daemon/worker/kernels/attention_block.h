// Attention of some queries over some keys, with the log-sum-exp that lets blocks be merged: the operator below ring attention.
//
// Shape letters: B rows, L queries, M keys, H query heads, K key/value heads (K divides H, never expanded), D head size.
#pragma once

#include <ATen/core/Tensor.h>

namespace ringwright::worker {

struct BlockMask {
  // Query i sees keys 0..i; L and M must be equal.
  bool causal = false;
  // bool [L, M], true where the query sees the key; undefined: no such mask. Not together with `causal`.
  at::Tensor allowed_LM;
};

struct AttentionBlock {
  at::Tensor out_BHLD;  // type of the queries; 0 in rows that see no key
  at::Tensor lse_BHL;   // float32 (float64 for float64 queries), natural logarithm; -inf in rows that see no key
};

struct AttentionBlockGradients {
  at::Tensor q_BHLD;
  at::Tensor k_BKMD;
  at::Tensor v_BKMD;
};

// The softmax of scale * q k^T, times v. L = 0 and M = 0 are allowed. Throws Error RW-KERNEL-001 for shapes that do not fit together.
AttentionBlock attention_block_forward(const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD, const BlockMask& mask,
                                       double scale);

// This block's share of the gradients, given the MERGED output and log-sum-exp of its queries (FlashAttention 2, arXiv 2307.08691, algorithm 2).
AttentionBlockGradients attention_block_backward(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKMD,
                                                 const at::Tensor& v_BKMD, const AttentionBlock& merged, const BlockMask& mask, double scale);

// Merges `block` into `into`, in place: the result is what one block over the keys of both had given. `into.out_BHLD` must have the type of
// `into.lse_BHL` (float32 or float64), so that many merges do not add up rounding.
void merge_attention_block(const AttentionBlock& into, const AttentionBlock& block);

}  // namespace ringwright::worker
