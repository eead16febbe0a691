#include "shared/recipe/parallelism.h"

#include <array>

#include "shared/layout/layout.h"

namespace ringwright::recipe {
namespace {

// NeMo RL's name below policy.dtensor_cfg, and Automodel's in its section.
struct KeyPair {
  const char* recipe;
  const char* section;
};

constexpr const char* kBase = "policy.dtensor_cfg.";
constexpr std::array<KeyPair, 4> kSizes = {{{"tensor_parallel_size", "tp_size"},
                                            {"context_parallel_size", "cp_size"},
                                            {"expert_parallel_size", "ep_size"},
                                            {"dp_replicate_size", "dp_replicate_size"}}};
constexpr std::array<KeyPair, 2> kSwitches = {{{"sequence_parallel", "sequence_parallel"}, {"activation_checkpointing", "activation_checkpointing"}}};
constexpr KeyPair kExperts = {"moe_parallelizer", "moe"};

std::string key_in_recipe(const std::string& section_key) {
  const auto translate = [&](const KeyPair& pair) {
    const std::string name = pair.section;
    const bool found = section_key == name || section_key.starts_with(name + ".");
    return found ? kBase + std::string(pair.recipe) + section_key.substr(name.size()) : std::string();
  };
  for (const KeyPair& pair : kSizes)
    if (const std::string key = translate(pair); !key.empty()) return key;
  const std::string key = translate(kExperts);
  return key.empty() ? kBase + section_key : key;
}

}  // namespace

mesh::Section parallelism(const Typed& typed) {
  nlohmann::json section = nlohmann::json::object();
  for (const KeyPair& pair : kSizes) {
    const std::string key = kBase + std::string(pair.recipe);
    if (typed.has(key)) section[pair.section] = typed.integer(key, 1, -kRanksMax, kRanksMax);
  }
  for (const KeyPair& pair : kSwitches) section[pair.section] = typed.boolean(kBase + std::string(pair.recipe), false);
  if (const nlohmann::json* experts = typed.find(kBase + std::string(kExperts.recipe))) {
    section[kExperts.section] = *experts;
    if (experts->is_object()) section[kExperts.section].erase("_target_");  // the class that NeMo RL makes of it, no option
  }
  return mesh::read_section(section, [&](const std::string& key) { return typed.where(key_in_recipe(key)); });
}

int64_t sequence_length_divisor(const Typed& typed) {
  const std::string key = "policy.make_sequence_length_divisible_by";
  if (const nlohmann::json* value = typed.find(key); value && value->is_number() && value->get<double>() <= 0) {
    for (const KeyPair& pair : kSizes) {
      const std::string size = kBase + std::string(pair.recipe);
      if (typed.integer(size, 1, -kRanksMax, kRanksMax) < 1) typed.out_of_range(size, "a whole number from 1 on; " + key + " is made of it");
    }
  }
  return typed.integer(key, 1, 1, layout::kSequenceLengthMax);
}

int world_size(const Typed& typed) {
  const int64_t nodes = typed.integer("cluster.num_nodes", 1, 1, kRanksMax);
  const int64_t world = nodes * typed.integer("cluster.gpus_per_node", 1, 1, kRanksMax);
  if (world > kRanksMax) typed.out_of_range("cluster.gpus_per_node", "at most " + std::to_string(kRanksMax) + " ranks in all");
  return static_cast<int>(world);
}

}  // namespace ringwright::recipe
