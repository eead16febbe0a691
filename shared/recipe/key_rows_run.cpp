// Data, environments, loggers, checkpoints, machines, and the keys of Ringwright itself. Data only.
// clang-format off
#include "shared/recipe/key_rows.h"

namespace ringwright::recipe {

using enum KeyUse;

std::vector<KeyRow> run_key_rows() {
  return {
      {"data", used, nullptr, "", "",
       "shuffle train.data_path train.dataset_name train.input_key train.output_key validation.data_path validation.dataset_name "
       "validation.input_key validation.output_key"},
      {"data", mapped, nullptr, "the same as input_key and output_key", "",
       "train.prompt_key train.response_key"},
      {"data", noted, nullptr, "rows are read by each rank itself", "",
       "num_workers"},
      {"data", mapped, nullptr, "a row longer than this, or than policy.max_total_sequence_length, is left out and counted", "",
       "max_input_seq_length"},
      {"data", not_yet, asks::for_false, "an answer, or a text, that does not end with the end token", "{key}=true",
       "add_eos"},
      {"data", noted, nullptr, "the tokenizer's own rules say what stands before a text", "",
       "add_bos add_generation_prompt add_system_prompt"},
      {"data", not_yet, asks::for_something, "data sets of the hub that are more than one file: which part, how much of it, which kinds", "~{key}",
       "train.split train.split_validation_size train.max_samples train.data_files train.allowed_problem_types train.characters_per_sample "
       "train.text_key train.download_dir validation.split validation.allowed_problem_types validation.repeat"},
      {"data", noted, nullptr, "of split_validation_size alone", "",
       "train.seed"},
      {"data", not_yet, asks::for_something, "chat messages and prompt templates; plain text and prompt/answer lines need none", "{key}=null",
       "default.processor default.prompt_file default.system_prompt_file train.processor validation.processor processor prompt_file "
       "system_prompt_file"},
      {"data", not_yet, nullptr, "of environments", "",
       "default.env_name train.env_name validation.env_name env_name"},
      {"data", noted, nullptr, "filled in where a data set does not say it; here each data set says it", "",
       "default.dataset_name default.input_key default.output_key"},
      {"data", noted, nullptr, "about images, which this engine does not take", "",
       "default.video_maintain_aspect_ratio default.video_target_num_patches"},
      {"data", refused, asks::for_something, "a data loader of one's own is Python code", "{key}=null",
       "custom_dataloader"},
      {"data", refused, asks::for_true, "several data loaders", "{key}=false",
       "use_multiple_dataloader"},
      {"data", noted, nullptr, "counts with use_multiple_dataloader alone", "",
       "num_prompts_per_dataloader"},
      {"data", not_yet, nullptr, "of evaluation alone, without training", "",
       "dataset_name file_format problem_key solution_key split repeat"},
      {"env", refused, asks::for_true, "NeMo Gym: environments that are services of their own", "{key}=false",
       "should_use_nemo_gym"},
      {"env", noted, nullptr, "counts with should_use_nemo_gym alone", "",
       "should_log_nemo_gym_responses should_mask_flagged_samples nemo_gym.circle_click_simple_agent nemo_gym.code_gen nemo_gym.config_paths "
       "nemo_gym.effort_levels nemo_gym.equivalence_llm_judge nemo_gym.genrm_compare_resources_server nemo_gym.genrm_model "
       "nemo_gym.invalid_tool_call_patterns nemo_gym.inverse_if nemo_gym.is_trajectory_collection nemo_gym.jailbreak_detection nemo_gym.lc_judge "
       "nemo_gym.math_with_judge nemo_gym.multichallenge nemo_gym.nl2bash_judge_model nemo_gym.num_gpu_nodes nemo_gym.pad_dynamic_image_shapes "
       "nemo_gym.policy_max_input_tokens nemo_gym.policy_model nemo_gym.policy_model_reasoning_off nemo_gym.port_range_high "
       "nemo_gym.port_range_low nemo_gym.safety_judge_model nemo_gym.single_step_tool_use_with_argument_comparison_swe "
       "nemo_gym.skip_venv_if_present nemo_gym.thinking_tags nemo_gym.use_absolute_ip nemo_gym.uv_pip_set_python nemo_gym.uv_venv_dir nemo_gym.*"},
      {"env", not_yet, nullptr, "of environments", "",
       "dapo.num_workers math.math_verify_impl math.num_workers math.verifier_type math_multi_reward.math_verify_impl "
       "math_multi_reward.num_workers *"},
      {"logger", mapped, nullptr, "every metric is kept in the history; export it with ringwright runs export", "",
       "tensorboard_enabled wandb_enabled mlflow_enabled swanlab_enabled"},
      {"logger", noted, nullptr, "of loggers that are not called", "",
       "tensorboard.* wandb.* mlflow.* swanlab.* log_dir num_val_samples_to_print"},
      {"logger", mapped, nullptr, "the daemon watches the machine, at its own pace", "",
       "monitor_gpus gpu_monitoring.collection_interval gpu_monitoring.flush_interval"},
      {"checkpointing", used, nullptr, "", "",
       "enabled checkpoint_dir save_period model_save_format"},
      {"checkpointing", not_yet, asks::for_something, "a time limit", "{key}=null",
       "checkpoint_must_save_by"},
      {"checkpointing", noted, nullptr, "a run keeps every checkpoint that it writes", "",
       "keep_top_k metric_name higher_is_better ft_keep_latest_k ft_save_period"},
      {"checkpointing", noted, nullptr, "a checkpoint holds the model as transformers loads it", "",
       "save_optimizer"},
      {"checkpointing", used, nullptr, "", "",
       "save_consolidated"},
      {"cluster", used, nullptr, "", "",
       "num_nodes gpus_per_node"},
      {"cluster", noted, nullptr, "where on the network the ranks meet is the daemon's choice", "",
       "master_port_range_high master_port_range_low segment_size"},
      {"data_plane", noted, nullptr, "rows travel in memory", "",
       "backend claim_meta_poll_interval_s enabled global_segment_size impl local_buffer_size num_storage_units storage_capacity"},
      {"ringwright", used, nullptr, "", "",
       "name threads_per_rank probe_first paths.* cp.chunk cp.flavour cp.method cp.transport data.text_rows optimizer.decay_rule "
        "packing.document_divisor packing.skip_long alerts"},
      {"ringwright", not_yet, asks::for_something, "this version does not act on it", "~{key}",
       "compat.* rollout.* restart.max"},
      {"", noted, nullptr, "a name of the user's own, for use in other keys", "",
       "run_name"},
      {"", used, nullptr, "", "",
       "defaults"},
  };
}

}  // namespace ringwright::recipe
// clang-format on
