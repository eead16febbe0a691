// Level 1: sequences over several ranks.
#include "shared/layout/layout.h"
#include "shared/support_matrix/rows.h"
#include "shared/support_matrix/verdict_names.h"

namespace ringwright::support_matrix {
namespace {

bool sharded(const Facts& f) { return f.cp > 1 && !f.megatron; }

}  // namespace

const Rows& context_parallel_rows() {
  static const Rows kRows = {
      {.code = "RW-GUARD-130",
       .scope = "context parallelism, text",
       .when = {"cp > 1 and a text model", [](const Facts& f) { return sharded(f) && !f.vision; }},
       .automodel = {kIf, kIf},
       .ours = can("cp.text"),
       .key = "policy.dtensor_cfg.context_parallel_size",
       .reason = "NeMo RL needs an attention that can shard: Transformer Engine, or sdpa with the plain transformers class (by family, row "
                 "RW-GUARD-230); here: attention over {cp} ranks by ringwright.cp.method"},
      {.code = "RW-GUARD-131",
       .scope = "context parallelism, images",
       .when = {"cp > 1 and a processor or multimodal input", [](const Facts& f) { return sharded(f) && f.vision; }},
       .automodel = {kNo, kNo},
       .ours = always(kNo),
       .key = "policy.dtensor_cfg.context_parallel_size",
       .reason = "a multimodal model cannot be sharded along its sequence",
       .fix = set("policy.dtensor_cfg.context_parallel_size", "1")},
      {.code = "RW-GUARD-132",
       .scope = "images, audio, video",
       .when = {"cp = 1 and a processor or multimodal input", [](const Facts& f) { return f.vision && f.cp == 1; }},
       .automodel = {kYes, kYes},
       .ours = always(kNo),
       .key = "{vision_key}",
       .reason = "this engine trains text models",
       .fix = words("train the text part of the model on text data")},
      {.code = "RW-GUARD-133",
       .scope = "context parallelism and packing",
       .when = {"cp > 1 and sequence packing", [](const Facts& f) { return sharded(f) && f.packing; }},
       .automodel = {kNo, kNo},
       .ours = can("cp.packing"),
       .key = "policy.sequence_packing.enabled",
       .reason = "NeMo RL does not shard packed documents; here each is padded to a multiple of {document_divisor} and keeps to itself over the {cp} "
                 "ranks",
       .fix = set("policy.sequence_packing.enabled", "false")},
      {.code = "RW-GUARD-134",
       .scope = "context and sequence parallelism",
       .when = {"cp > 1, tp > 1 and sequence_parallel", [](const Facts& f) { return sharded(f) && f.tp > 1 && f.sequence_parallel; }},
       .automodel = {kNo, kNo},
       .ours = can("cp.sequence_parallel"),
       .key = "policy.dtensor_cfg.sequence_parallel",
       .reason = "sequence parallelism over {tp} tensor ranks and context parallelism over {cp} do not go together",
       .fix = set("policy.dtensor_cfg.sequence_parallel", "false")},
      {.code = "RW-GUARD-135",
       .scope = "sequence parallelism without tensor parallelism",
       .when = {"tp = 1 and sequence_parallel", [](const Facts& f) { return !f.megatron && f.tp == 1 && f.sequence_parallel; }},
       .automodel = {kIf, kIf},
       .ours = can("note.sequence_parallel_alone"),
       .key = "policy.dtensor_cfg.sequence_parallel",
       .reason = "it has no effect at tensor_parallel_size 1",
       .fix = set("policy.dtensor_cfg.sequence_parallel", "false")},
      {.code = "RW-GUARD-136",
       .scope = "attention method",
       .when = {"cp > 1, and ringwright.cp.method names one",
                [](const Facts& f) { return sharded(f) && !f.cp_method.empty() && f.cp_method != "auto"; }},
       .automodel = {kNone, kNone},
       .ours = can("cp.methods"),
       .key = "ringwright.cp.method",
       .reason = "keys and values, or heads, are exchanged by {cp_method}"},
      {.code = "RW-GUARD-137",
       .scope = "rotation of keys and values",
       .when = {"cp > 1, and policy.dtensor_cfg.cp_rotate_method is given",
                [](const Facts& f) { return sharded(f) && f.cp_method.empty() && !f.rotate_method.empty(); }},
       .automodel = {kYes, kYes},
       .ours = can("cp.methods"),
       .key = "policy.dtensor_cfg.cp_rotate_method",
       .reason = "NeMo RL's {rotate_method} is the method {rotate_as} here"},
      {.code = "RW-GUARD-138",
       .scope = "transport",
       .when = {"ringwright.cp.transport is nccl or in_process",
                [](const Facts& f) { return f.cp_transport == "nccl" || f.cp_transport == "in_process"; }},
       .automodel = {kNone, kNone},
       .ours = can("cp.transport.nccl"),
       .key = "ringwright.cp.transport",
       .reason = "the ranks of a run are processes that talk over Gloo or shared memory; the recipe asks for {cp_transport}",
       .fix = set("ringwright.cp.transport", "auto")},
      {.code = "RW-GUARD-139",
       .scope = "ranks of one sequence",
       .when = {"cp is above the 1024 ranks that can share one sequence", [](const Facts& f) { return f.cp > layout::kCpMax; }},
       .automodel = {kSkip, kSkip},
       .ours = always(kNo),
       .key = "policy.dtensor_cfg.context_parallel_size",
       .reason = "{cp} ranks are to share one sequence, and at most {cp_max} can",
       .fix = words("policy.dtensor_cfg.context_parallel_size={cp_max}, or less")},
      {.code = "RW-GUARD-197",
       .scope = "attention that cannot shard",
       .when = {"cp > 1, and policy.dtensor_cfg.automodel_kwargs asks for an attention that is neither sdpa, te, magi nor tilelang",
                [](const Facts& f) { return sharded(f) && !f.unshardable_attention.empty(); }},
       .automodel = {kNo, kNo},
       .ours = can("attention.own_kernels"),
       .key = "{unshardable_key}",
       .reason =
           "NeMo RL shards sdpa (with its flash or efficient kernels) and Transformer Engine's attention, and not {unshardable_attention}; this "
           "engine has kernels of its own",
       .fix = set("{unshardable_key}", "sdpa")},
  };
  return kRows;
}

}  // namespace ringwright::support_matrix
