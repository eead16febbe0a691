#include "shared/support_matrix/capabilities.h"

#include <algorithm>

namespace ringwright::support_matrix {
namespace {

constexpr Verdict kYes = Verdict::supported, kIf = Verdict::conditional, kPad = Verdict::padded;

}  // namespace

const std::vector<Capability>& capabilities() {
  static const std::vector<Capability> kTable = {
      {"algorithm.sft", kYes, "tests/daemon/worker/algorithms/sft_trainer_test.cpp:SftTrainer.TwentyStepsGiveTheSameLosses"},
      {"recipe.dtensor_v1", kIf, "tests/cases/guards/backend.yaml:the first DTensor worker"},
      {"recipe.megatron_sizes", kIf, "tests/shared/support_matrix/megatron_test.cpp:MegatronMapping.CarriesSizesOptimizerAndClipping"},
      // Ranks.
      {"mesh", kYes, "tests/shared/mesh/mesh_test.cpp:Mesh.WorkedExampleOfTheContract"},
      {"mesh.dp", kIf, "tests/daemon/worker/algorithms/data_parallel_test.cpp:DataParallel.StepsAtDp2Cp2"},
      {"mesh.without_effect", kIf, "tests/shared/mesh/setup_test.cpp:Section.WhatHasNoEffectIsSaid"},
      // Context parallelism.
      {"cp.text", kYes, "tests/parity/parity_test.cpp:Parity.FiftyStepsGiveTheLossesThatAreKept"},
      {"cp.packing", kYes, "tests/daemon/worker/algorithms/packed_training_test.cpp:PackedTraining.EveryFlavourAndMethodOnTwoRanksPacks"},
      {"cp.any_length", kPad, "tests/daemon/worker/context_parallel/sharder_test.cpp:Sharder.T03PadsOddLengthsAndTrims"},
      {"cp.windows", kYes, "tests/daemon/worker/attention/attention_methods_test.cpp:AttentionMethods.LongSequencesWithWideWindows"},
      {"cp.methods", kYes, "tests/daemon/worker/attention/attention_methods_test.cpp:AttentionMethods.EqualFullAttentionOnTwoRanks"},
      // Batches.
      {"batch.packing", kYes, "tests/daemon/worker/algorithms/packed_training_test.cpp:PackedTraining.PacksAndRowsGiveTheSameLosses"},
      {"batch.dynamic", kIf, "tests/daemon/worker/algorithms/packed_training_test.cpp:PackedTraining.DynamicBatchesAndRowsGiveTheSameLosses"},
      {"data.long_rows_left_out", kIf, "tests/daemon/worker/data/test_dataset.cpp:DatasetTest.LinesMayStayRowsOfTheirOwn"},
      // Models.
      {"family.llama", kYes, "tests/goldens/models:llama-llama3rope-tied-sharded"},
      {"family.mistral", kYes, "tests/shared/model/test_layer_limits.cpp:Families.BiasesAndWindowsAreTheFamilys"},
      {"family.qwen2", kYes, "tests/goldens/models:qwen2-sliding-untied"},
      {"rope.yarn", kYes, "tests/goldens/models:qwen2-yarn-tied"},
      {"attention.own_kernels", kYes, "tests/daemon/worker/attention/attention_methods_test.cpp:AttentionMethods.EqualFullAttentionOnOneRank"},
      {"optimizer.fused_adam", kIf, "tests/console/cli/watched_run_test.cpp:WatchedRun.FusedAdamTrainsAsAdamW"},
      // Keys that change nothing here, and are said so.
      {"note.memory_savings", kIf, "tests/cases/guards/model.yaml:activation checkpointing"},
      {"note.loggers", kIf, "tests/cases/guards/saving.yaml:other loggers"},
      {"note.frozen_towers", kYes, "tests/cases/guards/model.yaml:frozen towers"},
      {"note.data_plane", kYes, "tests/cases/guards/rollout.yaml:a data plane"},
      {"note.placement_segments", kYes, "tests/cases/guards/mesh.yaml:placement segments"},
      {"note.refit_transport", kYes, "tests/cases/guards/rollout.yaml:a transport of weights"},
      {"note.async_engine", kYes, "tests/cases/guards/rollout.yaml:the asynchronous engine alone"},
      {"note.speculative", kYes, "tests/cases/guards/rollout.yaml:speculative decoding"},
      {"note.in_flight", kYes, "tests/cases/guards/rollout.yaml:weights in flight without asynchronous training"},
      {"note.sequence_parallel_alone", kIf, "tests/cases/guards/context_parallel.yaml:sequence parallelism at tp 1 only warns"},
      {"note.consolidated", kIf, "tests/daemon/worker/checkpoint/test_checkpoint.cpp:CheckpointTest.SideFilesAreCopiedAndTheHeaderIsAligned"},
      {"note.moved_key", kIf, "tests/cases/guards/migration.yaml:a backend of FSDP2"},
  };
  return kTable;
}

Verdict capability(std::string_view name) {
  const auto& table = capabilities();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Capability& entry) { return entry.name == name; });
  return found == table.end() ? Verdict::not_yet : found->verdict;
}

}  // namespace ringwright::support_matrix
