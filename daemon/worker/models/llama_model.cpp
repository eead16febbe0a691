#include "daemon/worker/models/llama_model.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ringwright::worker {

LlamaModel::LlamaModel(model::ModelConfig config, TensorMap parameters) : config_(std::move(config)), parameters_(std::move(parameters)) {
  for (auto& [name, parameter] : parameters_) parameter.set_requires_grad(true);
  for (int64_t i = 0; i < config_.num_hidden_layers; ++i) layers_.push_back(layer_of(i));
}

LlamaModel::Layer LlamaModel::layer_of(int64_t index) const {
  const std::string prefix = fmt::format("model.layers.{}.", index);
  const auto weight = [&](const char* name) { return parameters_.at(prefix + name + ".weight"); };
  const auto bias = [&](const char* name) {
    const auto found = parameters_.find(prefix + name + ".bias");
    return found == parameters_.end() ? at::Tensor() : found->second;
  };
  Layer layer;
  layer.attention = {weight("input_layernorm"), weight("self_attn.q_proj"), weight("self_attn.k_proj"), weight("self_attn.v_proj"),
                     bias("self_attn.q_proj"),  bias("self_attn.k_proj"),   bias("self_attn.v_proj")};
  layer.o_dQ = weight("self_attn.o_proj");
  layer.o_bias = bias("self_attn.o_proj");
  layer.mlp = {weight("post_attention_layernorm"),
               weight("mlp.gate_proj"),
               weight("mlp.up_proj"),
               weight("mlp.down_proj"),
               bias("mlp.gate_proj"),
               bias("mlp.up_proj"),
               bias("mlp.down_proj")};
  return layer;
}

layout::Mask LlamaModel::mask_of(int64_t layer, const layout::Mask& mask) const {
  layout::Mask own = mask;
  const int64_t window = config_.limits.window(layer);
  if (window > 0) own.window = mask.window > 0 ? std::min(window, mask.window) : window;
  return own;
}

at::Tensor LlamaModel::forward_layer(const Layer& layer, const at::Tensor& x_Td, int64_t rows, const RopeTable& rope,
                                     const AttentionFunction& attention, const layout::Mask& mask) const {
  const auto inputs = attention_inputs(x_Td, layer.attention, rope, config_.head_dim, config_.rms_norm_eps);
  const int64_t length = x_Td.size(0) / rows;
  const auto heads_first = [&](const at::Tensor& x_THD) { return x_THD.view({rows, length, -1, config_.head_dim}).transpose(1, 2); };
  const double scale = 1 / std::sqrt(static_cast<double>(config_.head_dim));
  const at::Tensor out_BHLD = attention(heads_first(inputs.q_THD), heads_first(inputs.k_TKD), heads_first(inputs.v_TKD), mask, scale);
  const at::Tensor attended_TQ = out_BHLD.transpose(1, 2).reshape({rows * length, -1});
  return mlp_residual(project_residual(x_Td, attended_TQ, layer.o_dQ, layer.o_bias), layer.mlp, config_.rms_norm_eps);
}

at::Tensor LlamaModel::forward_hidden(const at::Tensor& ids_BL, const at::Tensor& positions_BL, const LayerAttentions& attentions,
                                      const layout::Mask& mask, int64_t longest_length, const LayerObserver& observer) const {
  if (config_.rope.type == "dynamic" && longest_length == 0 && positions_BL.numel() > 0) longest_length = positions_BL.max().item<int64_t>() + 1;
  const RopeTable rope = make_rope_table(config_, positions_BL, longest_length);
  at::Tensor x_Td = at::embedding(parameters_.at("model.embed_tokens.weight"), ids_BL.reshape(-1));
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    x_Td = forward_layer(layers_[i], x_Td, ids_BL.size(0), rope, attentions.of(layer), mask_of(layer, mask));
    if (observer) observer(layer, x_Td);
  }
  x_Td = rms_norm(x_Td, parameters_.at("model.norm.weight"), config_.rms_norm_eps);
  return x_Td.view({ids_BL.size(0), ids_BL.size(1), -1});
}

int64_t LlamaModel::attention_blocks_over(const LayerAttentions& attentions, int cp_size) const {
  int64_t count = 0;
  for (size_t i = 0; i < layers_.size(); ++i) count += attentions.of(static_cast<int64_t>(i)).cp_size() == cp_size ? 1 : 0;
  return count;
}

at::Tensor LlamaModel::logits(const at::Tensor& hidden_BLd) const { return at::linear(hidden_BLd, head_weight()).to(at::kFloat); }

const at::Tensor& LlamaModel::head_weight() const {
  return parameters_.at(config_.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight");
}

}  // namespace ringwright::worker
