// What a recipe for NeMo RL's Megatron backend would be on the DTensor backend: sizes, optimizer, schedule.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shared/recipe/typed.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

// A key of the DTensor backend's, with what Megatron's `source` makes of it.
struct MappedSetting {
  std::string key;
  nlohmann::json value;
  std::string source;
};
// "++key=value" as Hydra reads it.
std::string as_override(const MappedSetting& setting);

struct MegatronMapping {
  std::string model = "policy";  // whose settings they are: "policy", "value" or "teacher"
  std::vector<MappedSetting> settings;
  std::string summary;  // "tensor_parallel_size 2, context_parallel_size 4, lr 5e-06"
  // The first setting that has no counterpart; key "": all have one.
  std::string unmapped_key, unmapped_what, unmapped_fix;
};

// MODEL.megatron_cfg.enabled is true.
bool reads_megatron(const recipe::Typed& typed, const std::string& model = "policy");
// Throws Error RW-RECIPE-021 or -022 for a number of steps that is none. The same for a recipe into which it was written before.
MegatronMapping map_megatron(const recipe::Typed& typed, const std::string& model = "policy");
// Writes the settings into a resolved recipe; policy.megatron_cfg stays as it is.
void apply_mapping(const MegatronMapping& mapping, nlohmann::ordered_json& resolved);

// The recipe with the Megatron settings of all its models mapped, each placed where Megatron's stands; nullopt: none is for Megatron. Throws what
// map_megatron throws.
std::optional<recipe::Recipe> as_mapped(const recipe::Recipe& recipe);
// What asks for the same recipe without any mapping: MODEL.megatron_cfg.enabled=false and the settings, as overrides.
std::vector<std::string> mapping_overrides(const MegatronMapping& mapping);
// as_mapped() to be run: with megatron_cfg off, so that nothing is mapped again, and with mapping_overrides() at the end of its own.
std::optional<recipe::Recipe> as_run(const recipe::Recipe& recipe);

}  // namespace ringwright::support_matrix
