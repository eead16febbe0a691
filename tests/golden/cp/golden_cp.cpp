// Runs every case of goldens/cp.
#include "tests/golden/cp/golden_cp.h"

#include "tests/golden/cp/cp_goldens.h"

namespace ringwright::golden {

std::vector<CpCheck> index_checks() {
  return {
      {"local_token_global_indices", check_local_token_global_indices},
      {"thd_partition", check_thd_partition},
      {"build_mesh", check_build_mesh},
      {"mesh_sweep", check_mesh_sweep},
      {"distributed_setup", check_distributed_setup},
      {"parse_distributed_section", check_parse_distributed_section},
      {"mesh_axis_names", check_mesh_axis_names},
      {"pack_dataset", check_pack_dataset},
      {"thd_collate", check_thd_collate},
      {"pack_features", check_pack_features},
      {"attn_slices", check_attn_slices},
      {"attn_slices_prefix_tree", check_attn_slices_prefix_tree},
      {"magi_doc_lengths", check_magi_doc_lengths},
      {"mamba_undo", check_mamba_undo},
      {"mamba_redo", check_mamba_redo},
      {"mamba_deinterleave", check_mamba_deinterleave},
      {"mamba_reinterleave", check_mamba_reinterleave},
      {"dsv4_local_seq_multiple", check_dsv4_local_seq_multiple},
      {"dsv4_packed_seq_ids", check_dsv4_packed_seq_ids},
  };
}

}  // namespace ringwright::golden

int main() {
  using namespace ringwright::golden;
  std::vector<CpCheck> checks = index_checks();
#ifdef RINGWRIGHT_GOLDEN_TENSORS
  for (const CpCheck& each : tensor_checks()) checks.push_back(each);
  return run_cp_goldens(checks, true);
#else
  return run_cp_goldens(checks, false);
#endif
}
