// Operations that golden_cp knows, one function for each; a function throws when the outcome differs.
#pragma once

#include <nlohmann/json.hpp>

namespace ringwright::golden {

void check_local_token_global_indices(const nlohmann::json& golden);
void check_build_mesh(const nlohmann::json& golden);
void check_mesh_sweep(const nlohmann::json& golden);
void check_distributed_setup(const nlohmann::json& golden);
void check_parse_distributed_section(const nlohmann::json& golden);
void check_mesh_axis_names(const nlohmann::json& golden);

}  // namespace ringwright::golden
