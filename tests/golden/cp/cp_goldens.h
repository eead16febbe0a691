// What golden_cp and golden_cp_tensors share: the table of kinds, and the walk over the files. Both programs read every case below goldens/cp; each
// runs its own kinds, counts those of the other one, and fails on a kind that is not in the table.
#pragma once

#include <algorithm>
#include <string_view>

#include "tests/golden/golden_cases.h"

namespace ringwright::golden {

enum class CpProgram { golden_cp, golden_cp_tensors };  // index arithmetic and topology; whatever needs LibTorch

struct CpKind {
  std::string_view op;
  CpProgram program;
};

inline constexpr CpKind kCpKinds[] = {
    // index_maps, mesh, setup, packing
    {"local_token_global_indices", CpProgram::golden_cp},
    {"build_mesh", CpProgram::golden_cp},
    {"mesh_sweep", CpProgram::golden_cp},
    {"distributed_setup", CpProgram::golden_cp},
    {"parse_distributed_section", CpProgram::golden_cp},
    {"mesh_axis_names", CpProgram::golden_cp},
    {"pack_dataset", CpProgram::golden_cp},
    {"thd_collate", CpProgram::golden_cp},
    {"pack_features", CpProgram::golden_cp},
    // round_robin, contiguous, aux_only
    {"shard_batch_round_robin", CpProgram::golden_cp_tensors},
    {"shard_batch_contiguous", CpProgram::golden_cp_tensors},
    {"attention_mask_to_padding_mask", CpProgram::golden_cp_tensors},
    {"shard_batch_gemma4_aux_only", CpProgram::golden_cp_tensors},
    {"shard_sequence_in_forward", CpProgram::golden_cp_tensors},
    // dsv4, masks
    {"shard_batch_dsv4", CpProgram::golden_cp_tensors},
    {"dsv4_local_seq_multiple", CpProgram::golden_cp},
    {"dsv4_packed_seq_ids", CpProgram::golden_cp},
    {"dsv4_packed_mask", CpProgram::golden_cp_tensors},
    {"dsv4_plain_mask", CpProgram::golden_cp_tensors},
    // thd, resolution, verbs
    {"thd_convert", CpProgram::golden_cp_tensors},
    {"shard_batch_glm_packed", CpProgram::golden_cp_tensors},
    {"thd_partition", CpProgram::golden_cp},
    {"resolve", CpProgram::golden_cp_tensors},
    {"construct", CpProgram::golden_cp_tensors},
    {"shard_token_tensor", CpProgram::golden_cp_tensors},
    {"shard_token_tensor_grad", CpProgram::golden_cp_tensors},
    {"gather_token_tensor_no_group", CpProgram::golden_cp_tensors},
    {"verbs_round_trip", CpProgram::golden_cp_tensors},
    {"verbs_subgroup", CpProgram::golden_cp_tensors},
    {"shard_batch_thd", CpProgram::golden_cp_tensors},
    // magi
    {"magi_install", CpProgram::golden_cp_tensors},
    {"attn_slices", CpProgram::golden_cp},
    {"attn_slices_prefix_tree", CpProgram::golden_cp},
    {"magi_doc_lengths", CpProgram::golden_cp},
    // mamba, seq_idx
    {"mamba_undo", CpProgram::golden_cp},
    {"mamba_redo", CpProgram::golden_cp},
    {"mamba_deinterleave", CpProgram::golden_cp},
    {"mamba_reinterleave", CpProgram::golden_cp},
    {"mamba_param_slices", CpProgram::golden_cp_tensors},
    {"mamba_group_repeat", CpProgram::golden_cp_tensors},
    {"mamba_slice_grad", CpProgram::golden_cp_tensors},
    {"mamba_cp2hp", CpProgram::golden_cp_tensors},
    {"mamba_pre_post", CpProgram::golden_cp_tensors},
    {"seq_idx", CpProgram::golden_cp_tensors},
};

// A kind and the function that checks one case of it; the function throws when the outcome differs.
struct CpCheck {
  std::string_view op;
  void (*check)(const nlohmann::json& golden);
};

// Cases with a `quirk` hold the contract's own rule instead of the recorded value; they are counted as a kind of their own.
inline void run_cp_case(Report& report, CpProgram own, const std::vector<CpCheck>& checks, const nlohmann::json& golden, int64_t& left) {
  const std::string op = golden.at("op"), id = golden.at("id");
  const auto kind = std::find_if(std::begin(kCpKinds), std::end(kCpKinds), [&](const CpKind& row) { return row.op == op; });
  if (kind == std::end(kCpKinds)) return report.check(op, false, id, "a kind that this program does not know");
  if (kind->program != own) {
    ++left;
    return;
  }
  const auto known = std::find_if(checks.begin(), checks.end(), [&](const CpCheck& row) { return row.op == op; });
  const std::string counted = golden.contains("quirk") ? op + ", ours" : op;
  if (known == checks.end()) return report.check(counted, false, id, "a kind that this program has no check for");
  run_case(report, counted, id, [&] { known->check(golden); });
}

// The exit status of the program.
inline int run_cp_goldens(CpProgram own, const std::vector<CpCheck>& checks) {
  Report report;
  int64_t left = 0;
  for (const auto& file : golden_entries("cp")) {
    if (file.extension() != ".json") continue;
    try {
      const nlohmann::json family = read_json(file);
      expect_equal("schema", family.at("schema"), 1);
      for (const nlohmann::json& golden : family.at("cases")) run_cp_case(report, own, checks, golden, left);
    } catch (const std::exception& error) {
      report.check("file", false, file.filename(), error.what());
    }
  }
  if (left > 0) {
    const char* other = own == CpProgram::golden_cp ? "golden_cp_tensors" : "golden_cp";
    std::printf("%-32s %lld cases\n", (std::string("run by ") + other).c_str(), static_cast<long long>(left));
  }
  return report.finish();
}

}  // namespace ringwright::golden
