#include "shared/model/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "shared/base/error.h"
#include "shared/model/families.h"
#include "shared/model/json_file.h"
#include "shared/model/size_limit.h"

namespace ringwright::model {
namespace {

constexpr uint64_t kConfigBytesMax = 16u << 20;
constexpr int64_t kLayersMax = 10'000;
constexpr double kParametersMax = 1e14;

const std::vector<std::string> kRopeTypes = {"default", "linear", "dynamic", "llama3", "yarn"};
const std::vector<std::string> kDtypes = {"float32", "bfloat16", "float16"};

[[noreturn]] void refuse_key(const std::string& file, const std::string& key, const std::string& what, const std::string& expected) {
  throw Error(
      {"RW-MODEL-003", "'" + key + "' " + what, file + ": " + key, expected, "correct config.json, or choose another model", ExitCode::refused});
}

// Typed access to one JSON object; null counts as absent, as in transformers.
class Section {
 public:
  Section(const nlohmann::json& json, std::string file, std::string prefix = "") : json_(json), file_(std::move(file)), prefix_(std::move(prefix)) {}

  bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }
  const nlohmann::json& at(const char* key) const { return json_.at(key); }
  [[noreturn]] void refuse(const char* key, const std::string& what, const std::string& expected) const {
    refuse_key(file_, prefix_ + key, what, expected);
  }

  int64_t integer(const char* key, int64_t fallback, int64_t least, int64_t most = kSizeMax) const {
    if (!has(key)) return fallback;
    const nlohmann::json& value = at(key);
    const std::string expected = fmt::format("a whole number from {} to {}", least, most);
    if (!value.is_number_integer()) refuse(key, "is " + value.dump(), expected);
    const bool too_large = value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(most);
    if (too_large || value.get<int64_t>() < least) refuse(key, "is " + value.dump(), expected);
    return value.get<int64_t>();
  }
  int64_t required_integer(const char* key, int64_t most = kSizeMax) const {
    if (!has(key)) refuse(key, "is missing", "a whole number from 1");
    return integer(key, 0, 1, most);
  }
  double number(const char* key, double fallback, double least = 0) const {
    if (!has(key)) return fallback;
    const nlohmann::json& value = at(key);
    if (!value.is_number() || !(value.get<double>() >= least)) refuse(key, "is " + value.dump(), fmt::format("a number from {}", least));
    return value.get<double>();
  }
  std::optional<double> optional_number(const char* key) const { return has(key) ? std::optional(number(key, 0)) : std::nullopt; }
  bool truth(const char* key, bool fallback) const {
    if (!has(key)) return fallback;
    if (!at(key).is_boolean()) refuse(key, "is " + at(key).dump(), "true or false");
    return at(key).get<bool>();
  }
  std::string text(const char* key, const std::string& fallback) const {
    if (!has(key)) return fallback;
    if (!at(key).is_string()) refuse(key, "is " + at(key).dump(), "a text");
    return at(key).get<std::string>();
  }
  Section inner(const char* key) const {
    if (!at(key).is_object()) refuse(key, "is " + at(key).dump(), "a section or null");
    return Section(at(key), file_, prefix_ + key + ".");
  }
  const std::string& file() const { return file_; }
  const nlohmann::json& json() const { return json_; }

