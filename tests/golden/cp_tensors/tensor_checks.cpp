// The cases of goldens/cp that need tensors: batches, verbs over real groups, Mamba's exchanges.
#include "daemon/worker/torch_environment.h"
#include "tests/golden/cp/cp_goldens.h"
#include "tests/golden/cp_tensors/checks.h"

namespace ringwright::golden {

std::vector<CpCheck> tensor_checks() {
  worker::configure_torch(1, 1);
  return {
      {"shard_batch_round_robin", check_round_robin},
      {"shard_batch_contiguous", check_contiguous},
      {"attention_mask_to_padding_mask", check_attention_mask},
      {"shard_batch_gemma4_aux_only", check_gemma4},
      {"shard_sequence_in_forward", check_in_model_cut},
      {"shard_batch_dsv4", check_deepseek_v4},
      {"dsv4_packed_mask", check_packed_mask},
      {"dsv4_plain_mask", check_plain_mask},
      {"thd_convert", check_thd_convert},
      {"shard_batch_glm_packed", check_glm},
      {"shard_batch_thd", check_thd},
      {"resolve", check_resolve},
      {"construct", check_construct},
      {"shard_token_tensor", check_shard_token_tensor},
      {"shard_token_tensor_grad", check_shard_token_tensor},
      {"gather_token_tensor_no_group", check_gather_without_group},
      {"verbs_round_trip", check_round_trip},
      {"verbs_subgroup", check_subgroups},
      {"magi_install", check_magi_install},
      {"mamba_cp2hp", check_mamba_exchange},
      {"mamba_pre_post", check_mamba_pre_post},
      {"mamba_param_slices", check_mamba_slices},
      {"mamba_group_repeat", check_mamba_group_repeat},
      {"mamba_slice_grad", check_mamba_slice_gradient},
      {"seq_idx", check_sequence_index},
  };
}

}  // namespace ringwright::golden
