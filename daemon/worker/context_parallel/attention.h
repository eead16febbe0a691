// The seam between a model and context parallelism. A model calls an AttentionFunction and never learns the layout; what stands behind
// it is plain attention at cp = 1, or a ring over the CP group.
//
// Shape letters: B rows, L local tokens, H query heads, K key/value heads (K divides H, never expanded), D head size.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace ringwright::worker {

struct AttentionMask {
  enum class Kind { causal, full };
  Kind kind = Kind::causal;
  // Packed documents in one row (B = 1): cumulative lengths in GLOBAL positions, [0, ..., T]. Empty: one document.
  std::vector<int64_t> document_offsets;
};

// (q_BHLD, k_BKLD, v_BKLD, mask, scale) -> out_BHLD. Differentiable. Local tokens stand in the layout's local order.
using AttentionFunction =
    std::function<at::Tensor(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, const AttentionMask& mask, double scale)>;

}  // namespace ringwright::worker
