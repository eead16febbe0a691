// The output projection and the negative log likelihood in one, a chunk of tokens at a time: all logits never exist at once, and their gradient is
// taken while a chunk's logits are there (idea: Liger kernel, arXiv 2410.10989).
//
// Shape letters: T tokens, d hidden size, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ringwright::worker {

struct FusedNll {
  at::Tensor loss;        // float32 scalar, -sum_t weights_T * logprobs_T; differentiable in hidden and weight
  at::Tensor logprobs_T;  // float32, log p(target), detached; 0 where the target is negative
};

// targets_T: int64 in [0, V), or negative: no target, no loss, no gradient, and its hidden state is not even read. weights_T: float32, usually
// mask / N with N the token count of the global batch, so that the losses of micro-batches and ranks add up to the batch's.
// `chunk_rows`: tokens per chunk; 0: as many as make about 64 MiB of logits.
// The returned loss may be differentiated once. Throws Error RW-LOSS-001 for a target outside the vocabulary.
FusedNll fused_linear_nll(const at::Tensor& hidden_Td, const at::Tensor& weight_Vd, const at::Tensor& targets_T, const at::Tensor& weights_T,
                          int64_t chunk_rows = 0);

// The log-probabilities alone, without gradient.
at::Tensor token_logprobs(const at::Tensor& hidden_Td, const at::Tensor& weight_Vd, const at::Tensor& targets_T, int64_t chunk_rows = 0);

}  // namespace ringwright::worker
