// Data only: the keys of NeMo RL's public recipes (revision 7ea279ab) and of its configuration, by section. The elements of a list count as the list.
// clang-format off
#pragma once

#include <string_view>

namespace ringwright::recipe {

struct KnownSection {
  std::string_view section;
  std::string_view keys;  // dotted, separated by blanks
};

inline constexpr KnownSection kKnownSections[] = {
    {"grpo",
     "adv_estimator.minus_baseline adv_estimator.name adv_estimator.normalize_rewards adv_estimator.reward_weights "
     "adv_estimator.use_leave_one_out_baseline advantage_clip_high advantage_clip_low async_grpo.enabled "
     "async_grpo.in_flight_weight_updates async_grpo.max_generation_failures async_grpo.max_trajectory_age_steps "
     "async_grpo.recompute_kv_cache_after_weight_updates batch_multiplier calculate_advantages_on_gpu debug_payload_metrics "
     "deduplicate_multimodal_data dynamic_sampling_max_gen_batches invalid_tool_call_advantage invalid_tool_call_strategy "
     "malformed_thinking_advantage max_num_epochs max_num_steps max_rollout_turns max_val_samples normalize_rewards "
     "num_generations_per_prompt num_prompts_per_step num_val_generations_per_prompt overlong_filtering penalize_invalid_tool_call "
     "penalize_malformed_thinking reward_scaling.enabled reward_scaling.source_max reward_scaling.source_min reward_scaling.target_max "
     "reward_scaling.target_min reward_shaping.enabled reward_shaping.max_response_length reward_shaping.overlong_buffer_length "
     "reward_shaping.overlong_buffer_penalty reward_shaping.stop_properly_penalty_coef seed seq_logprob_error_threshold "
     "skip_reference_policy_logprobs_calculation stop_at_validation_metric stop_at_validation_threshold use_dynamic_sampling "
     "use_leave_one_out_baseline val_at_end val_at_start val_batch_size val_num_generations_per_prompt val_period val_start_at "
     "zero_variance_prompt_filtering"},
    {"loss_fn",
     "alpha ce_loss_scale disable_ppo_ratio dynamic_loss_scaling exact_token_match_only force_on_policy_ratio gold_loss kd_loss_mode "
     "kl_input_clamp_value kl_loss_weight kl_output_clamp_value kl_type mixed_kl_weight normalize_teacher_by_vocab "
     "positive_example_nll_weight ratio_clip_c ratio_clip_max ratio_clip_min reference_policy_kl_penalty reference_policy_kl_type "
     "reverse_kl sequence_level_importance_ratios sum_weights_metric temperature token_level_loss truncated_importance_sampling_ratio "
     "truncated_importance_sampling_ratio_min truncated_importance_sampling_type uncommon_topk use_cispo "
     "use_importance_sampling_correction use_kl_in_reward use_on_policy_kl_approximation vocab_topk xtoken_loss zero_outside_topk"},
    {"sft",
     "max_num_epochs max_num_steps only_unmask_final seed val_at_end val_at_start val_batches val_global_batch_size val_micro_batch_size "
     "val_period"},
    {"dpo",
     "max_num_epochs max_num_steps preference_average_log_probs preference_loss_weight reference_policy_kl_penalty seed "
     "sft_average_log_probs sft_loss_weight val_at_end val_at_start val_batches val_global_batch_size val_micro_batch_size val_period"},
    {"rm",
     "max_num_epochs max_num_steps seed val_at_end val_at_start val_batches val_global_batch_size val_micro_batch_size val_period"},
    {"ppo",
     "adv_estimator.gae_gamma adv_estimator.gae_lambda adv_estimator.gae_lambda_policy adv_estimator.gae_lambda_value "
     "adv_estimator.length_adaptive_alpha adv_estimator.name adv_estimator.normalize_advantages "
     "async_ppo.drop_incomplete_targets_on_restore async_ppo.enabled async_ppo.in_flight_weight_updates "
     "async_ppo.max_trajectory_age_steps async_ppo.recompute_kv_cache_after_weight_updates async_ppo.warmup_generation_lead_steps "
     "batch_multiplier dynamic_sampling_max_gen_batches max_num_epochs max_num_steps max_rollout_turns max_val_samples "
     "num_generations_per_prompt num_prompts_per_step overlong_filtering policy_training_start_step ppo_epochs reward_scaling.enabled "
     "reward_scaling.source_max reward_scaling.source_min reward_scaling.target_max reward_scaling.target_min reward_shaping.enabled "
     "reward_shaping.max_response_length reward_shaping.overlong_buffer_length reward_shaping.overlong_buffer_penalty "
     "reward_shaping.stop_properly_penalty_coef seed seq_logprob_error_threshold skip_reference_policy_logprobs_calculation "
     "use_dynamic_sampling val_at_end val_at_start val_batch_size val_period"},
    {"value_loss_fn",
     "cliprange scale"},
    {"distillation",
     "max_num_epochs max_num_steps max_rollout_turns max_val_samples num_generations_per_prompt num_prompts_per_step seed topk_logits_k "
     "val_at_end val_at_start val_batch_size val_period"},
    {"policy",
     "activation_checkpointing_enabled dequantize_base_checkpoint disable_modelopt_layer_spec draft.aux_layer_indices draft.enabled "
     "draft.loss_weight draft.model_name draft.num_layers dtensor_cfg._v2 dtensor_cfg.activation_checkpointing "
     "dtensor_cfg.automodel_kwargs.attn_implementation dtensor_cfg.automodel_kwargs.backend._target_ "
     "dtensor_cfg.automodel_kwargs.backend.attn dtensor_cfg.automodel_kwargs.backend.dispatcher "
     "dtensor_cfg.automodel_kwargs.backend.enable_deepep dtensor_cfg.automodel_kwargs.backend.enable_fsdp_optimizations "
     "dtensor_cfg.automodel_kwargs.backend.enable_hf_state_dict_adapter dtensor_cfg.automodel_kwargs.backend.experts "
     "dtensor_cfg.automodel_kwargs.backend.fake_balanced_gate dtensor_cfg.automodel_kwargs.backend.gate_precision "
     "dtensor_cfg.automodel_kwargs.backend.linear dtensor_cfg.automodel_kwargs.backend.rms_norm "
     "dtensor_cfg.automodel_kwargs.backend.rope_fusion dtensor_cfg.automodel_kwargs.force_hf "
     "dtensor_cfg.automodel_kwargs.freeze_config.freeze_audio_tower dtensor_cfg.automodel_kwargs.freeze_config.freeze_language_model "
     "dtensor_cfg.automodel_kwargs.freeze_config.freeze_vision_tower dtensor_cfg.automodel_kwargs.use_liger_kernel "
     "dtensor_cfg.automodel_kwargs.use_sdpa_patching dtensor_cfg.clear_cache_every_n_steps dtensor_cfg.context_parallel_size "
     "dtensor_cfg.cp_rotate_method dtensor_cfg.cpu_offload dtensor_cfg.custom_parallel_plan dtensor_cfg.dp_replicate_size dtensor_cfg.enabled "
     "dtensor_cfg.env_vars.PYTORCH_CUDA_ALLOC_CONF dtensor_cfg.expert_parallel_size dtensor_cfg.lora_cfg.alpha dtensor_cfg.lora_cfg.dim "
     "dtensor_cfg.lora_cfg.dropout dtensor_cfg.lora_cfg.dropout_position dtensor_cfg.lora_cfg.enabled "
     "dtensor_cfg.lora_cfg.exclude_modules dtensor_cfg.lora_cfg.lora_A_init dtensor_cfg.lora_cfg.match_all_linear "
     "dtensor_cfg.lora_cfg.target_modules dtensor_cfg.lora_cfg.use_triton dtensor_cfg.moe_parallelizer.ignore_router_for_ac "
     "dtensor_cfg.sequence_parallel dtensor_cfg.tensor_parallel_size dynamic_batching.enabled dynamic_batching.logprob_mb_tokens "
     "dynamic_batching.sequence_length_round dynamic_batching.train_mb_tokens generation.backend generation.bad_words "
     "generation.colocated.enabled generation.colocated.resources.gpus_per_node generation.colocated.resources.num_nodes "
     "generation.dynamo_cfg.control_timeout_s generation.dynamo_cfg.engine generation.dynamo_cfg.frontend_args.extra_cli_args "
     "generation.dynamo_cfg.frontend_args.router_mode generation.dynamo_cfg.frontend_args.router_reset_states "
     "generation.dynamo_cfg.frontend_args.tokenizer generation.dynamo_cfg.frontend_args.tokenizer_cache "
     "generation.dynamo_cfg.frontend_args.tokenizer_cache_bytes generation.dynamo_cfg.metrics_exclude_prefixes "
     "generation.dynamo_cfg.metrics_include_prefixes generation.dynamo_cfg.request_timeout_s generation.dynamo_cfg.startup_timeout_s "
     "generation.dynamo_cfg.worker_args.custom_jinja_template generation.dynamo_cfg.worker_args.enable_structural_tag "
     "generation.dynamo_cfg.worker_args.endpoint_types generation.dynamo_cfg.worker_args.exclude_tools_when_tool_choice_none "
     "generation.dynamo_cfg.worker_args.extra_cli_args generation.dynamo_cfg.worker_args.reasoning_parser "
     "generation.dynamo_cfg.worker_args.structural_tag_schema generation.dynamo_cfg.worker_args.structural_tag_scope "
     "generation.dynamo_cfg.worker_args.tool_call_parser generation.max_new_tokens "
     "generation.mcore_generation_config.activation_checkpointing generation.mcore_generation_config.block_size_tokens "
     "generation.mcore_generation_config.buffer_guaranteed_fraction generation.mcore_generation_config.buffer_size_gb "
     "generation.mcore_generation_config.context_parallel_size generation.mcore_generation_config.cuda_graph_impl "
     "generation.mcore_generation_config.enable_chunked_prefill generation.mcore_generation_config.enable_prefix_caching "
     "generation.mcore_generation_config.expert_model_parallel_size generation.mcore_generation_config.expert_tensor_parallel_size "
     "generation.mcore_generation_config.expose_http_server generation.mcore_generation_config.inference_cuda_graph_scope "
     "generation.mcore_generation_config.inference_grouped_gemm_backend "
     "generation.mcore_generation_config.inference_moe_token_dispatcher_type generation.mcore_generation_config.kv_cache_management_mode "
     "generation.mcore_generation_config.mamba_inference_ssm_states_dtype "
     "generation.mcore_generation_config.materialize_only_last_token_logits generation.mcore_generation_config.max_model_len "
     "generation.mcore_generation_config.max_tokens generation.mcore_generation_config.moe_router_dtype "
     "generation.mcore_generation_config.moe_router_group_topk generation.mcore_generation_config.moe_router_num_groups "
     "generation.mcore_generation_config.num_cuda_graphs generation.mcore_generation_config.num_speculative_tokens "
     "generation.mcore_generation_config.parsers generation.mcore_generation_config.pipeline_model_parallel_size "
     "generation.mcore_generation_config.refit_backend generation.mcore_generation_config.sequence_parallel "
     "generation.mcore_generation_config.tensor_model_parallel_size generation.mcore_generation_config.transformer_impl "
     "generation.mcore_generation_config.unified_memory_level generation.mcore_generation_config.use_cuda_graphs_for_non_decode_steps "
     "generation.port_range_high generation.port_range_low generation.quant_cfg generation.real_quant "
     "generation.real_quant_export_cpu_offload generation.real_quant_ignore generation.refit_cfg.nixl.backend_init_params "
     "generation.refit_cfg.nixl.backend_name generation.refit_cfg.nixl.device generation.refit_cfg.nixl.release_after_refit "
     "generation.refit_cfg.nixl.shard_expert_weights generation.refit_cfg.nixl.update_weights_bucket_memory_ratio "
     "generation.refit_cfg.sparse.baseline.in_memory generation.refit_cfg.sparse.delta_compression.encoding "
     "generation.refit_cfg.sparse.verify_samples_per_payload generation.refit_transport generation.sglang_cfg.allow_auto_truncate "
     "generation.sglang_cfg.context_length generation.sglang_cfg.disable_cuda_graph generation.sglang_cfg.disable_piecewise_cuda_graph "
     "generation.sglang_cfg.dp_size generation.sglang_cfg.dtype generation.sglang_cfg.ep_size generation.sglang_cfg.max_running_requests "
     "generation.sglang_cfg.mem_fraction_static generation.sglang_cfg.model_path generation.sglang_cfg.pp_size "
     "generation.sglang_cfg.random_seed generation.sglang_cfg.sglang_router_config.use_distributed_post "
     "generation.sglang_cfg.sglang_router_config.use_external_router generation.sglang_cfg.sglang_server_config.cpu_weight_backup "
     "generation.sglang_cfg.sglang_server_config.needs_offload generation.sglang_cfg.sglang_server_config.num_gpus "
     "generation.sglang_cfg.sglang_server_config.num_gpus_per_engine generation.sglang_cfg.sglang_server_config.pause_generation_mode "
     "generation.sglang_cfg.sglang_server_config.sglang_server_concurrency generation.sglang_cfg.skip_server_warmup "
     "generation.sglang_cfg.tp_size generation.stop_strings generation.stop_token_ids generation.temperature generation.top_k "
     "generation.top_p generation.trtllm_cfg.async_engine generation.trtllm_cfg.gpu_memory_utilization "
     "generation.trtllm_cfg.in_flight_weight_updates generation.trtllm_cfg.max_batch_size generation.trtllm_cfg.max_model_len "
     "generation.trtllm_cfg.max_num_tokens generation.trtllm_cfg.moe_expert_parallel_size generation.trtllm_cfg.moe_tensor_parallel_size "
     "generation.trtllm_cfg.precision generation.trtllm_cfg.recompute_kv_cache_after_weight_updates "
     "generation.trtllm_cfg.tensor_parallel_size generation.trtllm_kwargs.batch_wait_max_tokens_ratio "
     "generation.trtllm_kwargs.batch_wait_timeout_iters generation.trtllm_kwargs.kv_cache_config.mamba_ssm_cache_dtype "
     "generation.use_async_rollouts generation.val_temperature generation.val_top_k generation.val_top_p "
     "generation.vllm_cfg.async_engine generation.vllm_cfg.cap_max_tokens_to_context generation.vllm_cfg.distributed_executor_backend "
     "generation.vllm_cfg.enable_expert_parallel generation.vllm_cfg.enable_prefix_caching generation.vllm_cfg.enable_thinking "
     "generation.vllm_cfg.enable_vllm_metrics_logger generation.vllm_cfg.enforce_eager generation.vllm_cfg.enforce_monotonicity "
     "generation.vllm_cfg.env_vars.NCCL_ALGO generation.vllm_cfg.env_vars.NCCL_MNNVL_ENABLE generation.vllm_cfg.env_vars.NCCL_PROTO "
     "generation.vllm_cfg.env_vars.NRL_REFIT_BUFFER_MEMORY_RATIO generation.vllm_cfg.env_vars.NRL_REFIT_NUM_BUFFERS "
     "generation.vllm_cfg.env_vars.VLLM_USE_FLASHINFER_MOE_FP16 generation.vllm_cfg.env_vars.VLLM_USE_FLASHINFER_MOE_FP8 "
     "generation.vllm_cfg.env_vars.VLLM_USE_RAY_V2_EXECUTOR_BACKEND generation.vllm_cfg.expert_parallel_size "
     "generation.vllm_cfg.expose_http_server generation.vllm_cfg.gpu_memory_utilization generation.vllm_cfg.http_refit_api_key_env_var "
     "generation.vllm_cfg.http_refit_server_port generation.vllm_cfg.http_server_serving_chat_kwargs.chat_template "
     "generation.vllm_cfg.http_server_serving_chat_kwargs.chat_template_content_format "
     "generation.vllm_cfg.http_server_serving_chat_kwargs.default_chat_template_kwargs.enable_thinking "
     "generation.vllm_cfg.http_server_serving_chat_kwargs.default_chat_template_kwargs.truncate_history_thinking "
     "generation.vllm_cfg.http_server_serving_chat_kwargs.enable_auto_tools "
     "generation.vllm_cfg.http_server_serving_chat_kwargs.reasoning_parser "
     "generation.vllm_cfg.http_server_serving_chat_kwargs.tool_parser generation.vllm_cfg.is_mx generation.vllm_cfg.kv_cache_dtype "
     "generation.vllm_cfg.limit_mm_per_prompt.audio generation.vllm_cfg.limit_mm_per_prompt.video generation.vllm_cfg.load_format "
     "generation.vllm_cfg.logprobs_mode generation.vllm_cfg.max_model_len generation.vllm_cfg.num_first_layers_in_bf16 "
     "generation.vllm_cfg.num_last_layers_in_bf16 generation.vllm_cfg.pipeline_parallel_size generation.vllm_cfg.precision "
     "generation.vllm_cfg.quantization_ignored_layer_kws generation.vllm_cfg.reasoning_parser_plugin "
     "generation.vllm_cfg.reset_encoder_cache_after_weight_update generation.vllm_cfg.skip_tokenizer_init "
     "generation.vllm_cfg.tensor_parallel_size generation.vllm_cfg.use_deep_gemm generation.vllm_cfg.use_tqdm "
     "generation.vllm_cfg.video.num_frames generation.vllm_cfg.video.sampling_style generation.vllm_cfg.video.temporal_patch_size "
     "generation.vllm_cfg.vllm_metrics_logger_interval generation.vllm_cfg.zmq_refit_server_port "
     "generation.vllm_kwargs.allowed_local_media_path generation.vllm_kwargs.attention_backend "
     "generation.vllm_kwargs.attention_config.use_trtllm_attention generation.vllm_kwargs.block_size "
     "generation.vllm_kwargs.compilation_config.backend generation.vllm_kwargs.compilation_config.cudagraph_capture_sizes "
     "generation.vllm_kwargs.compilation_config.cudagraph_mode generation.vllm_kwargs.compilation_config.custom_ops "
     "generation.vllm_kwargs.compilation_config.pass_config.fuse_allreduce_rms generation.vllm_kwargs.disable_custom_all_reduce "
     "generation.vllm_kwargs.enable_chunked_prefill generation.vllm_kwargs.kernel_config.enable_flashinfer_autotune "
     "generation.vllm_kwargs.kernel_config.moe_backend generation.vllm_kwargs.kv_cache_memory_bytes "
     "generation.vllm_kwargs.language_model_only generation.vllm_kwargs.limit_mm_per_prompt.audio "
     "generation.vllm_kwargs.limit_mm_per_prompt.image generation.vllm_kwargs.limit_mm_per_prompt.video.count "
     "generation.vllm_kwargs.limit_mm_per_prompt.video.num_frames generation.vllm_kwargs.mamba_cache_mode "
     "generation.vllm_kwargs.mamba_ssm_cache_dtype generation.vllm_kwargs.max_num_batched_tokens generation.vllm_kwargs.max_num_seqs "
     "generation.vllm_kwargs.mm_processor_cache_gb generation.vllm_kwargs.moe_backend generation.vllm_kwargs.skip_mm_profiling "
     "generation.vllm_kwargs.speculative_config.draft_tensor_parallel_size generation.vllm_kwargs.speculative_config.method "
     "generation.vllm_kwargs.speculative_config.model generation.vllm_kwargs.speculative_config.num_speculative_tokens "
     "generation.vllm_kwargs.tokenizer generation_batch_size hf_config_overrides.max_position_embeddings "
     "hf_config_overrides.rope_scaling.beta_fast hf_config_overrides.rope_scaling.beta_slow hf_config_overrides.rope_scaling.factor "
     "hf_config_overrides.rope_scaling.mscale hf_config_overrides.rope_scaling.mscale_all_dim "
     "hf_config_overrides.rope_scaling.original_max_position_embeddings hf_config_overrides.rope_scaling.rope_theta "
     "hf_config_overrides.rope_scaling.rope_type hf_config_overrides.rope_scaling.truncate hf_config_overrides.router_aux_loss_coef "
     "hf_config_overrides.text_config.router_aux_loss_coef is_vlm logprob_batch_size logprob_chunk_size "
     "make_sequence_length_divisible_by max_grad_norm max_total_sequence_length megatron_cfg.activation_checkpointing "
     "megatron_cfg.apply_rope_fusion megatron_cfg.attention_backend megatron_cfg.bias_activation_fusion "
     "megatron_cfg.calculate_per_token_loss megatron_cfg.checkpoint.async_save megatron_cfg.checkpoint.ckpt_assume_constant_structure "
     "megatron_cfg.clear_memory_caches_before_refit megatron_cfg.context_parallel_size megatron_cfg.converter_type "
     "megatron_cfg.cp_normalize megatron_cfg.cuda_graph_impl megatron_cfg.cuda_graph_modules megatron_cfg.cuda_graph_warmup_steps "
     "megatron_cfg.defer_fp32_logits megatron_cfg.distributed_data_parallel_config.average_in_collective "
     "megatron_cfg.distributed_data_parallel_config.data_parallel_sharding_strategy "
     "megatron_cfg.distributed_data_parallel_config.grad_reduce_in_fp32 "
     "megatron_cfg.distributed_data_parallel_config.overlap_grad_reduce "
     "megatron_cfg.distributed_data_parallel_config.overlap_param_gather megatron_cfg.distributed_data_parallel_config.use_custom_fsdp "
     "megatron_cfg.do_not_average_loss megatron_cfg.empty_unused_memory_level megatron_cfg.enabled megatron_cfg.env_vars.NCCL_ALGO "
     "megatron_cfg.env_vars.NCCL_PROTO megatron_cfg.env_vars.NRL_REFIT_BUFFER_MEMORY_RATIO megatron_cfg.env_vars.NRL_REFIT_NUM_BUFFERS "
     "megatron_cfg.env_vars.NVTE_FP8_BLOCK_SCALING_FP32_SCALES megatron_cfg.env_vars.PYTORCH_CUDA_ALLOC_CONF "
     "megatron_cfg.env_vars.TORCH_CUDA_ARCH_LIST megatron_cfg.expert_model_parallel_size megatron_cfg.expert_tensor_parallel_size "
     "megatron_cfg.fine_grained_activation_offloading megatron_cfg.force_reconvert_from_hf megatron_cfg.fp8_cfg.enabled "
     "megatron_cfg.fp8_cfg.fp8 megatron_cfg.fp8_cfg.fp8_param megatron_cfg.fp8_cfg.fp8_recipe "
     "megatron_cfg.freeze_config.freeze_language_model megatron_cfg.freeze_config.freeze_vision_model "
     "megatron_cfg.freeze_config.freeze_vision_projection megatron_cfg.freeze_moe_router megatron_cfg.freeze_sound_encoder "
     "megatron_cfg.freeze_sound_projection megatron_cfg.freeze_vision_model megatron_cfg.freeze_vision_projection "
     "megatron_cfg.fused_linear_logprobs_chunk_size megatron_cfg.gradient_accumulation_fusion megatron_cfg.model_overrides "
     "megatron_cfg.moe_aux_loss_coeff megatron_cfg.moe_enable_deepep megatron_cfg.moe_flex_dispatcher_backend "
     "megatron_cfg.moe_grouped_gemm megatron_cfg.moe_hybridep_num_sms megatron_cfg.moe_per_layer_logging megatron_cfg.moe_permute_fusion "
     "megatron_cfg.moe_router_bias_update_rate megatron_cfg.moe_router_dtype megatron_cfg.moe_router_enable_expert_bias "
     "megatron_cfg.moe_router_load_balancing_type megatron_cfg.moe_shared_expert_overlap megatron_cfg.moe_token_dispatcher_type "
     "megatron_cfg.mtp_detach_heads megatron_cfg.mtp_loss_scaling_factor megatron_cfg.mtp_num_layers megatron_cfg.mtp_use_repeated_layer "
     "megatron_cfg.num_layers_in_first_pipeline_stage megatron_cfg.num_layers_in_last_pipeline_stage megatron_cfg.offload_modules "
     "megatron_cfg.optimizer.adam_beta1 megatron_cfg.optimizer.adam_beta2 megatron_cfg.optimizer.adam_eps megatron_cfg.optimizer.bf16 "
     "megatron_cfg.optimizer.clip_grad megatron_cfg.optimizer.fp16 megatron_cfg.optimizer.lr megatron_cfg.optimizer.min_lr "
     "megatron_cfg.optimizer.optimizer megatron_cfg.optimizer.optimizer_cpu_offload megatron_cfg.optimizer.optimizer_offload_fraction "
     "megatron_cfg.optimizer.overlap_cpu_optimizer_d2h_h2d megatron_cfg.optimizer.params_dtype megatron_cfg.optimizer.sgd_momentum "
     "megatron_cfg.optimizer.use_distributed_optimizer megatron_cfg.optimizer.use_precision_aware_optimizer "
     "megatron_cfg.optimizer.weight_decay megatron_cfg.peft.a2a_experimental megatron_cfg.peft.alpha megatron_cfg.peft.dim "
     "megatron_cfg.peft.dropout megatron_cfg.peft.dropout_position megatron_cfg.peft.enabled megatron_cfg.peft.exclude_modules "
     "megatron_cfg.peft.lora_A_init_method megatron_cfg.peft.lora_B_init_method megatron_cfg.peft.lora_dtype "
     "megatron_cfg.peft.target_modules megatron_cfg.pipeline_dtype megatron_cfg.pipeline_model_parallel_size "
     "megatron_cfg.radio_force_cpe_eval_mode megatron_cfg.recompute_granularity megatron_cfg.recompute_modules "
     "megatron_cfg.scale_loss_by_dp_cp_size megatron_cfg.scheduler.end_weight_decay megatron_cfg.scheduler.lr_decay_iters "
     "megatron_cfg.scheduler.lr_decay_style megatron_cfg.scheduler.lr_warmup_init megatron_cfg.scheduler.lr_warmup_iters "
     "megatron_cfg.scheduler.override_opt_param_scheduler megatron_cfg.scheduler.start_weight_decay "
     "megatron_cfg.scheduler.weight_decay_incr_style megatron_cfg.sequence_parallel megatron_cfg.tensor_model_parallel_size "
     "megatron_cfg.track_moe_metrics megatron_cfg.train_iters megatron_cfg.use_fused_linear_logprobs "
     "megatron_cfg.use_fused_weighted_squared_relu megatron_cfg.use_gloo_process_groups model_name offload_optimizer_for_logprob "
     "optimizer.kwargs.betas optimizer.kwargs.eps optimizer.kwargs.exp_avg_dtype optimizer.kwargs.exp_avg_sq_dtype "
     "optimizer.kwargs.foreach optimizer.kwargs.fused optimizer.kwargs.lr optimizer.kwargs.master_weights "
     "optimizer.kwargs.store_param_remainders optimizer.kwargs.weight_decay optimizer.name precision quant_batch_size quant_calib_data "
     "quant_calib_size quant_cfg quant_sequence_length refit_buffer_size_gb reward_model_cfg.enabled reward_model_cfg.reward_model_type "
     "router_replay.enabled scheduler.kwargs.T_max scheduler.kwargs.end_factor scheduler.kwargs.eta_min scheduler.kwargs.factor "
     "scheduler.kwargs.start_factor scheduler.kwargs.total_iters scheduler.milestones scheduler.name sequence_packing.algorithm "
     "sequence_packing.enabled sequence_packing.fuse_loss sequence_packing.logprob_mb_tokens sequence_packing.microbatch_order "
     "sequence_packing.sequence_length_round sequence_packing.train_mb_tokens tokenizer.chat_template "
     "tokenizer.chat_template_kwargs.enable_thinking tokenizer.chat_template_kwargs.truncate_history_thinking tokenizer.name "
     "tokenizer.use_fastokens tokenizer.video.num_frames train_global_batch_size train_micro_batch_size"},
    {"teachers",
     "gold_loss projection_matrix_path weight xtoken_loss"},
    {"data",
     "add_bos add_eos add_generation_prompt add_system_prompt custom_dataloader dataset_name default.dataset_name default.env_name "
     "default.input_key default.output_key default.processor default.prompt_file default.system_prompt_file "
     "default.video_maintain_aspect_ratio default.video_target_num_patches env_name file_format max_input_seq_length "
     "num_prompts_per_dataloader num_workers problem_key processor prompt_file repeat shuffle solution_key split system_prompt_file "
     "train.allowed_problem_types train.characters_per_sample train.data_files train.data_path train.dataset_name train.download_dir "
     "train.env_name train.input_key train.max_samples train.output_key train.processor train.prompt_key train.response_key train.seed "
     "train.split train.split_validation_size train.text_key use_multiple_dataloader validation.allowed_problem_types "
     "validation.data_path validation.dataset_name validation.env_name validation.input_key validation.output_key validation.processor "
     "validation.repeat validation.split"},
    {"env",
     "dapo.num_workers math.math_verify_impl math.num_workers math.verifier_type math_multi_reward.math_verify_impl "
     "math_multi_reward.num_workers nemo_gym.circle_click_simple_agent nemo_gym.code_gen nemo_gym.config_paths nemo_gym.effort_levels "
     "nemo_gym.equivalence_llm_judge nemo_gym.genrm_compare_resources_server nemo_gym.genrm_model nemo_gym.invalid_tool_call_patterns "
     "nemo_gym.inverse_if nemo_gym.is_trajectory_collection nemo_gym.jailbreak_detection nemo_gym.lc_judge nemo_gym.math_with_judge "
     "nemo_gym.multichallenge nemo_gym.nl2bash_judge_model nemo_gym.num_gpu_nodes nemo_gym.pad_dynamic_image_shapes "
     "nemo_gym.policy_max_input_tokens nemo_gym.policy_model nemo_gym.policy_model_reasoning_off nemo_gym.port_range_high "
     "nemo_gym.port_range_low nemo_gym.safety_judge_model nemo_gym.single_step_tool_use_with_argument_comparison_swe "
     "nemo_gym.skip_venv_if_present nemo_gym.thinking_tags nemo_gym.use_absolute_ip nemo_gym.uv_pip_set_python nemo_gym.uv_venv_dir "
     "should_log_nemo_gym_responses should_mask_flagged_samples should_use_nemo_gym"},
    {"logger",
     "gpu_monitoring.collection_interval gpu_monitoring.flush_interval log_dir mlflow.experiment_name mlflow.run_name "
     "mlflow.tracking_uri mlflow_enabled monitor_gpus num_val_samples_to_print swanlab.name swanlab.project swanlab_enabled "
     "tensorboard.log_dir tensorboard_enabled wandb.log_nemo_gym_full_result_tables wandb.name wandb.project wandb_enabled"},
    {"checkpointing",
     "checkpoint_dir checkpoint_must_save_by enabled ft_keep_latest_k ft_save_period higher_is_better keep_top_k metric_name "
     "model_save_format save_consolidated save_optimizer save_period"},
    {"cluster",
     "gpus_per_node master_port_range_high master_port_range_low num_nodes segment_size"},
    {"eval",
     "k_value metric num_tests_per_prompt save_path seed"},
    {"data_plane",
     "backend claim_meta_poll_interval_s enabled global_segment_size impl local_buffer_size num_storage_units storage_capacity"},
    {"async_rl",
     "diagnostics generation_fleet_health.enabled generation_fleet_health.healthy_threshold "
     "generation_fleet_health.max_restart_attempts_per_shard generation_fleet_health.min_healthy_shards "
     "generation_fleet_health.on_dead_shard generation_fleet_health.probe_interval_s generation_fleet_health.probe_timeout_s "
     "generation_fleet_health.selection generation_fleet_health.unhealthy_threshold generation_router.backend_timeout_s "
     "generation_router.connect_timeout_s generation_router.enabled generation_router.no_healthy_backend_status "
     "generation_router.port_range_high generation_router.port_range_low max_buffered_rollouts max_inflight_prompts "
     "min_groups_for_streaming_train recompute_kv_cache_after_weight_updates rollout_failure.backoff_base_s "
     "rollout_failure.max_backoff_s rollout_failure.max_consecutive_dropped_prompts rollout_failure.max_data_attempts_per_prompt "
     "rollout_failure.max_infra_attempts_per_prompt rollout_failure.max_replacement_attempts rollout_failure.max_skipped_prompts "
     "rollout_failure.min_step_batch_fraction rollout_failure.native.env_timeout_s rollout_failure.native.generation_timeout_s "
     "rollout_failure.nemo_gym.max_row_attempts rollout_failure.nemo_gym.rollout_timeout_s rollout_failure.on_dropped_prompt "
     "rollout_failure.replacement_reserve_prompts sampler.max_lookahead_versions sampler.max_staleness_versions sampler.name "
     "stall_watchdog.gym_subprocess_check stall_watchdog.interval_s stall_watchdog.stall_action stall_watchdog.stall_timeout_s"},
    {"ringwright",
     "name threads_per_rank probe_first compat paths rollout cp.chunk cp.flavour cp.method cp.transport data.text_rows "
     "optimizer.decay_rule restart.max packing.document_divisor"},
    {"", "defaults run_name"},
};

// Sections that are made like another one.
struct LikeSection {
  std::string_view section;
  std::string_view like;
};

inline constexpr LikeSection kLikeSections[] = {{"value", "policy"}, {"teacher", "policy"}, {"teachers", "policy"}, {"eval", "policy"}};

// Below these, names are the user's own.
inline constexpr std::string_view kOpenMaps[] = {
    "env", "ringwright.paths", "ringwright.rollout", "policy.hf_config_overrides", "policy.dtensor_cfg.env_vars",
    "policy.megatron_cfg.env_vars", "policy.megatron_cfg.model_overrides", "policy.dtensor_cfg.automodel_kwargs",
    "policy.generation.vllm_kwargs", "policy.generation.vllm_cfg.env_vars",
    "policy.generation.trtllm_kwargs", "policy.generation.sglang_cfg", "policy.generation.dynamo_cfg", "policy.tokenizer.chat_template_kwargs",
    "policy.dtensor_cfg.custom_parallel_plan", "logger.mlflow", "logger.swanlab", "logger.wandb", "logger.tensorboard", "on_policy_distillation",
};

}  // namespace ringwright::recipe
// clang-format on
