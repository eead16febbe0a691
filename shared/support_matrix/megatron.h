// What a recipe for NeMo RL's Megatron backend would be on the DTensor backend: sizes, optimizer, schedule.
#pragma once

#include <string>
#include <vector>

#include "shared/recipe/typed.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

struct MegatronMapping {
  std::vector<Change> changes;  // of the recipe, key by key
  std::string summary;          // "tensor_parallel_size 2, context_parallel_size 4, lr 5e-06"
  // The first setting that has no counterpart; key "": all have one.
  std::string unmapped_key, unmapped_what, unmapped_fix;
};

// policy.megatron_cfg.enabled is true.
bool reads_megatron(const recipe::Typed& typed);
// Throws Error RW-RECIPE-021 or -022 for a number of steps that is none. The same for a recipe into which it was written before.
MegatronMapping map_megatron(const recipe::Typed& typed);
// Writes the changes into a resolved recipe; policy.megatron_cfg stays as it is.
void apply_mapping(const MegatronMapping& mapping, nlohmann::ordered_json& resolved);

}  // namespace ringwright::support_matrix
