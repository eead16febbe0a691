// The algorithms and their losses. Data only.
// clang-format off
#include "shared/recipe/key_rows.h"

namespace ringwright::recipe {

using enum KeyUse;

std::vector<KeyRow> algorithm_key_rows() {
  return {
      {"sft", used, nullptr, "", "",
       "max_num_steps max_num_epochs val_period val_batches val_global_batch_size val_micro_batch_size val_at_start seed"},
      {"sft", not_yet, asks::for_true, "this version validates before the first step and every val_period steps", "{key}=false",
       "val_at_end"},
      {"sft", refused, asks::for_true, "it is about chat messages, which this version does not read", "{key}=false",
       "only_unmask_final"},
      {"grpo", refused, asks::for_true, "asynchronous rollouts: every rollout here is made with the weights of its own step", "{key}=false",
       "async_grpo.enabled"},
      {"grpo", refused, asks::for_true, "weights change between two rollouts, never within one", "{key}=false",
       "async_grpo.in_flight_weight_updates async_grpo.recompute_kv_cache_after_weight_updates"},
      {"grpo", noted, nullptr, "counts with async_grpo.enabled alone", "",
       "async_grpo.max_generation_failures async_grpo.max_trajectory_age_steps"},
      {"grpo", not_yet, asks::for_more_than_one, "conversations of several turns", "{key}=1",
       "max_rollout_turns"},
      {"grpo", noted, nullptr, "where advantages are computed does not change them", "",
       "calculate_advantages_on_gpu"},
      {"grpo", noted, nullptr, "what a debugging aid of NeMo RL prints", "",
       "debug_payload_metrics"},
      {"grpo", noted, nullptr, "about images, which this engine does not take", "",
       "deduplicate_multimodal_data"},
      {"grpo", refused, asks::for_true, "tool calls, which this engine does not make", "{key}=false",
       "penalize_invalid_tool_call"},
      {"grpo", noted, nullptr, "counts with penalize_invalid_tool_call alone", "",
       "invalid_tool_call_advantage invalid_tool_call_strategy"},
      {"grpo", not_yet, nullptr, "of the algorithm grpo", "",
       "adv_estimator.minus_baseline adv_estimator.name adv_estimator.normalize_rewards adv_estimator.reward_weights "
       "adv_estimator.use_leave_one_out_baseline advantage_clip_high advantage_clip_low batch_multiplier dynamic_sampling_max_gen_batches "
       "malformed_thinking_advantage max_num_epochs max_num_steps max_val_samples normalize_rewards num_generations_per_prompt "
       "num_prompts_per_step num_val_generations_per_prompt overlong_filtering penalize_malformed_thinking reward_scaling.enabled "
       "reward_scaling.source_max reward_scaling.source_min reward_scaling.target_max reward_scaling.target_min reward_shaping.enabled "
       "reward_shaping.max_response_length reward_shaping.overlong_buffer_length reward_shaping.overlong_buffer_penalty "
       "reward_shaping.stop_properly_penalty_coef seed seq_logprob_error_threshold skip_reference_policy_logprobs_calculation "
       "stop_at_validation_metric stop_at_validation_threshold use_dynamic_sampling use_leave_one_out_baseline val_at_end val_at_start "
       "val_batch_size val_num_generations_per_prompt val_period val_start_at zero_variance_prompt_filtering"},
      {"loss_fn", not_yet, nullptr, "of the losses of grpo, ppo and distillation", "",
       "alpha ce_loss_scale disable_ppo_ratio dynamic_loss_scaling exact_token_match_only force_on_policy_ratio gold_loss kd_loss_mode "
       "kl_input_clamp_value kl_loss_weight kl_output_clamp_value kl_type mixed_kl_weight normalize_teacher_by_vocab positive_example_nll_weight "
       "ratio_clip_c ratio_clip_max ratio_clip_min reference_policy_kl_penalty reference_policy_kl_type reverse_kl "
       "sequence_level_importance_ratios sum_weights_metric temperature token_level_loss truncated_importance_sampling_ratio "
       "truncated_importance_sampling_ratio_min truncated_importance_sampling_type uncommon_topk use_cispo use_importance_sampling_correction "
       "use_kl_in_reward use_on_policy_kl_approximation vocab_topk xtoken_loss zero_outside_topk"},
      {"dpo", not_yet, nullptr, "of the algorithm dpo", "",
       "max_num_epochs max_num_steps preference_average_log_probs preference_loss_weight reference_policy_kl_penalty seed sft_average_log_probs "
       "sft_loss_weight val_at_end val_at_start val_batches val_global_batch_size val_micro_batch_size val_period"},
      {"rm", not_yet, nullptr, "of the algorithm rm (reward models)", "",
       "max_num_epochs max_num_steps seed val_at_end val_at_start val_batches val_global_batch_size val_micro_batch_size val_period"},
      {"ppo", refused, asks::for_true, "asynchronous rollouts: every rollout here is made with the weights of its own step", "{key}=false",
       "async_ppo.enabled"},
      {"ppo", refused, asks::for_true, "weights change between two rollouts, never within one", "{key}=false",
       "async_ppo.in_flight_weight_updates async_ppo.recompute_kv_cache_after_weight_updates"},
      {"ppo", noted, nullptr, "counts with async_ppo.enabled alone", "",
       "async_ppo.drop_incomplete_targets_on_restore async_ppo.max_trajectory_age_steps async_ppo.warmup_generation_lead_steps"},
      {"ppo", not_yet, nullptr, "of the algorithm ppo", "",
       "adv_estimator.gae_gamma adv_estimator.gae_lambda adv_estimator.gae_lambda_policy adv_estimator.gae_lambda_value "
       "adv_estimator.length_adaptive_alpha adv_estimator.name adv_estimator.normalize_advantages batch_multiplier "
       "dynamic_sampling_max_gen_batches max_num_epochs max_num_steps max_rollout_turns max_val_samples num_generations_per_prompt "
       "num_prompts_per_step overlong_filtering policy_training_start_step ppo_epochs reward_scaling.enabled reward_scaling.source_max "
       "reward_scaling.source_min reward_scaling.target_max reward_scaling.target_min reward_shaping.enabled reward_shaping.max_response_length "
       "reward_shaping.overlong_buffer_length reward_shaping.overlong_buffer_penalty reward_shaping.stop_properly_penalty_coef seed "
       "seq_logprob_error_threshold skip_reference_policy_logprobs_calculation use_dynamic_sampling val_at_end val_at_start val_batch_size "
       "val_period"},
      {"value_loss_fn", not_yet, nullptr, "of the critic of ppo", "",
       "cliprange scale"},
      {"distillation", not_yet, nullptr, "of the algorithm distillation", "",
       "max_num_epochs max_num_steps max_rollout_turns max_val_samples num_generations_per_prompt num_prompts_per_step seed topk_logits_k "
       "val_at_end val_at_start val_batch_size val_period"},
      {"teachers", not_yet, nullptr, "of distillation across tokenizers", "",
       "gold_loss projection_matrix_path weight xtoken_loss"},
      {"", refused, asks::for_something, "distillation from several teachers while rolling out", "~{key}",
       "on_policy_distillation.*"},
      {"async_rl", refused, asks::for_something, "the controller of asynchronous training", "~async_rl",
       "diagnostics generation_fleet_health.enabled generation_fleet_health.healthy_threshold "
       "generation_fleet_health.max_restart_attempts_per_shard generation_fleet_health.min_healthy_shards generation_fleet_health.on_dead_shard "
       "generation_fleet_health.probe_interval_s generation_fleet_health.probe_timeout_s generation_fleet_health.selection "
       "generation_fleet_health.unhealthy_threshold generation_router.backend_timeout_s generation_router.connect_timeout_s "
       "generation_router.enabled generation_router.no_healthy_backend_status generation_router.port_range_high generation_router.port_range_low "
       "max_buffered_rollouts max_inflight_prompts min_groups_for_streaming_train recompute_kv_cache_after_weight_updates "
       "rollout_failure.backoff_base_s rollout_failure.max_backoff_s rollout_failure.max_consecutive_dropped_prompts "
       "rollout_failure.max_data_attempts_per_prompt rollout_failure.max_infra_attempts_per_prompt rollout_failure.max_replacement_attempts "
       "rollout_failure.max_skipped_prompts rollout_failure.min_step_batch_fraction rollout_failure.native.env_timeout_s "
       "rollout_failure.native.generation_timeout_s rollout_failure.nemo_gym.max_row_attempts rollout_failure.nemo_gym.rollout_timeout_s "
       "rollout_failure.on_dropped_prompt rollout_failure.replacement_reserve_prompts sampler.max_lookahead_versions "
       "sampler.max_staleness_versions sampler.name stall_watchdog.gym_subprocess_check stall_watchdog.interval_s stall_watchdog.stall_action "
       "stall_watchdog.stall_timeout_s"},
      {"eval", not_yet, nullptr, "of evaluation alone, without training", "",
       "k_value metric num_tests_per_prompt save_path seed"},
  };
}

}  // namespace ringwright::recipe
// clang-format on