 private:
  const nlohmann::json& json_;
  std::string file_, prefix_;
};

const Family& require_family(const Section& section, ModelConfig& config) {
  std::string architecture;
  if (section.has("architectures")) {
    const nlohmann::json& list = section.at("architectures");
    if (!list.is_array() || (!list.empty() && !list[0].is_string())) section.refuse("architectures", "is " + list.dump(), "a list of class names");
    if (!list.empty()) architecture = list[0].get<std::string>();
  }
  config.model_type = section.text("model_type", architecture == "LlamaForCausalLM" ? "llama" : "");
  const Family* family = find_family(config.model_type);
  const std::string prefix(family != nullptr ? family->class_prefix : "");
  if (family != nullptr && (architecture.empty() || architecture == prefix + "ForCausalLM" || architecture == prefix + "Model")) return *family;
  throw Error({"RW-MODEL-004",
               fmt::format("the model family '{}'{} is not supported", config.model_type, architecture.empty() ? "" : " (" + architecture + ")"),
               section.file() + ": model_type",
               fmt::format("one of {} (class {}ForCausalLM)", fmt::join(family_names(), ", "), prefix.empty() ? "Llama" : prefix),
               "choose a model of a supported family", ExitCode::refused});
}

void read_sizes(const Section& section, const Family& family, ModelConfig& config) {
  config.vocab_size = section.required_integer("vocab_size");
  config.hidden_size = section.required_integer("hidden_size");
  config.intermediate_size = section.required_integer("intermediate_size");
  config.num_hidden_layers = section.required_integer("num_hidden_layers", kLayersMax);
  config.num_attention_heads = section.required_integer("num_attention_heads");
  config.num_key_value_heads = section.integer("num_key_value_heads", family.kv_heads > 0 ? family.kv_heads : config.num_attention_heads, 1);
  if (config.num_attention_heads % config.num_key_value_heads != 0)
    section.refuse("num_key_value_heads", fmt::format("is {}", config.num_key_value_heads),
                   fmt::format("a divisor of num_attention_heads = {}", config.num_attention_heads));
  if (!section.has("head_dim") && config.hidden_size % config.num_attention_heads != 0)
    section.refuse("num_attention_heads", fmt::format("is {}", config.num_attention_heads),
                   fmt::format("a divisor of hidden_size = {}, or a head_dim", config.hidden_size));
  config.head_dim = section.integer("head_dim", config.hidden_size / config.num_attention_heads, 2);
  if (config.head_dim % 2 != 0) section.refuse("head_dim", fmt::format("is {}", config.head_dim), "an even number, since rope turns pairs");
  config.max_position_embeddings = section.integer("max_position_embeddings", family.max_position_embeddings, 1);
  // In floating point, since a lying file could overflow the exact count.
  const auto widest = static_cast<double>(std::max({config.intermediate_size, config.num_attention_heads * config.head_dim, config.vocab_size}));
  if (widest * static_cast<double>(config.hidden_size) * static_cast<double>(config.num_hidden_layers) > kParametersMax)
    section.refuse("hidden_size", "and the other sizes make a model of more parameters than any machine holds", "sizes of a real model");
}

void read_rope_type(const Section& section, ModelConfig& config) {
  RopeConfig& rope = config.rope;
  const bool named = section.has("rope_type");
  rope.type = section.text(named ? "rope_type" : "type", "default");
  if (std::find(kRopeTypes.begin(), kRopeTypes.end(), rope.type) == kRopeTypes.end())
    section.refuse(named ? "rope_type" : "type", "is '" + rope.type + "'", fmt::format("one of {}", fmt::join(kRopeTypes, ", ")));
  if (section.number("partial_rotary_factor", 1) != 1) section.refuse("partial_rotary_factor", "is not 1", "1, which all models of this family have");
  const int64_t maximum = config.max_position_embeddings;
  rope.original_max_position_embeddings = section.integer("original_max_position_embeddings", maximum, 1);
  const double own_factor = static_cast<double>(maximum) / static_cast<double>(rope.original_max_position_embeddings);
  if (rope.type != "default" && rope.type != "yarn" && !section.has("factor")) section.refuse("factor", "is missing", "a number above 0");
  rope.factor = section.number("factor", rope.type == "yarn" ? own_factor : 1, 1e-6);
}

void read_rope_details(const Section& section, RopeConfig& rope) {
  if (rope.type == "llama3")
    for (const char* key : {"low_freq_factor", "high_freq_factor", "original_max_position_embeddings"})
      if (!section.has(key)) section.refuse(key, "is missing", "a number: rope type llama3 needs it");
  rope.low_freq_factor = section.number("low_freq_factor", rope.low_freq_factor, 1e-6);
  rope.high_freq_factor = section.number("high_freq_factor", rope.high_freq_factor, 1e-6);
  if (rope.type == "llama3" && rope.low_freq_factor >= rope.high_freq_factor)
    section.refuse("high_freq_factor", fmt::format("is {}", rope.high_freq_factor),
                   fmt::format("more than low_freq_factor = {}", rope.low_freq_factor));
  rope.beta_fast = section.number("beta_fast", rope.beta_fast, 1e-6);
  rope.beta_slow = section.number("beta_slow", rope.beta_slow, 1e-6);
  rope.truncate = section.truth("truncate", true);
  rope.attention_factor = section.optional_number("attention_factor");
  rope.mscale = section.optional_number("mscale");
  rope.mscale_all_dim = section.optional_number("mscale_all_dim");
}

void read_rope(const Section& section, ModelConfig& config) {
  config.rope.theta = section.number("rope_theta", config.rope.theta, 1e-6);
  config.rope.original_max_position_embeddings = config.max_position_embeddings;
  const char* key = section.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  if (!section.has(key)) return;
  const Section rope = section.inner(key);
  config.rope.raw = rope.json();
  config.rope.theta = rope.number("rope_theta", config.rope.theta, 1e-6);
  read_rope_type(rope, config);
  read_rope_details(rope, config.rope);
}

void refuse_other_maths(const Section& section) {
  if (section.has("quantization_config")) section.refuse("quantization_config", "is present", "unquantised weights (F32, BF16 or F16)");
  if (section.number("attention_dropout", 0) != 0)
    section.refuse("attention_dropout", "is " + section.at("attention_dropout").dump(), "0: dropout is not supported");
  const std::string act = section.text("hidden_act", "silu");
  if (act != "silu") section.refuse("hidden_act", "is '" + act + "'", "silu");
}

void read_biases(const Section& section, const Family& family, ModelConfig& config) {
  const bool asked = section.truth("attention_bias", false);
  config.attention_bias = family.attention_bias == AttentionBias::by_config ? asked : family.attention_bias == AttentionBias::queries_keys_values;
  config.attention_output_bias = family.attention_bias == AttentionBias::by_config && asked;
  config.mlp_bias = section.truth("mlp_bias", false) && family.mlp_bias_by_config;
}

void read_limits(const Section& section, ModelConfig& config) {
  config.limits = read_layer_limits(section.json(), config.num_hidden_layers, section.file());
  if (config.limits.kind != LayerLimits::Kind::chunk) return;
  section.refuse(config.limits.key.c_str(), fmt::format("is {}, for layer {}", config.limits.size, config.limits.first_layer()),
                 "layers that attend to the whole sequence, or to a sliding window");
}

void read_tokens(const Section& section, ModelConfig& config) {
  config.bos_token_id = section.integer("bos_token_id", -1, -1);
  config.pad_token_id = section.integer("pad_token_id", -1, -1);
  if (!section.has("eos_token_id")) return;
  const nlohmann::json& eos = section.at("eos_token_id");
  for (const nlohmann::json& id : eos.is_array() ? eos : nlohmann::json::array({eos})) {
    if (!id.is_number_integer()) section.refuse("eos_token_id", "is " + eos.dump(), "a token id or a list of token ids");
    config.eos_token_ids.push_back(id.get<int64_t>());
  }
}

std::string read_dtype(const Section& section) {
  const char* key = section.has("dtype") ? "dtype" : "torch_dtype";
  std::string dtype = section.text(key, "float32");
  if (dtype.starts_with("torch.")) dtype.erase(0, 6);
  if (std::find(kDtypes.begin(), kDtypes.end(), dtype) == kDtypes.end())
    section.refuse(key, "is '" + dtype + "'", fmt::format("one of {}", fmt::join(kDtypes, ", ")));
  return dtype;
}

}  // namespace

