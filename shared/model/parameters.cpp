#include "shared/model/parameters.h"

#include <fmt/format.h>

namespace ringwright::model {
namespace {

void add_linear(std::vector<ParameterSpec>& specs, const std::string& name, int64_t out, int64_t in, bool bias) {
  specs.push_back({name + ".weight", {out, in}, Initial::normal});
  if (bias) specs.push_back({name + ".bias", {out}, Initial::zero});
}

void add_layer(std::vector<ParameterSpec>& specs, const ModelConfig& config, int64_t layer) {
  const std::string prefix = fmt::format("model.layers.{}.", layer);
  const int64_t d = config.hidden_size, query = config.num_attention_heads * config.head_dim,
                key_value = config.num_key_value_heads * config.head_dim;
  specs.push_back({prefix + "input_layernorm.weight", {d}, Initial::one});
  add_linear(specs, prefix + "self_attn.q_proj", query, d, config.attention_bias);
  add_linear(specs, prefix + "self_attn.k_proj", key_value, d, config.attention_bias);
  add_linear(specs, prefix + "self_attn.v_proj", key_value, d, config.attention_bias);
  add_linear(specs, prefix + "self_attn.o_proj", d, query, config.attention_output_bias);
  specs.push_back({prefix + "post_attention_layernorm.weight", {d}, Initial::one});
  add_linear(specs, prefix + "mlp.gate_proj", config.intermediate_size, d, config.mlp_bias);
  add_linear(specs, prefix + "mlp.up_proj", config.intermediate_size, d, config.mlp_bias);
  add_linear(specs, prefix + "mlp.down_proj", d, config.intermediate_size, config.mlp_bias);
}

}  // namespace

std::vector<ParameterSpec> parameter_specs(const ModelConfig& config) {
  std::vector<ParameterSpec> specs;
  specs.push_back({"model.embed_tokens.weight", {config.vocab_size, config.hidden_size}, Initial::normal});
  for (int64_t layer = 0; layer < config.num_hidden_layers; ++layer) add_layer(specs, config, layer);
  specs.push_back({"model.norm.weight", {config.hidden_size}, Initial::one});
  if (!config.tie_word_embeddings) specs.push_back({"lm_head.weight", {config.vocab_size, config.hidden_size}, Initial::normal});
  return specs;
}

}  // namespace ringwright::model
