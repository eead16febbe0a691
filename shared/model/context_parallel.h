// What context parallelism wants to know of a model before it is loaded: the family's flavour, and the sizes of its attention. Read from config.json
// of any family, also of those that cannot be trained here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "shared/model/layer_limits.h"

namespace ringwright::model {

// Layouts (shared/layout) that a family uses; "" where it has none for that format.
struct ContextParallelFamily {
  std::string_view model_type;
  std::string_view row_flavour;     // rows of one sequence each
  std::string_view packed_flavour;  // packed documents
};

// Families with a flavour of their own or a refusal; every other one is cut like a plain causal model (find_family). Source: the support matrix,
// "Families and context parallelism".
const std::vector<ContextParallelFamily>& context_parallel_families();
ContextParallelFamily find_context_parallel_family(std::string_view model_type);

struct ContextParallelConfig {
  std::string model_type;
  int64_t heads = 1, kv_heads = 1, head_size = 1, layers = 1;
  int64_t element_bytes = 4;  // of the checkpoint's dtype
  LayerLimits limits = {};
  int64_t experts = 0;       // routed ones of a layer that has them; 0: there are none
  int64_t pad_multiple = 1;  // what each rank's part of a sequence is a multiple of: DeepSeek-V4's compression, else 1
};

// Throws Error RW-MODEL-001 (no folder, no file), RW-MODEL-002 (not JSON), RW-MODEL-003 (a key missing or out of range).
ContextParallelConfig read_context_parallel_config(const std::filesystem::path& folder);
// The same from what stands in the file.
ContextParallelConfig parse_context_parallel_config(const nlohmann::json& config, const std::filesystem::path& file);

}  // namespace ringwright::model
