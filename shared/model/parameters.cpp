#include "shared/model/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "shared/base/error.h"

namespace ringwright::model {
namespace {

constexpr size_t kNamesShown = 6;
constexpr const char* kUseItsConfig = "use the config.json that belongs to the weights";

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

[[noreturn]] void refuse(const std::filesystem::path& folder, const std::string& what, const std::string& action) {
  throw Error({"RW-CKPT-004", what, folder.string(), "the tensors that config.json describes", action, ExitCode::refused});
}

std::string some_of(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kNamesShown);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "));
  return names.size() > shown ? text + fmt::format(" and {} more", names.size() - shown) : text;
}

// Frequencies that old files carry and that are computed from the configuration.
bool is_derived(const std::string& name) { return name.ends_with("rotary_emb.inv_freq"); }

bool is_trained(const std::string& dtype) {
  constexpr std::array<std::string_view, 4> kDtypes = {"F32", "BF16", "F16", "F64"};
  return std::find(kDtypes.begin(), kDtypes.end(), dtype) != kDtypes.end();
}

void check_names(const std::filesystem::path& folder, const std::vector<ParameterSpec>& specs, bool tied,
                 const std::map<std::string, CheckpointTensor>& tensors) {
  std::vector<std::string> missing, extra;
  std::set<std::string> wanted;
  for (const ParameterSpec& spec : specs) {
    wanted.insert(spec.name);
    if (!tensors.contains(spec.name)) missing.push_back(spec.name);
  }
  for (const auto& [name, tensor] : tensors)
    if (!wanted.contains(name) && !is_derived(name) && !(tied && name == kHeadName)) extra.push_back(name);
  if (!missing.empty()) refuse(folder, fmt::format("{} tensors are missing: {}", missing.size(), some_of(missing)), kUseItsConfig);
  if (!extra.empty()) refuse(folder, fmt::format("{} tensors are not part of the model: {}", extra.size(), some_of(extra)), kUseItsConfig);
}

void check_shape(const std::filesystem::path& folder, const TensorEntry& tensor, const std::vector<int64_t>& shape) {
  if (tensor.shape == shape) return;
  refuse(folder, fmt::format("'{}' has shape [{}], config.json asks for [{}]", tensor.name, fmt::join(tensor.shape, ", "), fmt::join(shape, ", ")),
         kUseItsConfig);
}

}  // namespace

void check_tensors(const std::filesystem::path& folder, const ModelConfig& config, const std::map<std::string, CheckpointTensor>& tensors) {
  const std::vector<ParameterSpec> specs = parameter_specs(config);
  check_names(folder, specs, config.tie_word_embeddings, tensors);
  for (const ParameterSpec& spec : specs) {
    const TensorEntry& tensor = tensors.at(spec.name).entry;
    check_shape(folder, tensor, spec.shape);
    if (!is_trained(tensor.dtype)) refuse(folder, "'" + spec.name + "' has dtype " + tensor.dtype, "convert the checkpoint to F32, BF16 or F16");
  }
  if (const auto head = tensors.find(kHeadName); config.tie_word_embeddings && head != tensors.end())
    check_shape(folder, head->second.entry, {config.vocab_size, config.hidden_size});
}

std::vector<ParameterSpec> parameter_specs(const ModelConfig& config) {
  std::vector<ParameterSpec> specs;
  specs.push_back({kEmbeddingName, {config.vocab_size, config.hidden_size}, Initial::normal});
  for (int64_t layer = 0; layer < config.num_hidden_layers; ++layer) add_layer(specs, config, layer);
  specs.push_back({"model.norm.weight", {config.hidden_size}, Initial::one});
  if (!config.tie_word_embeddings) specs.push_back({kHeadName, {config.vocab_size, config.hidden_size}, Initial::normal});
  return specs;
}

}  // namespace ringwright::model
