#include "daemon/worker/models/local_attention.h"

#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <string>

#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

at::Tensor one_document(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, bool causal, double scale) {
  // The flash operator takes fewer key/value heads than query heads without expanding them; the general one would copy them.
  if (q_BHLD.is_cpu() && q_BHLD.scalar_type() != at::kDouble)
    return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(q_BHLD, k_BKLD, v_BKLD, 0.0, causal, std::nullopt, scale));
  return at::scaled_dot_product_attention(q_BHLD, k_BKLD, v_BKLD, std::nullopt, 0.0, causal, scale, q_BHLD.size(1) != k_BKLD.size(1));
}

void check_documents(const std::vector<int64_t>& offsets, int64_t rows, int64_t length) {
  bool rising = offsets.front() == 0 && offsets.back() == length;
  for (size_t i = 1; i < offsets.size(); ++i) rising = rising && offsets[i] > offsets[i - 1];
  if (rows != 1 || !rising)
    throw Error({"RW-ATTN-001", "the document offsets do not fit the tokens", "packed row of " + std::to_string(length) + " tokens",
                 "one row, and rising offsets from 0 to its length", "", ExitCode::run_failed});
}

}  // namespace

at::Tensor local_attention(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, const AttentionMask& mask, double scale) {
  if (q_BHLD.numel() == 0) return q_BHLD;  // the operator would end the process
  const bool causal = mask.kind == AttentionMask::Kind::causal;
  const auto& offsets = mask.document_offsets;
  if (offsets.empty()) return one_document(q_BHLD, k_BKLD, v_BKLD, causal, scale);
  check_documents(offsets, q_BHLD.size(0), q_BHLD.size(2));
  std::vector<at::Tensor> outputs;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto part = [&](const at::Tensor& tensor) { return tensor.slice(2, offsets[i], offsets[i + 1]); };
    // Joined along the tokens of the operator's own memory order [B, L, H, D].
    outputs.push_back(one_document(part(q_BHLD), part(k_BKLD), part(v_BKLD), causal, scale).transpose(1, 2));
  }
  return at::cat(outputs, 1).transpose(1, 2);
}

}  // namespace ringwright::worker
