// Runs the cases of goldens/cp that need no tensors: index maps, meshes, packs.
#include "tests/golden/cp/golden_cp.h"

#include "tests/golden/cp/cp_goldens.h"

int main() {
  using namespace ringwright::golden;
  return run_cp_goldens(CpProgram::golden_cp, {
                                                  {"local_token_global_indices", check_local_token_global_indices},
                                                  {"build_mesh", check_build_mesh},
                                                  {"mesh_sweep", check_mesh_sweep},
                                                  {"distributed_setup", check_distributed_setup},
                                                  {"parse_distributed_section", check_parse_distributed_section},
                                                  {"mesh_axis_names", check_mesh_axis_names},
                                              });
}
