#include "shared/model/families.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ringwright::model {
namespace {

int64_t every_layer(const ModelConfig& config) { return config.num_hidden_layers; }

// Source: transformers 5.24.0, configuration_llama.py, configuration_mistral.py, configuration_qwen2.py.
constexpr Family kFamilies[] = {
    {"llama", "Llama", AttentionBias::by_config, true, 2048, 0, every_layer},
    {"mistral", "Mistral", AttentionBias::none, false, 131'072, 8, every_layer},
    {"qwen2", "Qwen2", AttentionBias::queries_keys_values, false, 32'768, 32, every_layer},
};

}  // namespace

const std::vector<std::string>& family_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Family& family : kFamilies) result.emplace_back(family.name);
    return result;
  }();
  return names;
}

const Family* find_family(std::string_view name) {
  const auto family = std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const Family& entry) { return entry.name == name; });
  return family == std::end(kFamilies) ? nullptr : &*family;
}

int64_t attention_block_count(const ModelConfig& config) {
  const Family* family = find_family(config.model_type);
  return family == nullptr ? 0 : family->attention_blocks(config);
}

}  // namespace ringwright::model
