// Llama, and the families that are made of the same layer (shared/model/families.h): forward pass over tokens in any order; LibTorch's autograd takes
// it back.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

#include "daemon/worker/checkpoint/load.h"
#include "daemon/worker/context_parallel/attention.h"
#include "daemon/worker/models/llama_blocks.h"
#include "shared/model/config.h"

namespace ringwright::worker {

class LlamaModel {
 public:
  // Called after each layer with its number and its output x_Td (T = B L), before the final norm.
  using LayerObserver = std::function<void(int64_t layer, const at::Tensor& x_Td)>;

  // `parameters`: those of model::parameter_specs(config), all on one device and of one type. They are shared, not copied, and set to require
  // gradients.
  LlamaModel(model::ModelConfig config, TensorMap parameters);

  // ids_BL and positions_BL (int64, global positions, counted within each document) of this rank's tokens, in local order.
  // `longest_length`: tokens of the longest document or row over all ranks, padding included; 0: the largest position here + 1. Only rope type
  // "dynamic" looks at it. Returns the hidden states after the final norm, [B, L, d].
  at::Tensor forward_hidden(const at::Tensor& ids_BL, const at::Tensor& positions_BL, const LayerAttentions& attentions, const layout::Mask& mask,
                            int64_t longest_length = 0, const LayerObserver& observer = {}) const;
  // Attention blocks that would go over a CP group of `cp_size` ranks with these functions: what a set-up is checked by.
  int64_t attention_blocks_over(const LayerAttentions& attentions, int cp_size) const;
  // hidden_BLd -> logits_BLV in float32. Holds all logits: for evaluation of short inputs; training uses fused_linear_nll.
  at::Tensor logits(const at::Tensor& hidden_BLd) const;
  // [V, d]; the embedding where the model is tied.
  const at::Tensor& head_weight() const;

  const model::ModelConfig& config() const { return config_; }
  // By the checkpoint's names; a tied tensor stands there once. Gradients are in each tensor's grad().
  const TensorMap& parameters() const { return parameters_; }

 private:
  struct Layer {
    AttentionInputWeights attention;
    at::Tensor o_dQ, o_bias;
    MlpWeights mlp;
  };
  Layer layer_of(int64_t index) const;
  // The mask of a layer: `mask`, within the layer's window where it has one.
  layout::Mask mask_of(int64_t layer, const layout::Mask& mask) const;
  at::Tensor forward_layer(const Layer& layer, const at::Tensor& x_Td, int64_t rows, const RopeTable& rope, const AttentionFunction& attention,
                           const layout::Mask& mask) const;

  model::ModelConfig config_;
  TensorMap parameters_;
  std::vector<Layer> layers_;
};

}  // namespace ringwright::worker
