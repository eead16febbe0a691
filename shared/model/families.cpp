#include "shared/model/families.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ringwright::model {
namespace {

struct Family {
  std::string_view name;
  int64_t (*attention_blocks)(const ModelConfig& config);
};

constexpr Family kFamilies[] = {
    {"llama", [](const ModelConfig& config) { return config.num_hidden_layers; }},
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

int64_t attention_block_count(const ModelConfig& config) {
  const auto family = std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const Family& entry) { return entry.name == config.model_type; });
  return family == std::end(kFamilies) ? 0 : family->attention_blocks(config);
}

}  // namespace ringwright::model
