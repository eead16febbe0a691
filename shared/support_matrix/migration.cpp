#include "shared/support_matrix/migration.h"

namespace ringwright::support_matrix {

const std::vector<Move>& moves() {
  static const std::vector<Move> kTable = {
      {"device mesh", "create_device_mesh(...)", "MeshContext.build(FSDP2Config, ParallelismSizes, ...)",
       "none is renamed: policy.dtensor_cfg.{tensor,context,expert}_parallel_size and dp_replicate_size stay", ""},
      {"model loading", "mesh, FSDP, expert options and activation checkpointing as arguments",
       "one DistributedSetup given to from_pretrained(): mesh context, strategy, no pipeline, expert options only where ep > 1, activation "
       "checkpointing",
       "policy.dtensor_cfg.{activation_checkpointing, sequence_parallel, cpu_offload} keep their names", ""},
      {"FSDP backend", "FSDP2Config(backend=\"nccl\")", "the field is gone; the process group is initialised apart",
       "a key backend below an FSDP2 section: remove it", "RW-GUARD-401"},
      {"expert options", "components.moe.config", "components.distributed.config",
       "policy.dtensor_cfg.moe_parallelizer.* keep their names; a _target_ with the old module: rewrite it", "RW-GUARD-402"},
      {"BackendConfig", "components.moe.utils, later components.models.common.utils", "components.models.common.utils",
       "policy.dtensor_cfg.automodel_kwargs.backend._target_ with the old module: rewrite it", "RW-GUARD-403"},
      {"enable_deepep", "translated: true means experts gmm with dispatcher deepep, false dispatcher torch", "ignored, with a warning",
       "policy.dtensor_cfg.automodel_kwargs.backend.enable_deepep: replace it by dispatcher and experts, else the dispatcher silently becomes the "
       "default",
       "RW-GUARD-404"},
      {"Hugging Face metadata", "method Checkpointer._should_write_hf_metadata()",
       "function _should_write_hf_metadata(config): for safetensors, not for adapters", "checkpointing.model_save_format", ""},
      {"save_consolidated", "true, false or a word", "SaveConsolidatedMode, normalised after every change",
       "checkpointing.save_consolidated: final is refused in reinforcement learning; every, true, or consolidate afterwards", "RW-GUARD-173"},
      {"input of context parallelism", "a fixed head-tail layout, buffers changed in place",
       "ContextParallelSharder, with a batch of the model's own", "none; lengths need no longer be multiples of 2 x cp", "RW-GUARD-140"},
  };
  return kTable;
}

const std::vector<Workaround>& needless_workarounds() {
  static const std::vector<Workaround> kTable = {
      {"an own copy of the auto class for token classification",
       "NeMoAutoModelForTokenClassification is exported; NeMo RL from before stops at import when it meets an Automodel that exports it"},
      {"a patch around _restore_loaded_model_dtype()", "a parameter type of float32 that was asked for is kept"},
      {"Gemma 4 with use_cache=True for shared keys and values", "transformers 5.12.1 mends it; training stays at use_cache=False"},
  };
  return kTable;
}

}  // namespace ringwright::support_matrix
