// Model, optimizer, mesh and batches: `policy`, whose schema `value`, `teacher` and `teachers` share. Data only.
// clang-format off
#include "shared/recipe/key_rows.h"

namespace ringwright::recipe {

using enum KeyUse;

std::vector<KeyRow> policy_key_rows() {
  return {
      {"policy", used, nullptr, "", "",
       "model_name precision tokenizer.name train_global_batch_size train_micro_batch_size max_total_sequence_length "
       "make_sequence_length_divisible_by max_grad_norm"},
      {"policy", used, nullptr, "", "",
       "optimizer.name optimizer.kwargs.betas optimizer.kwargs.eps optimizer.kwargs.lr optimizer.kwargs.weight_decay"},
      {"policy", used, nullptr, "", "",
       "scheduler.name scheduler.milestones scheduler.kwargs.T_max scheduler.kwargs.end_factor scheduler.kwargs.eta_min scheduler.kwargs.factor "
       "scheduler.kwargs.start_factor scheduler.kwargs.total_iters"},
      {"policy", used, nullptr, "", "",
       "dtensor_cfg.enabled dtensor_cfg.context_parallel_size dtensor_cfg.tensor_parallel_size dtensor_cfg.expert_parallel_size "
       "dtensor_cfg.dp_replicate_size dtensor_cfg.sequence_parallel"},
      {"policy", used, nullptr, "", "",
       "sequence_packing.enabled sequence_packing.algorithm sequence_packing.microbatch_order sequence_packing.sequence_length_round "
       "sequence_packing.train_mb_tokens dynamic_batching.enabled dynamic_batching.sequence_length_round dynamic_batching.train_mb_tokens"},
      {"policy", mapped, nullptr, "the schema of both DTensor workers is the same; either gives this engine", "",
       "dtensor_cfg._v2"},
      {"policy", mapped, nullptr, "NeMo RL's allgather is ringwright.cp.method all_gather, its alltoall is ring", "",
       "dtensor_cfg.cp_rotate_method"},
      {"policy", noted, nullptr, "the results are the same, the memory is not saved", "",
       "dtensor_cfg.activation_checkpointing dtensor_cfg.cpu_offload activation_checkpointing_enabled "
       "dtensor_cfg.moe_parallelizer.ignore_router_for_ac"},
      {"policy", noted, nullptr, "the allocator of CUDA is not in use here", "",
       "dtensor_cfg.env_vars.PYTORCH_CUDA_ALLOC_CONF dtensor_cfg.clear_cache_every_n_steps"},
      {"policy", not_yet, asks::for_something, "environment variables of the workers", "~{key}",
       "dtensor_cfg.env_vars.*"},
      {"policy", refused, asks::for_something, "a plan is Python code", "{key}=null",
       "dtensor_cfg.custom_parallel_plan.*"},
      {"policy", noted, nullptr, "this engine has kernels, an attention and an exchange of its own; a plain model class is always the one taken", "",
       "dtensor_cfg.automodel_kwargs.backend._target_ dtensor_cfg.automodel_kwargs.backend.attn dtensor_cfg.automodel_kwargs.backend.dispatcher "
       "dtensor_cfg.automodel_kwargs.backend.enable_deepep dtensor_cfg.automodel_kwargs.backend.enable_fsdp_optimizations "
       "dtensor_cfg.automodel_kwargs.backend.enable_hf_state_dict_adapter dtensor_cfg.automodel_kwargs.backend.experts "
       "dtensor_cfg.automodel_kwargs.backend.fake_balanced_gate dtensor_cfg.automodel_kwargs.backend.gate_precision "
       "dtensor_cfg.automodel_kwargs.backend.linear dtensor_cfg.automodel_kwargs.backend.rms_norm dtensor_cfg.automodel_kwargs.backend.rope_fusion "
       "dtensor_cfg.automodel_kwargs.attn_implementation dtensor_cfg.automodel_kwargs.force_hf dtensor_cfg.automodel_kwargs.use_liger_kernel "
       "dtensor_cfg.automodel_kwargs.use_sdpa_patching"},
      {"policy", noted, nullptr, "towers for images and sound, which a text model does not have", "",
       "dtensor_cfg.automodel_kwargs.freeze_config.freeze_audio_tower dtensor_cfg.automodel_kwargs.freeze_config.freeze_vision_tower"},
      {"policy", refused, asks::for_true, "the text model itself would not be trained", "{key}=false",
       "dtensor_cfg.automodel_kwargs.freeze_config.freeze_language_model"},
      {"policy", refused, asks::for_something, "an argument for NeMo RL's model class, which is not in use here", "~{key}",
       "dtensor_cfg.automodel_kwargs.*"},
      {"policy", not_yet, asks::for_true, "adapters: all weights are trained", "{key}=false",
       "dtensor_cfg.lora_cfg.enabled"},
      {"policy", noted, nullptr, "counts with lora_cfg.enabled alone", "",
       "dtensor_cfg.lora_cfg.alpha dtensor_cfg.lora_cfg.dim dtensor_cfg.lora_cfg.dropout dtensor_cfg.lora_cfg.dropout_position "
       "dtensor_cfg.lora_cfg.exclude_modules dtensor_cfg.lora_cfg.lora_A_init dtensor_cfg.lora_cfg.match_all_linear "
       "dtensor_cfg.lora_cfg.target_modules dtensor_cfg.lora_cfg.use_triton"},
      {"policy", noted, nullptr, "how the update is computed; the result is the same", "",
       "optimizer.kwargs.foreach optimizer.kwargs.fused"},
      {"policy", mapped, nullptr, "the moments of AdamW are float32 here, whatever the recipe keeps them in: other numbers in the last digits", "",
       "optimizer.kwargs.exp_avg_dtype optimizer.kwargs.exp_avg_sq_dtype optimizer.kwargs.master_weights optimizer.kwargs.store_param_remainders"},
      {"policy", not_yet, asks::for_false, "an Adam whose decay is part of the gradient, or whose moments are not corrected for their start", "{key}=true",
       "optimizer.kwargs.adam_w_mode optimizer.kwargs.bias_correction"},
      {"policy", noted, nullptr, "the loss is always computed in pieces, fused with its gradient", "",
       "sequence_packing.fuse_loss"},
      {"policy", not_yet, nullptr, "of passes without training: rollouts, their log-probabilities, teachers", "",
       "sequence_packing.logprob_mb_tokens dynamic_batching.logprob_mb_tokens logprob_batch_size logprob_chunk_size generation_batch_size"},
      {"policy", noted, nullptr, "where the optimizer rests while rollouts are made does not change it", "",
       "offload_optimizer_for_logprob refit_buffer_size_gb"},
      {"policy", refused, asks::for_true, "routing of experts as it was in the rollout", "{key}=false",
       "router_replay.enabled"},
      {"policy", refused, asks::for_true, "a draft model for speculative decoding would be trained along", "{key}=false",
       "draft.enabled"},
      {"policy", noted, nullptr, "counts with draft.enabled alone", "",
       "draft.aux_layer_indices draft.loss_weight draft.model_name draft.num_layers"},
      {"policy", refused, asks::for_something, "quantised weights: this engine trains them as they are", "{key}=null",
       "quant_cfg"},
      {"policy", noted, nullptr, "counts with quant_cfg alone", "",
       "quant_batch_size quant_calib_data quant_calib_size quant_sequence_length disable_modelopt_layer_spec"},
      {"policy", noted, nullptr, "weights are always trained unquantised", "",
       "dequantize_base_checkpoint"},
      {"policy", not_yet, asks::for_something, "changes to the model's config.json, which is taken as it is", "~{key}",
       "hf_config_overrides.max_position_embeddings hf_config_overrides.rope_scaling.beta_fast hf_config_overrides.rope_scaling.beta_slow "
       "hf_config_overrides.rope_scaling.factor hf_config_overrides.rope_scaling.mscale hf_config_overrides.rope_scaling.mscale_all_dim "
       "hf_config_overrides.rope_scaling.original_max_position_embeddings hf_config_overrides.rope_scaling.rope_theta "
       "hf_config_overrides.rope_scaling.rope_type hf_config_overrides.rope_scaling.truncate hf_config_overrides.router_aux_loss_coef "
       "hf_config_overrides.text_config.router_aux_loss_coef hf_config_overrides.*"},
      {"policy", refused, asks::for_true, "this engine trains text models", "{key}=false",
       "is_vlm"},
      {"policy", not_yet, asks::for_true, "models with a head that gives a score", "{key}=false",
       "reward_model_cfg.enabled"},
      {"policy", noted, nullptr, "counts with reward_model_cfg.enabled alone", "",
       "reward_model_cfg.reward_model_type"},
      {"policy", not_yet, asks::for_something, "chat templates; plain text and prompt/answer lines need none", "{key}=null",
       "tokenizer.chat_template tokenizer.chat_template_kwargs.*"},
      {"policy", noted, nullptr, "counts with a chat template alone", "",
       "tokenizer.chat_template_kwargs.enable_thinking tokenizer.chat_template_kwargs.truncate_history_thinking"},
      {"policy", noted, nullptr, "which tokenizer library is faster; the ids are the same", "",
       "tokenizer.use_fastokens"},
      {"policy", noted, nullptr, "about images, which this engine does not take", "",
       "tokenizer.video.num_frames"},
  };
}

}  // namespace ringwright::recipe
// clang-format on
