// Level 2: the files that a recipe names.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <system_error>

#include "shared/base/files.h"
#include "shared/layout/methods.h"
#include "shared/mesh/setup.h"
#include "shared/model/context_parallel.h"
#include "shared/model/parameters.h"
#include "shared/model/safetensors.h"
#include "shared/support_matrix/data_file.h"
#include "shared/support_matrix/facts.h"
#include "shared/support_matrix/family_facts.h"
#include "shared/tokenizer/tokenizer.h"

namespace ringwright::support_matrix {
namespace {

// A file that is not there is no fault of the recipe's: the row is skipped, and says `why`.
std::optional<std::filesystem::path> find_place(const recipe::Recipe& recipe, const std::string& name, recipe::NameKind kind, std::string& why) {
  why = "no name is given";
  if (name.empty()) return std::nullopt;
  try {
    return recipe::resolve_name(recipe, name, kind);
  } catch (const Error& error) {
    const bool is_unknown = error.parts().code == "RW-RECIPE-030";
    why = is_unknown ? fmt::format("'{}' is not on this machine ({})", name, error.parts().where) : error.parts().what;
    return std::nullopt;
  }
}
std::optional<std::filesystem::path> find_place(const recipe::Recipe& recipe, const std::string& name,
                                                recipe::NameKind kind = recipe::NameKind::model) {
  std::string ignored;
  return find_place(recipe, name, kind, ignored);
}

// A model of text and images keeps the sizes of its text part in a section of its own.
const nlohmann::json& text_part(const nlohmann::json& config) {
  const auto part = config.find("text_config");
  return part != config.end() && part->is_object() ? *part : config;
}

int64_t size_in(const nlohmann::json& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (const auto value = config.find(key); value != config.end() && value->is_number_integer()) return value->get<int64_t>();
  return 0;
}

// Of any family: sizes of its attention, and windows where the sizes are not all there. What cannot be read, the row of the model speaks of.
void read_layers(const nlohmann::json& config, const std::filesystem::path& file, Facts& facts) {
  try {
    facts.context_parallel = model::parse_context_parallel_config(facts.model_json, file);
  } catch (const Error&) {
  }
  const int64_t layer_count = size_in(config, {"num_hidden_layers"});
  if (layer_count <= 0) return;
  try {
    facts.limits = model::read_layer_limits(config, layer_count, file.string());
  } catch (const Error&) {
  }
}

// All dialects: the section rope_parameters, which may have one for each kind of layer, or the older rope_scaling; the key rope_type, or the older
// type.
bool has_yarn(const nlohmann::json& config) {
  const auto is_yarn = [](const nlohmann::json& rope) {
    const recipe::Typed typed(rope);
    return typed.text_or("rope_type", "") == "yarn" || typed.text_or("type", "") == "yarn";
  };
  for (const char* name : {"rope_parameters", "rope_scaling"}) {
    const auto section = config.find(name);
    if (section != config.end() && (is_yarn(*section) || std::any_of(section->begin(), section->end(), is_yarn))) return true;
  }
  return false;
}

void read_heads(Facts& facts) {
  const layout::HeadCounts heads{facts.model->num_attention_heads, facts.model->num_key_value_heads};
  facts.heads_refusal = layout::method_head_refusal(facts.cp_method, heads, static_cast<int>(facts.cp));
}

// Of any family, also of those that cannot be trained here.
void read_experts(Facts& facts) {
  if (facts.ep <= 1 || facts.mesh_fault || !facts.context_parallel || facts.context_parallel->experts == 0) return;
  try {
    mesh::ParallelismSizes sizes;
    sizes.cp = static_cast<int>(facts.cp), sizes.tp = static_cast<int>(facts.tp), sizes.ep = static_cast<int>(facts.ep);
    mesh::check_experts(facts.context_parallel->experts, static_cast<int>(facts.world), sizes);
  } catch (const Error& error) {
    facts.experts_fault = error.parts();
  }
}

void read_any_family(const std::filesystem::path& file, Facts& facts) {
  if (!facts.model_json.is_object()) return;
  facts.model_type = facts.model_json.value("model_type", nlohmann::json()).is_string() ? facts.model_json["model_type"].get<std::string>() : "";
  const nlohmann::json& part = text_part(facts.model_json);
  facts.positions = size_in(part, {"max_position_embeddings"}), facts.vocab_size = size_in(part, {"vocab_size"});
  for (const char* section : {"vision_config", "audio_config", "video_config"})
    if (facts.multimodal_section.empty() && facts.model_json.contains(section)) facts.multimodal_section = section;
  facts.has_yarn = has_yarn(part);
  read_layers(part, file, facts);
}

void read_model(const std::filesystem::path& folder, Facts& facts) {
  const std::filesystem::path file = folder / "config.json";
  try {
    facts.model_json = model::read_config_json(folder);
    read_any_family(file, facts);
    facts.model = model::parse_model_config(facts.model_json, file.string());
    read_heads(facts);
  } catch (const Error& error) {
    facts.model_fault = error.parts();
  }
}

// 0: its config.json does not say, or cannot be read.
int64_t vocabulary_of(const std::filesystem::path& folder) {
  try {
    const nlohmann::json config = model::read_config_json(folder);
    return config.is_object() ? size_in(text_part(config), {"vocab_size"}) : 0;
  } catch (const Error&) {
    return 0;
  }
}

// The first teacher of same-tokenizer distillation whose model has another vocabulary than the student's.
void read_teacher_model(const recipe::Recipe& recipe, Facts& facts) {
  const std::string name = facts.text("teacher.model_name");
  const auto folder = name.empty() || facts.teachers ? std::nullopt : find_place(recipe, name);
  if (!folder || facts.vocab_size == 0) return;
  const int64_t size = vocabulary_of(*folder);
  if (size == 0 || size == facts.vocab_size) return;
  facts.teacher_vocab_size = size, facts.teacher_vocab_key = "teacher.model_name", facts.teacher_name = name;
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

std::optional<tokenizer::Tokenizer> read_tokenizer(const std::filesystem::path& folder, Facts& facts) {
  const std::filesystem::path file = folder / "tokenizer.json";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  try {
    auto tokenizer = tokenizer::Tokenizer::from_file(file);
    facts.tokenizer_size = tokenizer.vocabulary_size();
    facts.mark_tokens = static_cast<int64_t>(tokenizer.encode("").ids.size()) + 1;
    return tokenizer;
  } catch (const Error& error) {
    facts.tokenizer_fault = error.parts();
    return std::nullopt;
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
  facts.data_file = find_place(recipe, config.train.path, recipe::NameKind::data, facts.data_missing);
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

void name_file_words(Facts& facts) {
  const auto put = [&](const char* name, const auto& value) { facts.words[name] = fmt::format("{}", value); };
  put("model_name", facts.model_name), put("data_name", facts.data_name), put("data_format", facts.data_format);
  put("model_missing", facts.model_missing), put("data_missing", facts.data_missing);
  put("not_a_file", facts.not_a_file), put("row_count_max", facts.row_count_max);
  put("data_file", facts.data_file ? facts.data_file->string() : "");
  put("row_limit", facts.row_limit), put("row_limit_key", facts.row_limit_key);
  put("batch_rows", facts.batch_rows), put("batch_rows_too_long", facts.batch_rows_too_long), put("batch_bad_line", facts.batch_bad_line);
  put("heads_refusal", facts.heads_refusal);
  put("window", facts.limits.size), put("window_key", facts.limits.key), put("window_layer", facts.limits.first_layer());
  put("positions", facts.positions), put("model_type", facts.model_type);
  put("rope", facts.model ? facts.model->rope.type : ""), put("multimodal_section", facts.multimodal_section);
  put("tokenizer_size", facts.tokenizer_size), put("vocab_size", facts.vocab_size);
  put("teacher_vocab_key", facts.teacher_vocab_key), put("teacher_name", facts.teacher_name), put("teacher_vocab_size", facts.teacher_vocab_size);
  put("save_folder", facts.save_folder), put("save_folder_fault", facts.save_folder_fault), put("earlier_checkpoint", facts.earlier_checkpoint);
  name_family_words(facts);
}

}  // namespace

void read_model_config(const recipe::Recipe& recipe, const CheckOptions& options, Facts& facts) {
  facts.model_name = facts.text("policy.model_name");
  facts.model_folder = find_place(recipe, facts.model_name, recipe::NameKind::model, facts.model_missing);
  if (!options.model_folder.empty()) facts.model_name = options.model_folder.string(), facts.model_folder = options.model_folder;
  if (facts.model_folder) read_model(*facts.model_folder, facts);
}

void read_other_files(const recipe::Recipe& recipe, Facts& facts) {
  read_experts(facts);
  if (facts.model_folder) read_weights(*facts.model_folder, facts);
  const std::string tokenizer = facts.text("policy.tokenizer.name");
  const auto tokenizer_folder =
      tokenizer.empty() || tokenizer == facts.text("policy.model_name") ? facts.model_folder : find_place(recipe, tokenizer);
  const auto words = tokenizer_folder ? read_tokenizer(*tokenizer_folder, facts) : std::nullopt;
  read_teacher_model(recipe, facts);
  if (facts.algorithm == "sft") {
    const recipe::SftConfig config = recipe::sft_config(recipe);
    facts.data_name = config.train.path, facts.data_format = config.train.format;
    read_data_files(recipe, config, facts);
    if (words) read_batch(config, *words, facts);
    read_save_folder(config, facts);
  }
  name_file_words(facts);
}

}  // namespace ringwright::support_matrix
