#include "shared/support_matrix/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "shared/base/rounding.h"
#include "shared/base/text.h"
#include "shared/layout/layout.h"
#include "shared/layout/packing.h"
#include "shared/mesh/setup.h"
#include "shared/recipe/parallelism.h"
#include "shared/recipe/typed.h"

namespace ringwright::support_matrix {
namespace {

constexpr std::array<const char*, 8> kAlgorithms = {"sft", "grpo", "dpo", "ppo", "rm", "distillation", "eval", "async_rl"};
constexpr std::array<const char*, 5> kVisionEnvironments = {"clevr-cogent", "geometry3k", "refcoco", "mmpr-tiny", "vlm"};
constexpr std::array<const char*, 4> kShardableAttention = {"sdpa", "te", "magi", "tilelang"};

template <typename Words>
bool holds(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void read_sizes(const recipe::Typed& typed, Facts& facts) {
  facts.nodes = typed.integer("cluster.num_nodes", 1, 1, recipe::kRanksMax);
  facts.gpus_per_node = typed.integer("cluster.gpus_per_node", 1, 1, recipe::kRanksMax);
  facts.world = recipe::world_size(typed);
  const mesh::Section section = recipe::parallelism(typed);
  const auto size = [](int asked) { return std::max(asked, 1); };
  const mesh::ParallelismSizes& sizes = section.request.sizes;
  facts.cp = size(sizes.cp), facts.tp = size(sizes.tp), facts.ep = size(sizes.ep), facts.dp_replicate = size(sizes.dp_replicate.value_or(1));
  if (facts.was_mapped()) facts.pp = typed.integer("policy.megatron_cfg.pipeline_model_parallel_size", 1, 1, recipe::kRanksMax);
  facts.without_effect = fmt::format("{}", fmt::join(section.warnings, "; "));
  facts.sequence_parallel = section.request.strategy.options.at("sequence_parallel").get<bool>();
  facts.saves_memory = section.request.activation_checkpointing != mesh::ActivationCheckpointing::off;
  mesh::SetupRequest request = section.request;
  request.sizes.pp = static_cast<int>(facts.pp);
  try {
    facts.dp = mesh::build_setup(static_cast<int>(facts.world), request).mesh.axis_size("dp");
  } catch (const Error& error) {
    facts.mesh_fault = error.parts();
  }
  const auto rows = [&](const char* key, int64_t fallback) { return typed.integer(key, fallback, 1, recipe::kBatchRowsMax); };
  facts.length = typed.integer("policy.max_total_sequence_length", 0, 1, layout::kSequenceLengthMax);
  facts.global_batch = rows("policy.train_global_batch_size", 0);
  facts.micro_batch = rows("policy.train_micro_batch_size", 1);
  facts.logprob_batch = rows("policy.logprob_batch_size", 0);
}

void read_backend(const recipe::Typed& typed, Facts& facts) {
  const std::string base = "policy.dtensor_cfg.";
  facts.dtensor = facts.on(base + "enabled");
  facts.dtensor_v2 = facts.on(base + "_v2");
  facts.saves_memory = facts.saves_memory || facts.on(base + "cpu_offload");
  facts.packing = typed.boolean("policy.sequence_packing.enabled", false);
  facts.dynamic_batching = typed.boolean("policy.dynamic_batching.enabled", false);
  facts.model_overrides = facts.given("policy.hf_config_overrides");
  for (const char* section : {"rope_parameters", "rope_scaling"})
    for (const char* name : {"rope_type", "type"})
      if (const std::string key = fmt::format("policy.hf_config_overrides.{}.{}", section, name); facts.yarn_key.empty() && facts.text(key) == "yarn")
        facts.yarn_key = key;
  facts.precision = typed.text("policy.precision", "float32");
  facts.optimizer = typed.text("policy.optimizer.name", "torch.optim.AdamW");
}

void read_attention(Facts& facts) {
  for (const char* key : {"policy.dtensor_cfg.automodel_kwargs.attn_implementation", "policy.dtensor_cfg.automodel_kwargs.backend.attn"}) {
    const std::string value = facts.text(key);
    if (value.empty() || holds(kShardableAttention, value) || !facts.unshardable_key.empty()) continue;
    facts.unshardable_key = key, facts.unshardable_attention = value;
  }
  const nlohmann::json* variables = facts.find("policy.dtensor_cfg.env_vars");
  std::vector<std::string> others;
  if (variables && variables->is_object())
    for (const auto& [name, value] : variables->items())
      if (name != "PYTORCH_CUDA_ALLOC_CONF" && name != "GLOO_SOCKET_IFNAME" && !value.is_null()) others.push_back(name);
  facts.other_env_vars = fmt::format("{}", fmt::join(others, ", "));
}

// A recipe with `vlm` in its path, as it was named, is for a model of text and images.
bool lies_in_vision_folder(const recipe::Recipe& recipe) { return recipe.file.string().find("vlm") != std::string::npos; }

void read_data(const recipe::Recipe& recipe, Facts& facts) {
  for (const char* section : {"default", "train", "validation"}) {
    for (const char* name : {"processor", "prompt_file", "system_prompt_file", "env_name"}) {
      const std::string key = std::string("data.") + section + "." + name;
      if (!facts.processor_key.empty() || !facts.given(key)) continue;
      facts.processor_key = key;
      facts.processor = facts.written(key);
    }
  }
  if (facts.processor_key.empty() && facts.given("policy.tokenizer.chat_template")) {
    facts.processor_key = "policy.tokenizer.chat_template";
    facts.processor = facts.written(facts.processor_key);
  }
  const std::string environment = facts.text("data.default.env_name");
  if (lies_in_vision_folder(recipe)) facts.vision_key = "defaults";
  if (holds(kVisionEnvironments, environment)) facts.vision_key = "data.default.env_name";
  if (facts.processor.find("vlm") != std::string::npos) facts.vision_key = facts.processor_key;
  if (facts.on("policy.is_vlm")) facts.vision_key = "policy.is_vlm";
  const nlohmann::json* train = facts.find("data.train");
  if (train && train->is_array()) facts.train_sets = static_cast<int64_t>(train->size());
}

// Strings are trimmed and taken in any case, as NeMo RL normalises them.
std::string consolidation_mode(const nlohmann::json* value) {
  if (!value) return "false";
  if (value->is_boolean()) return value->get<bool>() ? "every" : "false";
  std::string word = value->is_string() ? value->get<std::string>() : "";
  std::erase_if(word, [](unsigned char c) { return std::isspace(c) != 0; });
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word == "true" || word == "every") return "every";
  return word == "false" || word == "final" ? word : "unknown";
}

void read_rest(const recipe::Typed& typed, Facts& facts) {
  for (const char* algorithm : kAlgorithms)
    if (facts.algorithm.empty() && facts.find(algorithm)) facts.algorithm = algorithm;
  facts.teachers = facts.given("teachers");
  const bool saves = typed.boolean("checkpointing.enabled", false);
  facts.save_format = saves ? typed.text("checkpointing.model_save_format", "safetensors") : "safetensors";
  facts.save_consolidated = saves ? consolidation_mode(facts.find("checkpointing.save_consolidated")) : "false";
  for (const char* key : {"ringwright.compat", "ringwright.rollout", "ringwright.restart"})
    if (facts.user_key.empty() && facts.find(key)) facts.user_key = key;
}

void read_generation(Facts& facts) {
  for (const char* key : {"policy.generation.backend", "generation.backend"})
    if (facts.generation_backend.empty()) facts.generation_backend = facts.text(key);
  const std::string base = "policy.generation.";
  facts.filters_logits = facts.tp > 1 && (facts.number(base + "top_k", 0) > 0 || facts.number(base + "top_p", 1) < 1);
  if (!facts.on("grpo.async_grpo.enabled") && !facts.on("ppo.async_ppo.enabled")) return;
  const auto lacks = [&](const std::string& key, bool wanted) {
    if (facts.async_lacks.empty() && (wanted ? !facts.on(key) : !facts.is_false(key)))
      facts.async_lacks_key = key, facts.async_lacks_value = wanted ? "true" : "false", facts.async_lacks = fmt::format("{}: {}", key, wanted);
  };
  if (facts.generation_backend == "vllm") lacks(base + "vllm_cfg.async_engine", true);
  lacks(base + "colocated.enabled", false);
  lacks("loss_fn.use_importance_sampling_correction", true);
}

// Of one sequence, or of the stream that rows or documents become.
int64_t longest_tokens(const Facts& facts) {
  int64_t tokens = facts.length;
  if (layout::joins_rows(facts.cp_flavour)) tokens = facts.length * facts.micro_batch;
  if (facts.packing) tokens = std::max(tokens, facts.pack_tokens);
  return facts.cp > 1 ? round_up(tokens, 2 * facts.cp) : tokens;
}

// Values of the wrong kind are the typed view's to refuse, where the algorithm is one that it reads.
void read_sharding(const recipe::Typed& typed, Facts& facts) {
  facts.cp_flavour = typed.text("ringwright.cp.flavour", "");
  facts.cp_method = typed.text("ringwright.cp.method", "");
  facts.cp_transport = typed.text("ringwright.cp.transport", "");
  facts.rotate_method = typed.text("policy.dtensor_cfg.cp_rotate_method", "");
  const int64_t tokens = facts.length * facts.micro_batch;
  const auto length = [&](const std::string& key, int64_t fallback) { return typed.integer(key, fallback, 1, layout::kSequenceLengthMax); };
  if (facts.packing) facts.pack_tokens = length("policy.sequence_packing.train_mb_tokens", std::max<int64_t>(tokens, 1));
  if (facts.dynamic_batching) {
    facts.microbatch_tokens = length("policy.dynamic_batching.train_mb_tokens", std::max<int64_t>(tokens, 1));
    facts.row_round = std::lcm(length("policy.dynamic_batching.sequence_length_round", 1), recipe::sequence_length_divisor(typed));
  }
  facts.document_divisor_needed = layout::document_divisor(static_cast<int>(facts.cp), static_cast<int>(facts.tp), facts.sequence_parallel);
  facts.document_divisor = length("ringwright.packing.document_divisor", facts.document_divisor_needed);
  facts.longest_tokens = longest_tokens(facts);
  facts.cp_chunk = typed.integer("ringwright.cp.chunk", 0, 1, layout::kChunkMax);
  facts.skips_long = facts.on("ringwright.packing.skip_long");
}

void read_side_model(const recipe::Typed& typed, const CheckOptions& options, Facts& facts) {
  for (const char* model : {"value", "teacher"})
    if (facts.side_model.empty() && reads_megatron(typed, model)) facts.side_model = model;
  if (facts.side_model.empty()) return;
  facts.side_mapping = map_megatron(typed, facts.side_model);
  facts.side_mapped = options.map_megatron && facts.side_mapping.unmapped_key.empty();
}

MovedKeys moved_keys_of(const std::string& section, const Facts& facts) {
  MovedKeys moved;
  moved.section = section;
  for (const char* key : {".backend", ".fsdp2_config.backend"})
    if (moved.backend_key.empty() && facts.given(section + key)) moved.backend_key = section + key;
  const auto rewritten = [&](const std::string& key, const std::string& from, const std::string& to) {
    std::string value = facts.text(section + key);
    const size_t place = value.find(from);
    return place == std::string::npos ? std::string() : value.replace(place, from.size(), to);
  };
  moved.experts_value = rewritten(".moe_parallelizer._target_", "components.moe.config", "components.distributed.config");
  moved.backend_target_value = rewritten(".automodel_kwargs.backend._target_", "components.moe.utils", "components.models.common.utils");
  moved.deepep = facts.given(section + ".automodel_kwargs.backend.enable_deepep");
  return moved;
}

// Each of a recipe's models has a section of the same schema.
void read_moved_keys(Facts& facts) {
  std::vector<std::string> models = {"policy", "value", "teacher"};
  const nlohmann::json* teachers = facts.find("teachers");
  for (size_t i = 0; teachers && teachers->is_array() && i < teachers->size(); ++i) models.push_back("teachers." + std::to_string(i));
  for (const std::string& model : models)
    if (MovedKeys moved = moved_keys_of(model + ".dtensor_cfg", facts); moved.any()) facts.moved_sections.push_back(std::move(moved));
  if (!facts.moved_sections.empty()) facts.moved = facts.moved_sections.front();
}

}  // namespace

Facts read_facts(const recipe::Recipe& recipe, const CheckOptions& options) {
  Facts facts;
  facts.resolved = recipe.resolved;
  const recipe::Typed typed(facts.resolved, [&](const std::string& key) { return recipe::place_of(recipe, key); });
  if (reads_megatron(typed)) facts.mapping = map_megatron(typed);
  facts.megatron = facts.mapping && !options.map_megatron;
  read_side_model(typed, options, facts);
  read_sizes(typed, facts);
  read_backend(typed, facts);
  read_attention(facts);
  read_data(recipe, facts);
  read_rest(typed, facts);
  read_generation(facts);
  read_sharding(typed, facts);
  read_moved_keys(facts);
  facts.loss_fault = find_loss_fault(facts);
  facts.teacher = read_teachers(typed, facts);
  read_machine(options.machine, facts);
  name_words(facts);
  return facts;
}

const nlohmann::json* Facts::find(const std::string& key) const { return recipe::Typed(resolved).find(key); }

bool Facts::on(const std::string& key) const { return recipe::Typed(resolved).is_true(key); }

bool Facts::is_false(const std::string& key) const {
  const nlohmann::json* value = find(key);
  return value && value->is_boolean() && !value->get<bool>();
}

bool Facts::given(const std::string& key) const {
  const nlohmann::json* value = find(key);
  return value && !(value->is_structured() && value->empty());
}

std::string Facts::text(const std::string& key) const { return recipe::Typed(resolved).text_or(key, ""); }

double Facts::number(const std::string& key, double fallback) const { return recipe::Typed(resolved).number_or(key, fallback); }

std::string Facts::written(const std::string& key) const {
  const nlohmann::json* value = find(key);
  if (!value) return "";
  return text::excerpt(value->is_string() ? value->get<std::string>() : value->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), 60);
}

}  // namespace ringwright::support_matrix
