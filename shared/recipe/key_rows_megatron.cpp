// `policy.megatron_cfg`. Data only.
// clang-format off
#include "shared/recipe/key_rows.h"

namespace ringwright::recipe {

using enum KeyUse;

std::vector<KeyRow> megatron_key_rows() {
  return {
      {"policy.megatron_cfg", mapped, nullptr, "with check --map megatron it becomes policy.dtensor_cfg.enabled", "",
       "enabled"},
      {"policy.megatron_cfg", mapped, nullptr, "with check --map megatron it becomes the size of that name in policy.dtensor_cfg", "",
       "tensor_model_parallel_size context_parallel_size expert_model_parallel_size pipeline_model_parallel_size sequence_parallel "
       "num_layers_in_first_pipeline_stage num_layers_in_last_pipeline_stage"},
      {"policy.megatron_cfg", mapped, nullptr, "with check --map megatron it becomes policy.optimizer or policy.max_grad_norm", "",
       "optimizer.optimizer optimizer.lr optimizer.adam_beta1 optimizer.adam_beta2 optimizer.adam_eps optimizer.weight_decay optimizer.clip_grad"},
      {"policy.megatron_cfg", mapped, nullptr, "with check --map megatron it becomes policy.scheduler", "",
       "scheduler.lr_decay_iters scheduler.lr_decay_style scheduler.lr_warmup_init scheduler.lr_warmup_iters optimizer.min_lr train_iters"},
      {"policy.megatron_cfg", mapped, nullptr, "with check --map megatron it becomes policy.dtensor_cfg.activation_checkpointing", "",
       "activation_checkpointing recompute_granularity recompute_modules"},
      {"policy.megatron_cfg", refused, asks::for_more_than_one, "experts whose matrices are split over ranks", "{key}=1",
       "expert_tensor_parallel_size"},
      {"policy.megatron_cfg", refused, asks::for_true, "8-bit floats in training", "{key}=false",
       "fp8_cfg.enabled"},
      {"policy.megatron_cfg", noted, nullptr, "counts with fp8_cfg.enabled alone", "",
       "fp8_cfg.fp8 fp8_cfg.fp8_param fp8_cfg.fp8_recipe"},
      {"policy.megatron_cfg", not_yet, asks::for_true, "adapters: all weights are trained", "{key}=false",
       "peft.enabled"},
      {"policy.megatron_cfg", noted, nullptr, "counts with peft.enabled alone", "",
       "peft.a2a_experimental peft.alpha peft.dim peft.dropout peft.dropout_position peft.exclude_modules peft.lora_A_init_method "
       "peft.lora_B_init_method peft.lora_dtype peft.target_modules"},
      {"policy.megatron_cfg", refused, asks::for_more_than_zero, "heads that predict several tokens; their tensors are kept as they are", "{key}=0",
       "mtp_num_layers"},
      {"policy.megatron_cfg", noted, nullptr, "counts with mtp_num_layers alone", "",
       "mtp_detach_heads mtp_loss_scaling_factor mtp_use_repeated_layer"},
      {"policy.megatron_cfg", refused, asks::for_something, "changes of the model by code of Megatron", "~{key}",
       "model_overrides.*"},
      {"policy.megatron_cfg", not_yet, asks::for_something, "environment variables of the workers", "~{key}",
       "env_vars.*"},
      {"policy.megatron_cfg", noted, nullptr, "counts in a section at the top of a recipe alone; here the section was merged", "",
       "_override_"},
      {"policy.megatron_cfg", noted, nullptr, "switches of Megatron's own kernels, exchanges and memory", "",
       "apply_rope_fusion attention_backend bias_activation_fusion calculate_per_token_loss checkpoint.async_save "
       "checkpoint.ckpt_assume_constant_structure clear_memory_caches_before_refit converter_type cp_normalize cuda_graph_impl cuda_graph_modules "
       "cuda_graph_warmup_steps defer_fp32_logits distributed_data_parallel_config.average_in_collective "
       "distributed_data_parallel_config.data_parallel_sharding_strategy distributed_data_parallel_config.grad_reduce_in_fp32 "
       "distributed_data_parallel_config.overlap_grad_reduce distributed_data_parallel_config.overlap_param_gather "
       "distributed_data_parallel_config.use_custom_fsdp do_not_average_loss empty_unused_memory_level env_vars.NCCL_ALGO env_vars.NCCL_PROTO "
       "env_vars.NRL_REFIT_BUFFER_MEMORY_RATIO env_vars.NRL_REFIT_NUM_BUFFERS env_vars.NVTE_FP8_BLOCK_SCALING_FP32_SCALES "
       "env_vars.PYTORCH_CUDA_ALLOC_CONF env_vars.TORCH_CUDA_ARCH_LIST fine_grained_activation_offloading force_reconvert_from_hf "
       "freeze_config.freeze_language_model freeze_config.freeze_vision_model freeze_config.freeze_vision_projection freeze_moe_router "
       "freeze_sound_encoder freeze_sound_projection freeze_vision_model freeze_vision_projection fused_linear_logprobs_chunk_size "
       "gradient_accumulation_fusion model_overrides moe_aux_loss_coeff moe_enable_deepep moe_flex_dispatcher_backend moe_grouped_gemm "
       "moe_hybridep_num_sms moe_per_layer_logging moe_permute_fusion moe_router_bias_update_rate moe_router_dtype moe_router_enable_expert_bias "
       "moe_router_load_balancing_type moe_shared_expert_overlap moe_token_dispatcher_type offload_modules optimizer.bf16 optimizer.fp16 "
       "optimizer.optimizer_cpu_offload optimizer.optimizer_offload_fraction optimizer.overlap_cpu_optimizer_d2h_h2d optimizer.params_dtype "
       "optimizer.sgd_momentum optimizer.use_distributed_optimizer optimizer.use_precision_aware_optimizer pipeline_dtype "
       "radio_force_cpe_eval_mode scale_loss_by_dp_cp_size scheduler.end_weight_decay scheduler.override_opt_param_scheduler "
       "scheduler.start_weight_decay scheduler.weight_decay_incr_style track_moe_metrics use_fused_linear_logprobs use_fused_weighted_squared_relu "
       "use_gloo_process_groups"},
  };
}

}  // namespace ringwright::recipe
// clang-format on
