// `policy.generation`. Data only.
// clang-format off
#include "shared/recipe/key_rows.h"

namespace ringwright::recipe {

using enum KeyUse;

std::vector<KeyRow> generation_key_rows() {
  return {
      {"policy.generation", mapped, nullptr, "rollouts are made by a sampler of the own; or ringwright.rollout.backend: openai for a server", "",
       "backend"},
      {"policy.generation", not_yet, nullptr, "of rollouts", "",
       "temperature top_p top_k max_new_tokens stop_token_ids stop_strings val_temperature val_top_k val_top_p"},
      {"policy.generation", refused, asks::for_something, "words that must not be generated", "{key}=[]",
       "bad_words"},
      {"policy.generation", not_yet, asks::for_false, "generation on devices of its own", "{key}=true",
       "colocated.enabled"},
      {"policy.generation", noted, nullptr, "counts with colocated.enabled: false alone", "",
       "colocated.resources.gpus_per_node colocated.resources.num_nodes"},
      {"policy.generation", refused, asks::for_something, "quantised weights in rollouts", "{key}=null",
       "quant_cfg"},
      {"policy.generation", refused, asks::for_true, "quantised weights in rollouts", "{key}=false",
       "real_quant"},
      {"policy.generation", noted, nullptr, "counts with quant_cfg or real_quant alone", "",
       "real_quant_export_cpu_offload real_quant_ignore"},
      {"policy.generation", refused, asks::for_fp8, "8-bit floats in rollouts", "{key}=bfloat16",
       "vllm_cfg.precision"},
      {"policy.generation", refused, asks::for_fp8, "8-bit floats in the cache of keys and values", "{key}=auto",
       "vllm_cfg.kv_cache_dtype"},
      {"policy.generation", refused, asks::for_true, "8-bit floats in rollouts", "{key}=false",
       "vllm_cfg.is_mx"},
      {"policy.generation", mapped, nullptr, "log-probabilities before or after top_k and top_p, as the recipe says", "",
       "vllm_cfg.logprobs_mode"},
      {"policy.generation", noted, nullptr, "the same distribution without it", "",
       "vllm_kwargs.speculative_config.draft_tensor_parallel_size vllm_kwargs.speculative_config.method vllm_kwargs.speculative_config.model "
       "vllm_kwargs.speculative_config.num_speculative_tokens"},
      {"policy.generation", noted, nullptr, "weights are shared in memory", "",
       "refit_cfg.nixl.backend_init_params refit_cfg.nixl.backend_name refit_cfg.nixl.device refit_cfg.nixl.release_after_refit "
       "refit_cfg.nixl.shard_expert_weights refit_cfg.nixl.update_weights_bucket_memory_ratio refit_cfg.sparse.baseline.in_memory "
       "refit_cfg.sparse.delta_compression.encoding refit_cfg.sparse.verify_samples_per_payload refit_transport "
       "vllm_cfg.http_refit_api_key_env_var vllm_cfg.http_refit_server_port vllm_cfg.zmq_refit_server_port"},
      {"policy.generation", noted, nullptr, "of vLLM alone", "",
       "vllm_cfg.async_engine vllm_cfg.cap_max_tokens_to_context vllm_cfg.distributed_executor_backend vllm_cfg.enable_expert_parallel "
       "vllm_cfg.enable_prefix_caching vllm_cfg.enable_thinking vllm_cfg.enable_vllm_metrics_logger vllm_cfg.enforce_eager "
       "vllm_cfg.enforce_monotonicity vllm_cfg.env_vars.NCCL_ALGO vllm_cfg.env_vars.NCCL_MNNVL_ENABLE vllm_cfg.env_vars.NCCL_PROTO "
       "vllm_cfg.env_vars.NRL_REFIT_BUFFER_MEMORY_RATIO vllm_cfg.env_vars.NRL_REFIT_NUM_BUFFERS vllm_cfg.env_vars.VLLM_USE_FLASHINFER_MOE_FP16 "
       "vllm_cfg.env_vars.VLLM_USE_FLASHINFER_MOE_FP8 vllm_cfg.env_vars.VLLM_USE_RAY_V2_EXECUTOR_BACKEND vllm_cfg.expert_parallel_size "
       "vllm_cfg.expose_http_server vllm_cfg.gpu_memory_utilization vllm_cfg.http_server_serving_chat_kwargs.chat_template "
       "vllm_cfg.http_server_serving_chat_kwargs.chat_template_content_format "
       "vllm_cfg.http_server_serving_chat_kwargs.default_chat_template_kwargs.enable_thinking "
       "vllm_cfg.http_server_serving_chat_kwargs.default_chat_template_kwargs.truncate_history_thinking "
       "vllm_cfg.http_server_serving_chat_kwargs.enable_auto_tools vllm_cfg.http_server_serving_chat_kwargs.reasoning_parser "
       "vllm_cfg.http_server_serving_chat_kwargs.tool_parser vllm_cfg.limit_mm_per_prompt.audio vllm_cfg.limit_mm_per_prompt.video "
       "vllm_cfg.load_format vllm_cfg.max_model_len vllm_cfg.num_first_layers_in_bf16 vllm_cfg.num_last_layers_in_bf16 "
       "vllm_cfg.pipeline_parallel_size vllm_cfg.quantization_ignored_layer_kws vllm_cfg.reasoning_parser_plugin "
       "vllm_cfg.reset_encoder_cache_after_weight_update vllm_cfg.skip_tokenizer_init vllm_cfg.tensor_parallel_size vllm_cfg.use_deep_gemm "
       "vllm_cfg.use_tqdm vllm_cfg.video.num_frames vllm_cfg.video.sampling_style vllm_cfg.video.temporal_patch_size "
       "vllm_cfg.vllm_metrics_logger_interval vllm_kwargs.allowed_local_media_path vllm_kwargs.attention_backend "
       "vllm_kwargs.attention_config.use_trtllm_attention vllm_kwargs.block_size vllm_kwargs.compilation_config.backend "
       "vllm_kwargs.compilation_config.cudagraph_capture_sizes vllm_kwargs.compilation_config.cudagraph_mode "
       "vllm_kwargs.compilation_config.custom_ops vllm_kwargs.compilation_config.pass_config.fuse_allreduce_rms "
       "vllm_kwargs.disable_custom_all_reduce vllm_kwargs.enable_chunked_prefill vllm_kwargs.kernel_config.enable_flashinfer_autotune "
       "vllm_kwargs.kernel_config.moe_backend vllm_kwargs.kv_cache_memory_bytes vllm_kwargs.language_model_only "
       "vllm_kwargs.limit_mm_per_prompt.audio vllm_kwargs.limit_mm_per_prompt.image vllm_kwargs.limit_mm_per_prompt.video.count "
       "vllm_kwargs.limit_mm_per_prompt.video.num_frames vllm_kwargs.mamba_cache_mode vllm_kwargs.mamba_ssm_cache_dtype "
       "vllm_kwargs.max_num_batched_tokens vllm_kwargs.max_num_seqs vllm_kwargs.mm_processor_cache_gb vllm_kwargs.moe_backend "
       "vllm_kwargs.skip_mm_profiling vllm_kwargs.tokenizer vllm_cfg.env_vars.* vllm_kwargs.*"},
      {"policy.generation", noted, nullptr, "of Megatron, TensorRT-LLM, SGLang or Dynamo alone", "",
       "mcore_generation_config.activation_checkpointing mcore_generation_config.block_size_tokens "
       "mcore_generation_config.buffer_guaranteed_fraction mcore_generation_config.buffer_size_gb mcore_generation_config.context_parallel_size "
       "mcore_generation_config.cuda_graph_impl mcore_generation_config.enable_chunked_prefill mcore_generation_config.enable_prefix_caching "
       "mcore_generation_config.expert_model_parallel_size mcore_generation_config.expert_tensor_parallel_size "
       "mcore_generation_config.expose_http_server mcore_generation_config.inference_cuda_graph_scope "
       "mcore_generation_config.inference_grouped_gemm_backend mcore_generation_config.inference_moe_token_dispatcher_type "
       "mcore_generation_config.kv_cache_management_mode mcore_generation_config.mamba_inference_ssm_states_dtype "
       "mcore_generation_config.materialize_only_last_token_logits mcore_generation_config.max_model_len mcore_generation_config.max_tokens "
       "mcore_generation_config.moe_router_dtype mcore_generation_config.moe_router_group_topk mcore_generation_config.moe_router_num_groups "
       "mcore_generation_config.num_cuda_graphs mcore_generation_config.num_speculative_tokens mcore_generation_config.parsers "
       "mcore_generation_config.pipeline_model_parallel_size mcore_generation_config.refit_backend mcore_generation_config.sequence_parallel "
       "mcore_generation_config.tensor_model_parallel_size mcore_generation_config.transformer_impl mcore_generation_config.unified_memory_level "
       "mcore_generation_config.use_cuda_graphs_for_non_decode_steps trtllm_cfg.async_engine trtllm_cfg.gpu_memory_utilization "
       "trtllm_cfg.in_flight_weight_updates trtllm_cfg.max_batch_size trtllm_cfg.max_model_len trtllm_cfg.max_num_tokens "
       "trtllm_cfg.moe_expert_parallel_size trtllm_cfg.moe_tensor_parallel_size trtllm_cfg.precision "
       "trtllm_cfg.recompute_kv_cache_after_weight_updates trtllm_cfg.tensor_parallel_size trtllm_kwargs.batch_wait_max_tokens_ratio "
       "trtllm_kwargs.batch_wait_timeout_iters trtllm_kwargs.kv_cache_config.mamba_ssm_cache_dtype sglang_cfg.allow_auto_truncate "
       "sglang_cfg.context_length sglang_cfg.disable_cuda_graph sglang_cfg.disable_piecewise_cuda_graph sglang_cfg.dp_size sglang_cfg.dtype "
       "sglang_cfg.ep_size sglang_cfg.max_running_requests sglang_cfg.mem_fraction_static sglang_cfg.model_path sglang_cfg.pp_size "
       "sglang_cfg.random_seed sglang_cfg.sglang_router_config.use_distributed_post sglang_cfg.sglang_router_config.use_external_router "
       "sglang_cfg.sglang_server_config.cpu_weight_backup sglang_cfg.sglang_server_config.needs_offload sglang_cfg.sglang_server_config.num_gpus "
       "sglang_cfg.sglang_server_config.num_gpus_per_engine sglang_cfg.sglang_server_config.pause_generation_mode "
       "sglang_cfg.sglang_server_config.sglang_server_concurrency sglang_cfg.skip_server_warmup sglang_cfg.tp_size dynamo_cfg.control_timeout_s "
       "dynamo_cfg.engine dynamo_cfg.frontend_args.extra_cli_args dynamo_cfg.frontend_args.router_mode "
       "dynamo_cfg.frontend_args.router_reset_states dynamo_cfg.frontend_args.tokenizer dynamo_cfg.frontend_args.tokenizer_cache "
       "dynamo_cfg.frontend_args.tokenizer_cache_bytes dynamo_cfg.metrics_exclude_prefixes dynamo_cfg.metrics_include_prefixes "
       "dynamo_cfg.request_timeout_s dynamo_cfg.startup_timeout_s dynamo_cfg.worker_args.custom_jinja_template "
       "dynamo_cfg.worker_args.enable_structural_tag dynamo_cfg.worker_args.endpoint_types "
       "dynamo_cfg.worker_args.exclude_tools_when_tool_choice_none dynamo_cfg.worker_args.extra_cli_args dynamo_cfg.worker_args.reasoning_parser "
       "dynamo_cfg.worker_args.structural_tag_schema dynamo_cfg.worker_args.structural_tag_scope dynamo_cfg.worker_args.tool_call_parser "
       "trtllm_kwargs.* sglang_cfg.* dynamo_cfg.*"},
      {"policy.generation", noted, nullptr, "ports and threads of an engine outside", "",
       "port_range_high port_range_low use_async_rollouts"},
      {"generation", not_yet, nullptr, "of evaluation alone, without training", "",
       "model_name num_prompts_per_step"},
  };
}

}  // namespace ringwright::recipe
// clang-format on