int64_t ModelConfig::parameter_count() const {
  const int64_t query = num_attention_heads * head_dim, key_value = num_key_value_heads * head_dim;
  int64_t layer = 2 * hidden_size + hidden_size * (2 * query + 2 * key_value) + 3 * hidden_size * intermediate_size;
  if (attention_bias) layer += query + 2 * key_value;
  if (attention_output_bias) layer += hidden_size;
  if (mlp_bias) layer += 2 * intermediate_size + hidden_size;
  return layer * num_hidden_layers + hidden_size + vocab_size * hidden_size * (tie_word_embeddings ? 1 : 2);
}

ModelConfig parse_model_config(const nlohmann::json& json, const std::string& file_name) {
  if (!json.is_object())
    throw Error(
        {"RW-MODEL-002", "the file is no JSON object", file_name, "a model configuration", "correct the file, or fetch it again", ExitCode::refused});
  const Section section(json, file_name);
  ModelConfig config;
  config.raw = json;
  const Family& family = require_family(section, config);
  refuse_other_maths(section);
  config.tie_word_embeddings = section.truth("tie_word_embeddings", false);
  read_biases(section, family, config);
  read_sizes(section, family, config);
  read_limits(section, config);
  config.rms_norm_eps = section.number("rms_norm_eps", 1e-6);
  config.initializer_range = section.number("initializer_range", 0.02);
  config.dtype = read_dtype(section);
  read_rope(section, config);
  read_tokens(section, config);
  return config;
}

ModelConfig read_model_config(const std::filesystem::path& folder) {
  return parse_model_config(read_config_json(folder), (folder / "config.json").string());
}

nlohmann::json read_config_json(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "config.json";
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw Error(
        {"RW-MODEL-001", std::filesystem::is_directory(folder, error) ? "the model's folder has no config.json" : "the model's folder does not exist",
         file.string(), "a folder with config.json, safetensors and tokenizer.json", "set policy.model_name to such a folder", ExitCode::refused});
  return read_json_file(file, kConfigBytesMax, "RW-MODEL-002");
}

}  // namespace ringwright::model
