// What golden_cp does: the walk over the files, and a table of checks by kind. A kind that is in no table is a failure.
#pragma once

#include <algorithm>
#include <string_view>

#include "tests/golden/golden_cases.h"

namespace ringwright::golden {

// A kind and the function that checks one case of it; the function throws when the outcome differs.
struct CpCheck {
  std::string_view op;
  void (*check)(const nlohmann::json& golden);
};

// Of index arithmetic and topology: cp/.
std::vector<CpCheck> index_checks();
// Of what needs LibTorch: cp_tensors/, in a build that has the worker.
std::vector<CpCheck> tensor_checks();

// Those of tensor_checks(); a build without the worker counts them and runs none.
inline constexpr std::string_view kTensorKinds[] = {
    "shard_batch_round_robin",
    "shard_batch_contiguous",
    "attention_mask_to_padding_mask",
    "shard_batch_gemma4_aux_only",
    "shard_sequence_in_forward",
    "shard_batch_dsv4",
    "dsv4_packed_mask",
    "dsv4_plain_mask",
    "thd_convert",
    "shard_batch_glm_packed",
    "resolve",
    "construct",
    "shard_token_tensor",
    "shard_token_tensor_grad",
    "gather_token_tensor_no_group",
    "verbs_round_trip",
    "verbs_subgroup",
    "shard_batch_thd",
    "magi_install",
    "mamba_param_slices",
    "mamba_group_repeat",
    "mamba_slice_grad",
    "mamba_cp2hp",
    "mamba_pre_post",
    "seq_idx",
};

inline bool needs_tensors(std::string_view op) { return std::find(std::begin(kTensorKinds), std::end(kTensorKinds), op) != std::end(kTensorKinds); }

// Cases with a `quirk` hold the contract's own rule instead of the recorded value; they are counted as a kind of their own.
inline void run_cp_case(Report& report, const std::vector<CpCheck>& checks, bool has_tensors, const nlohmann::json& golden, int64_t& left) {
  const std::string op = golden.at("op"), id = golden.at("id");
  const auto known = std::find_if(checks.begin(), checks.end(), [&](const CpCheck& row) { return row.op == op; });
  if (known == checks.end() && !has_tensors && needs_tensors(op)) {
    ++left;
    return;
  }
  if (known == checks.end()) return report.check(op, false, id, "a kind that this program does not know");
  run_case(report, golden.contains("quirk") ? op + ", ours" : op, id, [&] { known->check(golden); });
}

// Every .json file below $RINGWRIGHT_GOLDENS/cp, or below the folder itself where it has no cp/. The exit status of the program.
inline int run_cp_goldens(const std::vector<CpCheck>& checks, bool has_tensors) {
  Report report;
  int64_t left = 0;
  for (const auto& file : golden_files("cp", ".json")) {
    try {
      const nlohmann::json family = read_json(file);
      expect_equal("schema", family.at("schema"), 1);
      for (const nlohmann::json& golden : family.at("cases")) run_cp_case(report, checks, has_tensors, golden, left);
    } catch (const std::exception& error) {
      report.check("file", false, file, error.what());
    }
  }
  if (left > 0) std::printf("%-32s %lld cases\n", "not run: they need the worker", static_cast<long long>(left));
  return report.finish();
}

}  // namespace ringwright::golden
