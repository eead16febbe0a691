#include "shared/model/context_parallel.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "shared/base/error.h"
#include "shared/layout/deepseek_v4.h"
#include "shared/layout/names.h"
#include "shared/model/config.h"
#include "shared/model/size_limit.h"

namespace ringwright::model {
namespace {

using nlohmann::json;
namespace names = layout::names;

const std::vector<ContextParallelFamily> kFamilies = {
    {"deepseek_v4", names::kDeepseekV4, names::kDeepseekV4},
    {"glm_moe_dsa", "", names::kGlm},
    {"gemma4", names::kGemma4, names::kGemma4},
    {"gemma4_text", names::kGemma4, names::kGemma4},
    {"gemma4_moe", names::kGemma4, names::kGemma4},
    {"kimi_k3", names::kContiguous, names::kContiguous},
    {"kimi_linear", names::kContiguous, names::kContiguous},
    {"qwen3_5_moe", names::kRoundRobin, names::kContiguous},
    {"gemma3", "", ""},
    {"gemma3_text", "", ""},
};
constexpr std::string_view kPlainRows = names::kRoundRobin, kPlainPacked = names::kThd;

[[noreturn]] void refuse(const std::filesystem::path& file, const char* key, const std::string& what) {
  throw Error({"RW-MODEL-003", std::string("'") + key + "' " + what, file.string() + ": " + key, "a whole number from 1 to 2,147,483,648",
               "correct config.json, or choose another model", ExitCode::refused});
}

class Sizes {
 public:
  // A model of text and images keeps the sizes of its text part in a section of its own.
  Sizes(const json& config, std::filesystem::path file)
      : section_(config.contains("text_config") && config["text_config"].is_object() ? config["text_config"] : config), file_(std::move(file)) {}

  bool has(const char* key) const { return section_.contains(key) && !section_[key].is_null(); }
  const json& at(const char* key) const { return section_[key]; }
  const json& section() const { return section_; }
  int64_t size(const char* key) const {
    if (!has(key)) refuse(file_, key, "is missing");
    const json& value = section_[key];
    if (!value.is_number_integer() || value < 1 || value > kSizeMax) refuse(file_, key, "is " + value.dump());
    return value.get<int64_t>();
  }
  int64_t size(const char* key, int64_t fallback) const { return has(key) ? size(key) : fallback; }
  std::string text(const char* key) const { return has(key) && section_[key].is_string() ? section_[key].get<std::string>() : ""; }

 private:
  const json& section_;
  std::filesystem::path file_;
};

// DeepSeek-V4's; none: every token is attended to as it is.
std::vector<int64_t> compress_ratios(const Sizes& sizes, const std::filesystem::path& file) {
  std::vector<int64_t> ratios;
  if (!sizes.has("compress_ratios") || !sizes.at("compress_ratios").is_array()) return ratios;
  for (const json& ratio : sizes.at("compress_ratios")) {
    if (!ratio.is_number_integer()) refuse(file, "compress_ratios", "holds " + ratio.dump());
    ratios.push_back(ratio.get<int64_t>());
  }
  return ratios;
}

}  // namespace

const std::vector<ContextParallelFamily>& context_parallel_families() { return kFamilies; }

ContextParallelFamily find_context_parallel_family(std::string_view model_type) {
  const auto found =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const ContextParallelFamily& each) { return each.model_type == model_type; });
  return found != kFamilies.end() ? *found : ContextParallelFamily{"", kPlainRows, kPlainPacked};
}

ContextParallelConfig read_context_parallel_config(const std::filesystem::path& folder) {
  return parse_context_parallel_config(read_config_json(folder), folder / "config.json");
}

ContextParallelConfig parse_context_parallel_config(const json& config, const std::filesystem::path& file) {
  if (!config.is_object()) refuse(file, "config.json", "is no object");
  const Sizes sizes(config, file);
  static const std::map<std::string, int64_t> bytes = {{"float32", 4}, {"bfloat16", 2}, {"float16", 2}};
  ContextParallelConfig result;
  result.model_type = config.contains("model_type") && config["model_type"].is_string() ? config["model_type"].get<std::string>() : "";
  result.heads = sizes.size("num_attention_heads");
  result.kv_heads = sizes.size("num_key_value_heads", result.heads);
  result.head_size = sizes.has("head_dim") ? sizes.size("head_dim") : sizes.size("hidden_size") / result.heads;
  result.layers = sizes.size("num_hidden_layers");
  const auto found = bytes.find(sizes.has("dtype") ? sizes.text("dtype") : sizes.text("torch_dtype"));
  result.element_bytes = found != bytes.end() ? found->second : 4;
  for (const char* key : {"num_experts", "num_local_experts", "n_routed_experts"})
    if (result.experts == 0 && sizes.has(key) && sizes.at(key) != 0) result.experts = sizes.size(key);
  result.limits = read_layer_limits(sizes.section(), result.layers, file.string());
  result.pad_multiple = layout::deepseek_v4_multiple(compress_ratios(sizes, file));
  return result;
}

}  // namespace ringwright::model
