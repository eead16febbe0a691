// Level 1: who trains, and what of NeMo RL's Megatron backend carries over.
#include "shared/support_matrix/capabilities.h"
#include "shared/support_matrix/rows.h"
#include "shared/support_matrix/verdict_names.h"

namespace ringwright::support_matrix {
namespace {

// As the policy's: what --map megatron can read is no obstacle.
Verdicts side_verdicts(const Facts& f) { return {kSkip, kSkip, f.side_mapped ? capability("recipe.megatron_sizes") : kNo}; }

}  // namespace

const Rows& backend_rows() {
  static const Rows kRows = {
      {.code = "RW-GUARD-110",
       .scope = "Megatron backend",
       .when = {"policy.megatron_cfg.enabled is true", [](const Facts& f) { return f.megatron; }},
       .automodel = {kSkip, kSkip},
       .ours = always(kNo),
       .key = "policy.megatron_cfg.enabled",
       .reason =
           "NeMo RL runs it on a backend of its own, which the other rows are not about; this engine takes its sizes from policy.dtensor_cfg, as "
           "--map megatron would write it: {mapped}",
       .fix = words("run with --map megatron, or set: {mapped_overrides}")},
      {.code = "RW-GUARD-111",
       .scope = "no backend",
       .when = {"neither policy.dtensor_cfg.enabled nor policy.megatron_cfg.enabled is true",
                [](const Facts& f) { return !f.megatron && !f.dtensor && f.algorithm != "eval"; }},
       .automodel = {kNo, kNo},
       .ours = always(kNo),
       .key = "policy.dtensor_cfg.enabled",
       .reason = "no training backend is switched on",
       .fix = set("policy.dtensor_cfg.enabled", "true")},
      {.code = "RW-GUARD-112",
       .scope = "DTensor worker, first version",
       .when = {"policy.dtensor_cfg._v2 is false or absent", [](const Facts& f) { return f.dtensor && !f.dtensor_v2; }},
       .automodel = {kSkip, kSkip},
       .ours = can("recipe.dtensor_v1"),
       .key = "policy.dtensor_cfg._v2",
       .reason = "the two NeMo RL columns are about its second DTensor worker; mapped: the schema is the same, and it is read as the second's"},
      {.code = "RW-GUARD-113",
       .scope = "Megatron's settings, mapped",
       .when = {"--map megatron was given and policy.megatron_cfg.enabled is true", [](const Facts& f) { return f.was_mapped(); }},
       .automodel = {kSkip, kSkip},
       .ours = can("recipe.megatron_sizes"),
       .key = "policy.megatron_cfg",
       .reason = "read as {mapped}"},
      {.code = "RW-GUARD-114",
       .scope = "Megatron's settings without a counterpart",
       .when = {"--map megatron was given, and a setting of policy.megatron_cfg cannot be mapped",
                [](const Facts& f) { return f.was_mapped() && !f.mapping->unmapped_key.empty(); }},
       .automodel = {kSkip, kSkip},
       .ours = always(kNo),
       .key = "{unmapped_key}",
       .reason = "{unmapped_what}",
       .fix = words("{unmapped_fix}")},
      {.code = "RW-GUARD-115",
       .scope = "Megatron critic or teacher",
       .when = any_of({on("value.megatron_cfg.enabled"), on("teacher.megatron_cfg.enabled")}),
       .automodel = {kSkip, kSkip},
       .ours = always(kNo),
       .key = "{megatron_side_key}",
       .reason = "NeMo RL runs it on its Megatron backend, which the rows are not about; this engine has one backend: {megatron_side}",
       .fix = words("{megatron_side_fix}"),
       .decide = side_verdicts},
      {.code = "RW-GUARD-116",
       .scope = "pipeline parallelism",
       .when = {"pipeline_model_parallel_size is above 1, mapped", [](const Facts& f) { return f.was_mapped() && f.pp > 1; }},
       .automodel = {kSkip, kSkip},
       .ours = can("mesh.pp"),
       .key = "policy.megatron_cfg.pipeline_model_parallel_size",
       .reason = "this version keeps all layers on each rank; pipeline_model_parallel_size is {pp}",
       .fix = set("policy.megatron_cfg.pipeline_model_parallel_size", "1")},
      {.code = "RW-GUARD-117",
       .scope = "FP8 training",
       .when = all_of({on("policy.megatron_cfg.enabled"), on("policy.megatron_cfg.fp8_cfg.enabled")}),
       .automodel = {kSkip, kSkip},
       .ours = always(kNo),
       .key = "policy.megatron_cfg.fp8_cfg.enabled",
       .reason = "this engine has no 8-bit matrix products",
       .fix = set_training("policy.megatron_cfg.fp8_cfg.enabled", "false")},
      {.code = "RW-GUARD-118",
       .scope = "Megatron adapters",
       .when = on("policy.megatron_cfg.peft.enabled"),
       .automodel = {kSkip, kSkip},
       .ours = can("lora"),
       .key = "policy.megatron_cfg.peft.enabled",
       .reason = "this version trains all weights; --estimate says what memory that takes",
       .fix = set_training("policy.megatron_cfg.peft.enabled", "false")},
      {.code = "RW-GUARD-119",
       .scope = "multi-token prediction",
       .when = above("policy.megatron_cfg.mtp_num_layers", 0),
       .automodel = {kSkip, kSkip},
       .ours = always(kNo),
       .key = "policy.megatron_cfg.mtp_num_layers",
       .reason = "heads that predict several tokens are not trained here; tensors mtp.* of a checkpoint are kept as they are",
       .fix = set_training("policy.megatron_cfg.mtp_num_layers", "0")},
  };
  return kRows;
}

}  // namespace ringwright::support_matrix
