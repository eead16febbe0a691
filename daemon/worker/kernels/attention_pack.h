// Several blocks of attention in one call of the operator: packed documents on a GPU, where a call a document would leave it idle.
//
// Shape letters as in attention_block.h; rows: one.
#pragma once

#include <vector>

#include "daemon/worker/kernels/attention_block.h"

namespace ringwright::worker {

// Queries and keys of one block, as stretches of the tensors that are handed in.
struct BlockRange {
  int64_t query_start, query_length;
  int64_t key_start, key_length;
};

// Whether a device's operator takes packed blocks of these queries. Where it does not, the calls below make one block after the other.
bool packs_blocks(const at::Tensor& q_BHLD);

// Each block on its own, in the order of `blocks`; causal: each is a square. Lengths are 1 or more. Errors: those of attention_block_forward.
std::vector<AttentionBlock> attention_blocks_forward(const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD,
                                                     const std::vector<BlockRange>& blocks, bool causal, double scale);

// `merged`: of all queries of q_BHLD.
std::vector<AttentionBlockGradients> attention_blocks_backward(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKMD,
                                                               const at::Tensor& v_BKMD, const AttentionBlock& merged,
                                                               const std::vector<BlockRange>& blocks, bool causal, double scale);

}  // namespace ringwright::worker
