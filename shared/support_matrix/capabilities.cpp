#include "shared/support_matrix/capabilities.h"

#include <algorithm>

namespace ringwright::support_matrix {
namespace {

constexpr Verdict kYes = Verdict::supported, kIf = Verdict::conditional, kPad = Verdict::padded;
constexpr std::string_view kCases = "tests/cases/guards";  // where the whole of a capability is that a key is taken note of

}  // namespace

const std::vector<Capability>& capabilities() {
  static const std::vector<Capability> kTable = {
      {"algorithm.sft", kYes, "tests/daemon/worker/algorithms/sft_trainer_test.cpp"},
      {"recipe.dtensor_v1", kYes, "tests/shared/recipe/sft_config_test.cpp"},
      {"recipe.megatron_sizes", kIf, "tests/shared/support_matrix/megatron_test.cpp"},
      // Ranks.
      {"mesh", kYes, "tests/shared/mesh/mesh_test.cpp"},
      {"mesh.dp", kIf, "tests/daemon/worker/algorithms/data_parallel_test.cpp"},
      {"mesh.without_effect", kIf, "tests/shared/mesh/setup_test.cpp"},
      // Context parallelism.
      {"cp.text", kYes, "tests/parity/parity_test.cpp"},
      {"cp.packing", kYes, "tests/daemon/worker/algorithms/packed_training_test.cpp"},
      {"cp.any_length", kPad, "tests/daemon/worker/context_parallel/sharder_test.cpp"},
      {"cp.windows", kYes, "tests/daemon/worker/attention/attention_methods_test.cpp"},
      {"cp.methods", kYes, "tests/daemon/worker/attention/attention_methods_test.cpp"},
      // Batches.
      {"batch.packing", kYes, "tests/daemon/worker/algorithms/packed_training_test.cpp"},
      {"batch.dynamic", kYes, "tests/daemon/worker/data/test_microbatches.cpp"},
      {"data.long_rows_left_out", kIf, "tests/daemon/worker/data/test_dataset.cpp"},
      // Models.
      {"family.llama", kYes, "tests/golden/models/golden_model.cpp"},
      {"family.mistral", kYes, "tests/shared/model/test_layer_limits.cpp"},
      {"family.qwen2", kYes, "tests/golden/models/golden_model.cpp"},
      {"rope.yarn", kYes, "tests/golden/models/golden_model.cpp"},
      {"attention.own_kernels", kYes, "tests/daemon/worker/attention/attention_methods_test.cpp"},
      // Keys that change nothing here, and are said so.
      {"note.memory_savings", kIf, kCases},
      {"note.loggers", kIf, kCases},
      {"note.frozen_towers", kYes, kCases},
      {"note.data_plane", kYes, kCases},
      {"note.placement_segments", kYes, kCases},
      {"note.refit_transport", kYes, kCases},
      {"note.async_engine", kYes, kCases},
      {"note.speculative", kYes, kCases},
      {"note.in_flight", kYes, kCases},
      {"note.sequence_parallel_alone", kIf, kCases},
      {"note.consolidated", kIf, "tests/daemon/worker/checkpoint/test_checkpoint.cpp"},
      {"note.moved_key", kIf, kCases},
  };
  return kTable;
}

Verdict capability(std::string_view name) {
  const auto& table = capabilities();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Capability& entry) { return entry.name == name; });
  return found == table.end() ? Verdict::not_yet : found->verdict;
}

}  // namespace ringwright::support_matrix
