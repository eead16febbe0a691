#include "shared/support_matrix/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <system_error>

#include "shared/base/files.h"
#include "shared/base/text.h"
#include "shared/layout/layout.h"
#include "shared/layout/methods.h"
#include "shared/layout/packing.h"
#include "shared/mesh/setup.h"
#include "shared/model/context_parallel.h"
#include "shared/model/parameters.h"
#include "shared/model/safetensors.h"
#include "shared/recipe/parallelism.h"
#include "shared/recipe/typed.h"
#include "shared/support_matrix/data_rows.h"
#include "shared/tokenizer/tokenizer.h"

namespace ringwright::support_matrix {
namespace {

constexpr std::array<const char*, 7> kAlgorithms = {"sft", "grpo", "dpo", "ppo", "rm", "distillation", "async_rl"};

bool on(const recipe::Typed& typed, const std::string& key) { return typed.boolean(key, false); }

bool not_empty(const recipe::Typed& typed, const std::string& key) {
  const nlohmann::json* value = typed.find(key);
  return value && !(value->is_structured() && value->empty());
}

// The value as text, cut to what a message can hold; "" when absent.
std::string written(const recipe::Typed& typed, const std::string& key) {
  const nlohmann::json* value = typed.find(key);
  if (!value) return "";
  return text::excerpt(value->is_string() ? value->get<std::string>() : value->dump(), 60);
}

void read_sizes(const recipe::Typed& typed, Facts& facts) {
  facts.nodes = typed.integer("cluster.num_nodes", 1, 1, recipe::kRanksMax);
  facts.gpus_per_node = typed.integer("cluster.gpus_per_node", 1, 1, recipe::kRanksMax);
  facts.world = recipe::world_size(typed);
  const mesh::Section section = recipe::parallelism(typed);
  const auto size = [](int asked) { return std::max(asked, 1); };
  const mesh::ParallelismSizes& sizes = section.request.sizes;
  facts.cp = size(sizes.cp), facts.tp = size(sizes.tp), facts.ep = size(sizes.ep), facts.dp_replicate = size(sizes.dp_replicate.value_or(1));
  facts.without_effect = fmt::format("{}", fmt::join(section.warnings, "; "));
  facts.sequence_parallel = section.request.strategy.options.at("sequence_parallel").get<bool>();
  facts.saves_memory = section.request.activation_checkpointing != mesh::ActivationCheckpointing::off;
  try {
    facts.dp = mesh::build_setup(static_cast<int>(facts.world), section.request).mesh.axis_size("dp");
  } catch (const Error& error) {
    facts.mesh_fault = error.parts();
  }
  facts.length = typed.integer("policy.max_total_sequence_length", 0, 1);
  facts.global_batch = typed.integer("policy.train_global_batch_size", 0, 1);
  facts.micro_batch = typed.integer("policy.train_micro_batch_size", 1, 1);
}

void read_backend(const recipe::Typed& typed, Facts& facts) {
  const std::string base = "policy.dtensor_cfg.";
  facts.dtensor = on(typed, base + "enabled");
  facts.dtensor_v2 = on(typed, base + "_v2");
  facts.megatron = on(typed, "policy.megatron_cfg.enabled");
  facts.lora = on(typed, base + "lora_cfg.enabled");
  facts.parallel_plan = typed.has(base + "custom_parallel_plan");
  facts.saves_memory = facts.saves_memory || on(typed, base + "cpu_offload");
  facts.packing = on(typed, "policy.sequence_packing.enabled");
  facts.dynamic_batching = on(typed, "policy.dynamic_batching.enabled");
  facts.model_overrides = not_empty(typed, "policy.hf_config_overrides");
  facts.quantised = typed.has("policy.quant_cfg");
  facts.precision = typed.text("policy.precision", "float32");
  facts.optimizer = typed.text("policy.optimizer.name", "torch.optim.AdamW");
}

void read_data(const recipe::Typed& typed, Facts& facts) {
  for (const char* section : {"default", "train", "validation"}) {
    for (const char* name : {"processor", "prompt_file", "system_prompt_file", "env_name"}) {
      const std::string key = std::string("data.") + section + "." + name;
      if (!facts.processor_key.empty() || !typed.has(key)) continue;
      facts.processor_key = key;
      facts.processor = written(typed, key);
    }
  }
  if (facts.processor_key.empty() && typed.has("policy.tokenizer.chat_template")) {
    facts.processor_key = "policy.tokenizer.chat_template";
    facts.processor = written(typed, facts.processor_key);
  }
  facts.vision = on(typed, "policy.is_vlm") || facts.processor.find("vlm") != std::string::npos;
  facts.custom_data = typed.has("data.custom_dataloader") || on(typed, "data.use_multiple_dataloader");
  facts.only_last_turn = on(typed, "sft.only_unmask_final");
}

void read_rest(const recipe::Typed& typed, Facts& facts) {
  for (const char* algorithm : kAlgorithms)
    if (facts.algorithm.empty() && typed.has(algorithm)) facts.algorithm = algorithm;
  facts.teachers = typed.has("teachers");
  facts.save_format = on(typed, "checkpointing.enabled") ? typed.text("checkpointing.model_save_format", "safetensors") : "safetensors";
  facts.time_limit = typed.has("checkpointing.checkpoint_must_save_by");
  for (const char* logger : {"wandb", "tensorboard", "mlflow", "swanlab"})
    facts.other_loggers = facts.other_loggers || on(typed, std::string("logger.") + logger + "_enabled");
  for (const char* key : {"ringwright.compat", "ringwright.rollout", "ringwright.restart"})
    if (facts.user_key.empty() && typed.has(key)) facts.user_key = key;
}

int64_t round_up(int64_t length, int64_t multiple) { return (length + multiple - 1) / multiple * multiple; }

// Of one sequence, or of the stream that rows or documents become; products stop at a value that no stream has.
int64_t longest_tokens(const Facts& facts) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const int64_t length = std::min(facts.length, kMost), rows = std::min<int64_t>(facts.micro_batch, kMost / std::max<int64_t>(length, 1) + 1);
  int64_t tokens = length;
  if (layout::joins_rows(facts.cp_flavour)) tokens = std::max(tokens, length * rows);
  if (facts.packing) tokens = std::max(tokens, std::min(facts.pack_tokens, kMost));
  return facts.cp > 1 ? round_up(tokens, 2 * facts.cp) : tokens;
}

// Values of the wrong kind are the typed view's to refuse, where the algorithm is one that it reads.
void read_sharding(const recipe::Typed& typed, Facts& facts) {
  facts.cp_flavour = typed.text("ringwright.cp.flavour", "");
  facts.cp_method = typed.text("ringwright.cp.method", "");
  facts.cp_transport = typed.text("ringwright.cp.transport", "");
  facts.rotate_method = typed.text("policy.dtensor_cfg.cp_rotate_method", "");
  const int64_t tokens = facts.length > 0 && facts.micro_batch > INT64_MAX / facts.length ? INT64_MAX : facts.length * facts.micro_batch;
  const auto length = [&](const std::string& key, int64_t fallback) { return typed.integer(key, fallback, 1, layout::kSequenceLengthMax); };
  if (facts.packing) facts.pack_tokens = length("policy.sequence_packing.train_mb_tokens", std::max<int64_t>(tokens, 1));
  if (facts.dynamic_batching) {
    facts.microbatch_tokens = length("policy.dynamic_batching.train_mb_tokens", std::max<int64_t>(tokens, 1));
    facts.row_round = std::lcm(length("policy.dynamic_batching.sequence_length_round", 1), recipe::sequence_length_divisor(typed));
  }
  facts.document_divisor_needed = layout::document_divisor(static_cast<int>(facts.cp), static_cast<int>(facts.tp), facts.sequence_parallel);
  facts.document_divisor = length("ringwright.packing.document_divisor", facts.document_divisor_needed);
  facts.longest_tokens = longest_tokens(facts);
  facts.skips_long = on(typed, "ringwright.packing.skip_long");
}

void name_words(Facts& facts) {
  const auto put = [&](const char* name, const auto& value) { facts.words[name] = fmt::format("{}", value); };
  put("algorithm", facts.algorithm);
  put("world", facts.world), put("cp", facts.cp), put("tp", facts.tp), put("ep", facts.ep), put("dp", facts.dp), put("nodes", facts.nodes);
  put("cp_tp", facts.cp * facts.tp), put("dp_replicate", facts.dp_replicate), put("length", facts.length);
  put("chunks", 2 * facts.cp), put("padded", (facts.length + 2 * facts.cp - 1) / (2 * facts.cp) * (2 * facts.cp));
  put("remainder", facts.length % facts.cp), put("global_batch", facts.global_batch), put("micro_batch", facts.micro_batch);
  put("micro_dp", facts.micro_batch * facts.dp), put("precision", facts.precision), put("optimizer", facts.optimizer);
  put("processor_key", facts.processor_key), put("processor", facts.processor), put("user_key", facts.user_key);
  put("save_format", facts.save_format), put("cp_method", facts.cp_method);
  put("cp_flavour", facts.cp_flavour), put("cp_transport", facts.cp_transport), put("rotate_method", facts.rotate_method);
  put("rotate_as", layout::method_of_rotation(facts.rotate_method));
  put("pack_tokens", facts.pack_tokens), put("pack_tokens_padded", round_up(facts.pack_tokens, facts.document_divisor));
  put("cp_max", layout::kCpMax), put("longest_tokens", facts.longest_tokens), put("tokens_max", layout::kSequenceLengthMax);
  put("document_divisor", facts.document_divisor), put("document_divisor_needed", facts.document_divisor_needed);
  put("document_divisor_padded", std::lcm(facts.document_divisor, facts.document_divisor_needed));
  put("document_slot", round_up(facts.length, facts.document_divisor)), put("row_slot", round_up(facts.length, facts.row_round));
  put("microbatch_tokens", facts.microbatch_tokens);
  put("without_effect", facts.without_effect), put("rows_per_rank", facts.global_batch / std::max<int64_t>(facts.dp, 1));
  put("mesh_what", facts.mesh_fault ? facts.mesh_fault->what : ""), put("mesh_fix", facts.mesh_fault ? facts.mesh_fault->action : "");
}

// A file that is not there is no fault of the recipe's: the row is skipped.
std::optional<std::filesystem::path> find_place(const recipe::Recipe& recipe, const std::string& name,
                                                recipe::NameKind kind = recipe::NameKind::model) {
  try {
    return recipe::resolve_name(recipe, name, kind);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void read_heads(Facts& facts) {
  const layout::HeadCounts heads{facts.model->num_attention_heads, facts.model->num_key_value_heads};
  facts.heads_refusal = layout::method_head_refusal(facts.cp_method, heads, static_cast<int>(facts.cp));
}

// Of any family, also of those that cannot be trained here.
void read_experts(const std::filesystem::path& folder, Facts& facts) {
  if (facts.ep <= 1 || facts.mesh_fault) return;
  int64_t experts = 0;
  try {
    experts = model::read_context_parallel_config(folder).experts;
  } catch (const Error&) {
    return;  // the row of the model says what is wrong with it
  }
  try {
    mesh::ParallelismSizes sizes;
    sizes.cp = static_cast<int>(facts.cp), sizes.tp = static_cast<int>(facts.tp), sizes.ep = static_cast<int>(facts.ep);
    if (experts > 0) mesh::check_experts(experts, static_cast<int>(facts.world), sizes);
  } catch (const Error& error) {
    facts.experts_fault = error.parts();
  }
}

void read_model(const std::filesystem::path& folder, Facts& facts) {
  try {
    facts.model = model::read_model_config(folder);
    read_heads(facts);
  } catch (const Error& error) {
    facts.model_fault = error.parts();
  }
}

// Reads the headers only; what the worker will find in them, too.
void read_weights(const std::filesystem::path& folder, Facts& facts) {
  try {
    const auto tensors = model::index_checkpoint(folder);
    if (facts.model) model::check_tensors(folder, *facts.model, tensors);
  } catch (const Error& error) {
    facts.weights_fault = error.parts();
  }
}

void read_tokenizer(const std::filesystem::path& folder, Facts& facts) {
  const std::filesystem::path file = folder / "tokenizer.json";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return;
  try {
    const auto tokenizer = tokenizer::Tokenizer::from_file(file);
    facts.tokenizer_size = tokenizer.vocabulary_size();
    facts.mark_tokens = static_cast<int64_t>(tokenizer.encode("").ids.size()) + 1;
  } catch (const Error& error) {
    facts.tokenizer_fault = error.parts();
  }
}

// A relative folder lies in the new run's own, which is empty.
void read_save_folder(const recipe::SftConfig& config, Facts& facts) {
  const std::filesystem::path folder = config.checkpoint_dir;
  if (!config.checkpointing_enabled || !folder.is_absolute()) return;
  facts.save_folder = folder.string();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (const std::string name = entry.path().filename().string(); name.starts_with("step_")) facts.earlier_checkpoint = name;
  facts.save_folder_fault = files::why_not_writable(folder);
}

void read_data_files(const recipe::Recipe& recipe, const recipe::SftConfig& config, Facts& facts) {
  facts.data_file = find_place(recipe, config.train.path, recipe::NameKind::data);
  for (const std::string& path : {config.train.path, config.validation.path}) {
    const auto file = path.empty() ? std::nullopt : find_place(recipe, path, recipe::NameKind::data);
    const std::string kind = file ? files::kind_if_not_regular(*file) : "";
    if (!kind.empty() && facts.not_a_file.empty()) facts.not_a_file = file->string() + " is " + kind;
  }
  if (!facts.data_file || !facts.not_a_file.empty()) return;
  facts.rows_wanted = config.train_global_batch_size;
  try {
    facts.data_is_chat = config.train.format == "prompt_answer" && holds_chat(*facts.data_file);
    facts.row_count_max = rows_at_most(config.train, *facts.data_file, recipe::longest_row(config), facts.mark_tokens, facts.rows_wanted);
  } catch (const std::system_error& error) {
    facts.not_a_file = fmt::format("{} cannot be read ({})", facts.data_file->string(), error.code().message());
  }
}

}  // namespace

Facts read_facts(const recipe::Recipe& recipe) {
  const nlohmann::json resolved = recipe.resolved;
  const recipe::Typed typed(resolved, [&](const std::string& key) { return recipe::place_of(recipe, key); });
  Facts facts;
  read_sizes(typed, facts);
  read_backend(typed, facts);
  read_data(typed, facts);
  read_rest(typed, facts);
  read_sharding(typed, facts);
  name_words(facts);
  return facts;
}

void read_files(const recipe::Recipe& recipe, Facts& facts) {
  const recipe::SftConfig config = recipe::sft_config(recipe);
  facts.files_looked_at = true;
  facts.model_name = config.model_name;
  facts.data_name = config.train.path;
  facts.data_format = config.train.format;
  facts.model_folder = find_place(recipe, config.model_name);
  if (facts.model_folder) {
    read_model(*facts.model_folder, facts);
    read_experts(*facts.model_folder, facts);
    read_weights(*facts.model_folder, facts);
  }
  if (const auto tokenizer = find_place(recipe, config.tokenizer_name)) read_tokenizer(*tokenizer, facts);
  read_data_files(recipe, config, facts);
  read_save_folder(config, facts);
  const auto put = [&](const char* name, const auto& value) { facts.words[name] = fmt::format("{}", value); };
  put("model_name", facts.model_name), put("data_name", facts.data_name), put("data_format", facts.data_format);
  put("not_a_file", facts.not_a_file), put("row_count_max", facts.row_count_max), put("global_batch", config.train_global_batch_size);
  put("data_file", facts.data_file ? facts.data_file->string() : "");
  put("model_folder", facts.model_folder ? facts.model_folder->string() : "");
  put("heads_refusal", facts.heads_refusal);
  put("experts_what", facts.experts_fault ? facts.experts_fault->what : ""),
      put("experts_fix", facts.experts_fault ? facts.experts_fault->action : "");
  const model::LayerLimits limits = facts.model ? facts.model->limits : model::LayerLimits();
  put("window", limits.size), put("window_key", limits.key), put("window_layer", limits.first_layer());
  put("positions", facts.model ? facts.model->max_position_embeddings : 0), put("model_type", facts.model ? facts.model->model_type : "");
  put("rope", facts.model ? facts.model->rope.type : "");
  put("tokenizer_size", facts.tokenizer_size), put("vocab_size", facts.model ? facts.model->vocab_size : 0);
  put("model_what", facts.model_fault ? facts.model_fault->what + " (" + facts.model_fault->where + ")" : "");
  put("model_fix", facts.model_fault ? facts.model_fault->action : "");
  put("weights_what", facts.weights_fault ? facts.weights_fault->what + " (" + facts.weights_fault->where + ")" : "");
  put("weights_fix", facts.weights_fault ? facts.weights_fault->action : "");
  put("tokenizer_what", facts.tokenizer_fault ? facts.tokenizer_fault->what + " (" + facts.tokenizer_fault->where + ")" : "");
  put("save_folder", facts.save_folder), put("save_folder_fault", facts.save_folder_fault), put("earlier_checkpoint", facts.earlier_checkpoint);
  put("tokenizer_fix", facts.tokenizer_fault ? facts.tokenizer_fault->action : "");
}

}  // namespace ringwright::support_matrix
