// The words that rows put into their texts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "shared/base/rounding.h"
#include "shared/base/text.h"
#include "shared/layout/layout.h"
#include "shared/layout/methods.h"
#include "shared/support_matrix/facts.h"

namespace ringwright::support_matrix {
namespace {

class Writer {
 public:
  explicit Writer(Facts& facts) : facts_(facts) {}
  template <typename Value>
  void operator()(const char* name, const Value& value) {
    facts_.words[name] = fmt::format("{}", value);
  }
  // The first of the keys that is on, or given; "" where none is.
  std::string first_on(std::initializer_list<const char*> keys) const {
    for (const char* key : keys)
      if (facts_.on(key)) return key;
    return "";
  }
  std::string first_given(std::initializer_list<const char*> keys) const {
    for (const char* key : keys)
      if (facts_.given(key)) return key;
    return "";
  }

 private:
  Facts& facts_;
};

void name_sizes(const Facts& facts, Writer& put) {
  put("algorithm", facts.algorithm);
  put("world", facts.world), put("cp", facts.cp), put("tp", facts.tp), put("ep", facts.ep), put("dp", facts.dp), put("pp", facts.pp);
  put("nodes", facts.nodes), put("gpus_per_node", facts.gpus_per_node), put("cp_tp", facts.cp * facts.tp);
  put("scale_0_4", fmt::format("loss x dp x cp = loss x {}", facts.dp * facts.cp)), put("scale_0_6", fmt::format("loss x dp = loss x {}", facts.dp));
  put("length", facts.length), put("chunks", 2 * facts.cp), put("padded", round_up(facts.length, 2 * facts.cp));
  put("remainder", facts.length % facts.cp), put("window_padded", round_up(facts.length, facts.cp));
  put("tp_padded", round_up(facts.length, facts.tp));
  const int64_t micro_dp = facts.micro_batch * facts.dp;
  put("global_batch", facts.global_batch), put("micro_batch", facts.micro_batch), put("logprob_batch", facts.logprob_batch);
  put("micro_dp", micro_dp), put("global_batch_rounded", std::max<int64_t>(round_up(facts.global_batch, micro_dp), micro_dp));
  put("without_effect", facts.without_effect);
}

void name_sharding(const Facts& facts, Writer& put) {
  put("cp_method", facts.cp_method), put("cp_transport", facts.cp_transport), put("rotate_method", facts.rotate_method);
  put("rotate_as", layout::method_of_rotation(facts.rotate_method));
  put("pack_tokens", facts.pack_tokens), put("pack_tokens_padded", round_up(facts.pack_tokens, facts.document_divisor));
  put("cp_max", layout::kCpMax), put("longest_tokens", facts.longest_tokens), put("tokens_max", layout::kSequenceLengthMax);
  put("cp_chunk", facts.cp_chunk);
  if (facts.cp > 0 && facts.cp <= layout::kCpMax) put("cp_chunk_default", layout::default_chunk(facts.longest_tokens, static_cast<int>(facts.cp)));
  put("document_divisor", facts.document_divisor), put("document_divisor_needed", facts.document_divisor_needed);
  const bool can_cut = !facts.mesh_fault;  // a mesh that there is has few enough ranks for the multiple of both
  put("document_divisor_padded", can_cut ? std::lcm(facts.document_divisor, facts.document_divisor_needed) : facts.document_divisor_needed);
  put("document_slot", round_up(facts.length, facts.document_divisor)), put("row_slot", round_up(facts.length, facts.row_round));
  put("microbatch_tokens", facts.microbatch_tokens);
  put("batching_key", facts.packing ? "policy.sequence_packing.enabled" : "policy.dynamic_batching.enabled");
  put("critic_batching_key", put.first_on({"value.sequence_packing.enabled", "value.dynamic_batching.enabled"}));
  put("unshardable_key", facts.unshardable_key), put("unshardable_attention", facts.unshardable_attention);
}

void name_teachers(const Facts& facts, Writer& put) {
  const TeacherFacts& teacher = facts.teacher;
  put("teacher_uneven_key", teacher.uneven_key), put("teacher_uneven_length", teacher.uneven_length), put("teacher_uneven_cp", teacher.uneven_cp);
  put("teacher_uneven_rest", teacher.uneven_length % teacher.uneven_cp);
  put("teacher_uneven_padded", round_up(teacher.uneven_length, std::lcm(teacher.uneven_cp, facts.cp)));
  put("teacher_window_key", teacher.window_key), put("teacher_window_length", teacher.window_length);
  put("teacher_window_rest", teacher.window_length % facts.cp), put("teacher_window_padded", round_up(teacher.window_length, facts.cp));
  put("teacher_batch_key", teacher.batch_key), put("teacher_batch", teacher.batch);
  put("teacher_mesh_key", teacher.mesh_key), put("teacher_cp_tp", teacher.cp_tp);
}

void name_model_keys(const Facts& facts, Writer& put) {
  put("precision", facts.precision), put("optimizer", facts.optimizer), put("other_env_vars", facts.other_env_vars);
  const std::string moments = facts.written("policy.optimizer.kwargs.exp_avg_dtype");
  const bool others = !moments.empty() && moments.find("float32") == std::string::npos;
  put("moments_dtype", moments.empty() ? "float32" : moments), put("moments_note", others ? ", so numbers differ in the last digits" : "");
  put("reward_key", facts.algorithm == "rm" ? "rm" : "policy.reward_model_cfg.enabled");
  put("vision_key", facts.vision_key), put("yarn_key", facts.yarn_key);
  const std::string quant = put.first_given({"policy.quant_cfg", "policy.generation.quant_cfg"});
  put("quant_key", quant.empty() ? "policy.generation.real_quant" : quant), put("quant_off", quant.empty() ? "false" : "null");
  put("loss_key", facts.loss_fault.key), put("loss_what", facts.loss_fault.what), put("loss_fix", facts.loss_fault.fix);
  put("moved_section", facts.moved.section), put("moved_backend_key", facts.moved.backend_key);
  put("moved_experts_value", facts.moved.experts_value), put("moved_backend_target", facts.moved.backend_target_value);
  const std::string backend = facts.moved.section + ".automodel_kwargs.backend.";
  const bool deepep = facts.on(backend + "enable_deepep");
  put("deepep_dispatcher", deepep ? "deepep" : "torch"), put("deepep_experts_key", deepep ? backend + "experts" : "");
}

void name_rollouts(const Facts& facts, Writer& put) {
  put("generation_backend", facts.generation_backend);
  put("generation_key", put.first_given({"policy.generation.backend", "generation.backend"}));
  const std::string fp8_word = facts.text("policy.generation.vllm_cfg.precision"), cache = facts.text("policy.generation.vllm_cfg.kv_cache_dtype");
  const bool by_word = fp8_word == "fp8", by_cache = cache.starts_with("fp8");
  put("fp8_key", std::string("policy.generation.vllm_cfg.") + (by_word ? "precision" : by_cache ? "kv_cache_dtype" : "is_mx"));
  put("fp8_off", by_word ? "bfloat16" : by_cache ? "auto" : "false");
  put("async_key", put.first_on({"grpo.async_grpo.enabled", "ppo.async_ppo.enabled"}));
  put("async_lacks", facts.async_lacks), put("async_lacks_key", facts.async_lacks_key), put("async_lacks_value", facts.async_lacks_value);
  put("in_flight_key",
      put.first_on({"grpo.async_grpo.in_flight_weight_updates", "ppo.async_ppo.in_flight_weight_updates",
                    "grpo.async_grpo.recompute_kv_cache_after_weight_updates", "ppo.async_ppo.recompute_kv_cache_after_weight_updates"}));
}

void name_rest(const Facts& facts, Writer& put) {
  put("processor_key", facts.processor_key), put("processor", facts.processor), put("user_key", facts.user_key);
  put("data_code_key", facts.given("data.custom_dataloader") ? "data.custom_dataloader" : "data.use_multiple_dataloader");
  put("train_sets", facts.train_sets), put("save_format", facts.save_format);
  put("logger_key", put.first_on({"logger.wandb_enabled", "logger.tensorboard_enabled", "logger.mlflow_enabled", "logger.swanlab_enabled"}));
  put("host", facts.machine.host), put("host_address", facts.machine.host_address);
  put("interfaces", fmt::format("{}", fmt::join(facts.machine.interfaces, ", ")));
  put("interface_key", facts.interface_key), put("interface_fault", facts.interface_fault);
}

std::string summary_of(const MegatronMapping& mapping) { return mapping.summary.empty() ? "sizes of 1" : mapping.summary; }

// To be pasted.
std::string overrides_of(const MegatronMapping& mapping) {
  std::vector<std::string> words;
  for (const std::string& each : mapping_overrides(mapping)) words.push_back(text::shell_word(each));
  return fmt::format("{}", fmt::join(words, " "));
}

// What Megatron's settings are, or would be, on this engine.
void name_mapping(const Facts& facts, Writer& put) {
  const MegatronMapping mapping = facts.mapping.value_or(MegatronMapping());
  put("unmapped_key", mapping.unmapped_key), put("unmapped_what", mapping.unmapped_what), put("unmapped_fix", mapping.unmapped_fix);
  put("mapped", summary_of(mapping)), put("mapped_overrides", overrides_of(mapping));
  const MegatronMapping& side = facts.side_mapping;
  const bool has_counterparts = side.unmapped_key.empty();
  put("megatron_side_key", facts.side_model.empty() ? "" : facts.side_model + ".megatron_cfg.enabled");
  put("megatron_side", !has_counterparts   ? fmt::format("{} ({})", side.unmapped_what, side.unmapped_key)
                       : facts.side_mapped ? "read as " + summary_of(side)
                                           : fmt::format("--map megatron would read it as {}", summary_of(side)));
  put("megatron_side_fix", !has_counterparts   ? side.unmapped_fix
                           : facts.side_mapped ? std::string()
                                               : "check with --map megatron, or set: " + overrides_of(side));
}

}  // namespace

void name_words(Facts& facts) {
  Writer put(facts);
  name_mapping(facts, put);
  name_sizes(facts, put);
  name_sharding(facts, put);
  name_teachers(facts, put);
  name_model_keys(facts, put);
  name_rollouts(facts, put);
  name_rest(facts, put);
}

}  // namespace ringwright::support_matrix
