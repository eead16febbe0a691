#include "daemon/worker/kernels/attention_pack.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "daemon/worker/kernels/attention_kernels.h"
#include "daemon/worker/kernels/plugin.h"

namespace ringwright::worker {
namespace {

at::Tensor queries_of(const at::Tensor& x, const BlockRange& block) { return x.narrow(2, block.query_start, block.query_length); }
at::Tensor keys_of(const at::Tensor& x, const BlockRange& block) { return x.narrow(2, block.key_start, block.key_length); }

// The blocks' stretches of [1, heads, length, D], one after the other: [T, heads, D].
template <typename Part>
at::Tensor packed_THD(const at::Tensor& x_BHLD, const std::vector<BlockRange>& blocks, Part&& part) {
  std::vector<at::Tensor> parts;
  for (const BlockRange& block : blocks) parts.push_back(part(x_BHLD, block).squeeze(0).transpose(0, 1));
  return at::cat(parts, 0);
}

PackedLengths lengths_of(const std::vector<BlockRange>& blocks, const at::Device& device) {
  std::vector<int32_t> queries = {0}, keys = {0};
  PackedLengths lengths;
  for (const BlockRange& block : blocks) {
    queries.push_back(queries.back() + static_cast<int32_t>(block.query_length));
    keys.push_back(keys.back() + static_cast<int32_t>(block.key_length));
    lengths.query_length_max = std::max(lengths.query_length_max, block.query_length);
    lengths.key_length_max = std::max(lengths.key_length_max, block.key_length);
  }
  lengths.query_offsets = at::tensor(queries, at::kInt).to(device);
  lengths.key_offsets = at::tensor(keys, at::kInt).to(device);
  return lengths;
}

// A stretch of [T, heads, D] as [1, heads, length, D].
at::Tensor unpacked(const at::Tensor& x_THD, int64_t start, int64_t length) { return x_THD.narrow(0, start, length).transpose(0, 1).unsqueeze(0); }

}  // namespace

bool packs_blocks(const at::Tensor& q_BHLD) { return q_BHLD.size(0) == 1 && kernels::cuda_flash_takes(q_BHLD); }

std::vector<AttentionBlock> attention_blocks_forward(const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD,
                                                     const std::vector<BlockRange>& blocks, bool causal, double scale) {
  std::vector<AttentionBlock> results;
  if (!packs_blocks(q_BHLD)) {
    for (const BlockRange& block : blocks) {
      results.push_back(attention_block_forward(queries_of(q_BHLD, block), keys_of(k_BKMD, block), keys_of(v_BKMD, block),
                                                {.causal = causal, .allowed_LM = {}}, scale));
    }
    return results;
  }
  const PackedBlock all =
      require_cuda().flash_packed_forward(packed_THD(q_BHLD, blocks, queries_of), packed_THD(k_BKMD, blocks, keys_of),
                                          packed_THD(v_BKMD, blocks, keys_of), lengths_of(blocks, q_BHLD.device()), causal, scale);
  int64_t start = 0;
  for (const BlockRange& block : blocks) {
    results.push_back({unpacked(all.out_THD, start, block.query_length), all.lse_HT.narrow(1, start, block.query_length).unsqueeze(0)});
    start += block.query_length;
  }
  return results;
}

std::vector<AttentionBlockGradients> attention_blocks_backward(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKMD,
                                                               const at::Tensor& v_BKMD, const AttentionBlock& merged,
                                                               const std::vector<BlockRange>& blocks, bool causal, double scale) {
  std::vector<AttentionBlockGradients> results;
  const auto lse_of = [&](const BlockRange& block) { return merged.lse_BHL.narrow(2, block.query_start, block.query_length); };
  if (!packs_blocks(q_BHLD)) {
    for (const BlockRange& block : blocks) {
      results.push_back(attention_block_backward(queries_of(grad_out_BHLD, block), queries_of(q_BHLD, block), keys_of(k_BKMD, block),
                                                 keys_of(v_BKMD, block), {queries_of(merged.out_BHLD, block), lse_of(block)},
                                                 {.causal = causal, .allowed_LM = {}}, scale));
    }
    return results;
  }
  std::vector<at::Tensor> lse_parts;
  for (const BlockRange& block : blocks) lse_parts.push_back(lse_of(block).squeeze(0));
  const PackedBlock packed_merged{packed_THD(merged.out_BHLD, blocks, queries_of), at::cat(lse_parts, 1)};
  const PackedGradients all = require_cuda().flash_packed_backward(
      packed_THD(grad_out_BHLD, blocks, queries_of), packed_THD(q_BHLD, blocks, queries_of), packed_THD(k_BKMD, blocks, keys_of),
      packed_THD(v_BKMD, blocks, keys_of), packed_merged, lengths_of(blocks, q_BHLD.device()), causal, scale);
  int64_t query = 0, key = 0;
  for (const BlockRange& block : blocks) {
    results.push_back(
        {unpacked(all.q_THD, query, block.query_length), unpacked(all.k_TKD, key, block.key_length), unpacked(all.v_TKD, key, block.key_length)});
    query += block.query_length;
    key += block.key_length;
  }
  return results;
}

}  // namespace ringwright::worker
