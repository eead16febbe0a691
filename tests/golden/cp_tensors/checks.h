// One function for each kind of case; a function throws when the outcome differs.
#pragma once

#include <nlohmann/json.hpp>

namespace ringwright::golden {

void check_round_robin(const nlohmann::json& golden);
void check_contiguous(const nlohmann::json& golden);
void check_attention_mask(const nlohmann::json& golden);
void check_gemma4(const nlohmann::json& golden);
void check_in_model_cut(const nlohmann::json& golden);
void check_deepseek_v4(const nlohmann::json& golden);
void check_thd_convert(const nlohmann::json& golden);
void check_thd(const nlohmann::json& golden);
void check_glm(const nlohmann::json& golden);
void check_packed_mask(const nlohmann::json& golden);
void check_plain_mask(const nlohmann::json& golden);

void check_resolve(const nlohmann::json& golden);
void check_construct(const nlohmann::json& golden);

void check_shard_token_tensor(const nlohmann::json& golden);
void check_gather_without_group(const nlohmann::json& golden);
void check_round_trip(const nlohmann::json& golden);
void check_subgroups(const nlohmann::json& golden);
void check_magi_install(const nlohmann::json& golden);

void check_mamba_exchange(const nlohmann::json& golden);
void check_mamba_pre_post(const nlohmann::json& golden);
void check_mamba_slices(const nlohmann::json& golden);
void check_mamba_group_repeat(const nlohmann::json& golden);
void check_mamba_slice_gradient(const nlohmann::json& golden);
void check_sequence_index(const nlohmann::json& golden);

}  // namespace ringwright::golden
