// The seam between a model and context parallelism. A model calls an AttentionFunction and never learns the layout; what stands behind it is
// attention over the rank's own tokens, or a method that exchanges keys, values or heads over the CP group.
//
// Context parallelism is a property of the function that a call goes to, never of the process: a model may hand one layer a function over the
// CP group and the next one local attention.
//
// Shape letters: B rows, L local tokens, H query heads, K key/value heads (K divides H, never expanded), D head size.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <type_traits>
#include <utility>

#include "shared/layout/mask.h"

namespace ringwright::worker {

// (q_BHLD, k_BKLD, v_BKLD, mask, scale) -> out_BHLD. Differentiable. Local tokens stand in the layout's local order; the mask is in global
// positions of the padded sequence and holds for every row.
class AttentionFunction {
 public:
  using Call =
      std::function<at::Tensor(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, const layout::Mask& mask, double scale)>;

  AttentionFunction() = default;
  // cp_size: ranks of the CP group that the call works over; 1: it stays on its rank.
  template <typename F>
    requires(std::is_constructible_v<Call, F> && !std::is_same_v<std::remove_cvref_t<F>, AttentionFunction>)
  AttentionFunction(F&& call, int cp_size = 1) : call_(std::forward<F>(call)), cp_size_(cp_size) {}

  at::Tensor operator()(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, const layout::Mask& mask, double scale) const {
    return call_(q_BHLD, k_BKLD, v_BKLD, mask, scale);
  }
  int cp_size() const { return cp_size_; }

 private:
  Call call_;
  int cp_size_ = 1;
};

// The attention of each layer of a model: one function for all of them, but for layers that were given their own.
class LayerAttentions {
 public:
  template <typename F>
    requires(std::is_constructible_v<AttentionFunction, F> && !std::is_same_v<std::remove_cvref_t<F>, LayerAttentions>)
  LayerAttentions(F&& every_layer) : every_layer_(std::forward<F>(every_layer)) {}

  void set(int64_t layer, AttentionFunction attention) { own_[layer] = std::move(attention); }
  const AttentionFunction& of(int64_t layer) const {
    const auto found = own_.find(layer);
    return found == own_.end() ? every_layer_ : found->second;
  }

 private:
  AttentionFunction every_layer_;
  std::map<int64_t, AttentionFunction> own_;
};

}  // namespace ringwright::worker
