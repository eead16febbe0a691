// Operations that golden_cp knows, one function for each; a function throws when the outcome differs.
#pragma once

#include <nlohmann/json.hpp>

#include "tests/golden/golden_cases.h"

namespace ringwright::golden {

void check_local_token_global_indices(const nlohmann::json& golden);
void check_thd_partition(const nlohmann::json& golden);
void check_build_mesh(const nlohmann::json& golden);
void check_mesh_sweep(const nlohmann::json& golden);
void check_distributed_setup(const nlohmann::json& golden);
void check_parse_distributed_section(const nlohmann::json& golden);
void check_mesh_axis_names(const nlohmann::json& golden);
void check_pack_dataset(const nlohmann::json& golden);
void check_thd_collate(const nlohmann::json& golden);
void check_pack_features(const nlohmann::json& golden);
void check_attn_slices(const nlohmann::json& golden);
void check_attn_slices_prefix_tree(const nlohmann::json& golden);
void check_magi_doc_lengths(const nlohmann::json& golden);
void check_mamba_undo(const nlohmann::json& golden);
void check_mamba_redo(const nlohmann::json& golden);
void check_mamba_deinterleave(const nlohmann::json& golden);
void check_mamba_reinterleave(const nlohmann::json& golden);
void check_dsv4_local_seq_multiple(const nlohmann::json& golden);
void check_dsv4_packed_seq_ids(const nlohmann::json& golden);

}  // namespace ringwright::golden
