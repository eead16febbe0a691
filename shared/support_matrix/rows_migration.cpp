// Level 1: keys that moved, or changed their meaning, between the two Automodel targets. `explain migration` prints the table that they come from.
// They are asked once for each model of the recipe that has such a key.
#include "shared/support_matrix/migration.h"
#include "shared/support_matrix/rows.h"
#include "shared/support_matrix/verdict_names.h"

namespace ringwright::support_matrix {

const Rows& migration_rows() {
  static const Rows kRows = {
      {.code = "RW-GUARD-401",
       .scope = "moved: FSDP2's backend",
       .when = {"a key backend: nccl in dtensor_cfg (of policy, value or a teacher) or its section fsdp2_config",
                [](const Facts& f) { return !f.moved.backend_key.empty(); }},
       .automodel = {kYes, kNo},
       .ours = can("note.moved_key"),
       .key = "{moved_backend_key}",
       .reason = "the field is gone since Automodel 0.6: the process group is initialised apart",
       .fix = remove("{moved_backend_key}")},
      {.code = "RW-GUARD-402",
       .scope = "moved: module of the expert options",
       .when = {"a _target_ with the module components.moe.config", [](const Facts& f) { return !f.moved.experts_value.empty(); }},
       .automodel = {kYes, kNo},
       .ours = can("note.moved_key"),
       .key = "{moved_section}.moe_parallelizer._target_",
       .reason = "the options of expert layers are in components.distributed.config since Automodel 0.6",
       .fix = set("{moved_section}.moe_parallelizer._target_", "{moved_experts_value}")},
      {.code = "RW-GUARD-403",
       .scope = "moved: module of BackendConfig",
       .when = {"automodel_kwargs.backend._target_ with the module components.moe.utils",
                [](const Facts& f) { return !f.moved.backend_target_value.empty(); }},
       .automodel = {kIf, kNo},
       .ours = can("note.moved_key"),
       .key = "{moved_section}.automodel_kwargs.backend._target_",
       .reason = "BackendConfig is in components.models.common.utils, and since Automodel 0.6 nowhere else",
       .fix = set("{moved_section}.automodel_kwargs.backend._target_", "{moved_backend_target}")},
      {.code = "RW-GUARD-404",
       .scope = "moved: enable_deepep",
       .when = {"automodel_kwargs.backend.enable_deepep is given", [](const Facts& f) { return f.moved.deepep; }},
       .automodel = {kYes, kIf},
       .ours = can("note.moved_key"),
       .key = "{moved_section}.automodel_kwargs.backend.enable_deepep",
       .reason = "Automodel 0.4 translates it; 0.6 ignores it with a warning, so that the dispatcher silently becomes the default",
       .fix = {.changes = {{"{moved_section}.automodel_kwargs.backend.enable_deepep", "", true},
                           {"{moved_section}.automodel_kwargs.backend.dispatcher", "{deepep_dispatcher}"},
                           {"{deepep_experts_key}", "gmm"}}}},
  };
  return kRows;
}

}  // namespace ringwright::support_matrix
