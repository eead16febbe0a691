// What the rows ask about: read once from the recipe, from the files that it names, and from this machine.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/error.h"
#include "shared/model/config.h"
#include "shared/model/context_parallel.h"
#include "shared/recipe/recipe.h"
#include "shared/recipe/typed.h"
#include "shared/support_matrix/megatron.h"
#include "shared/support_matrix/support_matrix.h"
#include "shared/tokenizer/tokenizer.h"

namespace ringwright::support_matrix {

// Options of the loss that contradict each other; key "": none do.
struct LossFault {
  std::string key, what, fix;
};

// The first teacher, by key, that does not go with the student; "": all do.
struct TeacherFacts {
  std::string uneven_key, window_key, batch_key, mesh_key;
  int64_t uneven_length = 0, uneven_cp = 1, window_length = 0, batch = 0, cp_tp = 1;
  int64_t first_length = 0;  // tokens of the first teacher that says how many; 0: none does
};

// Keys of one model's section (policy, value, teacher, teachers.0) that moved between the two Automodel targets, with what they become.
struct MovedKeys {
  std::string section;               // "policy.dtensor_cfg"
  std::string backend_key;           // FSDP2's backend: nccl
  std::string experts_value;         // of moe_parallelizer._target_; "": it is right
  std::string backend_target_value;  // of automodel_kwargs.backend._target_, likewise
  bool deepep = false;               // automodel_kwargs.backend.enable_deepep is given

  bool any() const { return !backend_key.empty() || !experts_value.empty() || !backend_target_value.empty() || deepep; }
};

struct Facts {
  nlohmann::json resolved;
  std::string algorithm;  // "sft", another section's name, or "" when the recipe names none
  int64_t nodes = 1, gpus_per_node = 1, world = 1;
  int64_t cp = 1, tp = 1, ep = 1, dp = 1, dp_replicate = 1, pp = 1;
  int64_t length = 0;  // policy.max_total_sequence_length, 0 when absent
  int64_t global_batch = 0, micro_batch = 1, logprob_batch = 0;
  std::string precision, optimizer, save_format;
  std::string save_consolidated = "false";                         // false, every, final, or "unknown"
  std::string cp_flavour, cp_method, cp_transport, rotate_method;  // "" where the recipe says nothing
  // Slots of a pack, and of a microbatch under dynamic batching; what a document's slot, a pack and the longest row are multiples of.
  // longest_tokens: of a sequence or a stream, padded for the ranks.
  int64_t longest_tokens = 0;
  int64_t cp_chunk = 0;  // of `balanced`; 0: the recipe names none
  int64_t pack_tokens = 0, microbatch_tokens = 0, document_divisor = 1, document_divisor_needed = 1, row_round = 1;
  std::string processor_key, processor;  // the first key that asks for messages or a prompt template, with its value
  std::string user_key;                  // the first key below `ringwright` that this version does not act on
  bool dtensor = false, dtensor_v2 = true, megatron = false;
  std::optional<MegatronMapping> mapping;  // where the recipe is for Megatron: what it is, or would be, here
  std::string side_model;                  // critic or teacher on that backend: "value" or "teacher"; "": neither
  bool side_mapped = false;                // --map megatron, and all of its settings have a counterpart
  MegatronMapping side_mapping;
  bool packing = false, dynamic_batching = false, sequence_parallel = false, filters_logits = false;
  bool skips_long = false, model_overrides = false;
  bool saves_memory = false;  // activation checkpointing or CPU offload
  bool teachers = false;      // with tokenizers of their own
  int64_t train_sets = 1;
  std::string yarn_key;                                // of policy.hf_config_overrides, that asks for a rope of type yarn; "": none does
  std::string vision_key;                              // that says that the model is of text and images; "": it is not
  std::string unshardable_key, unshardable_attention;  // an attention that NeMo RL cannot shard
  std::string other_env_vars;                          // of policy.dtensor_cfg.env_vars, the allocator's left out
  std::string generation_backend;
  std::string async_lacks, async_lacks_key, async_lacks_value;
  LossFault loss_fault;
  TeacherFacts teacher;
  MovedKeys moved;                        // of the section that the rows look at: the first of these
  std::vector<MovedKeys> moved_sections;  // in the order of the recipe's models
  std::optional<ErrorParts> mesh_fault;
  std::string without_effect;  // what the recipe says about the ranks that has no effect
  Machine machine;
  std::string interface, interface_key, interface_fault;  // GLOO_SOCKET_IFNAME, where it stands, and what is wrong with it

  // Level 2.
  std::string model_name, data_name;
  std::optional<std::filesystem::path> model_folder, data_file;
  std::string model_missing, data_missing;                       // why there is none: "'a' is not on this machine (looked at: ...)"
  nlohmann::json model_json;                                     // config.json of any family; null: none was read
  std::string model_type;                                        // what it says; "": nothing
  bool has_yarn = false;                                         // as the rope of its text part, or of some layers
  std::optional<model::ContextParallelConfig> context_parallel;  // of any family whose sizes stand in it
  std::optional<model::ModelConfig> model;
  std::optional<ErrorParts> model_fault, weights_fault, tokenizer_fault;
  int64_t tokenizer_size = 0;             // 0: no tokenizer was read
  int64_t mark_tokens = 4;                // that the tokenizer and the end token add to a text at most
  int64_t positions = 0, vocab_size = 0;  // of config.json; 0: it says nothing
  std::string multimodal_section;         // of config.json, "vision_config"
  int64_t teacher_vocab_size = 0;         // of the first teacher whose model's vocabulary has another size than the student's
  std::string teacher_vocab_key, teacher_name;
  std::string data_format;
  std::string save_folder, earlier_checkpoint;  // only where the recipe names a place outside of the run's own folder
  std::string save_folder_fault;                // why that place cannot be made or written; "": it can
  model::LayerLimits limits;                    // of the layers that do not attend to the whole sequence
  std::optional<ErrorParts> experts_fault;      // the model's experts and expert_parallel_size
  std::string heads_refusal;                    // why the model's heads cannot be dealt to the ranks as the method asks; "": they can
  bool data_is_chat = false;                    // the first row is {"messages": [...]}
  std::string not_a_file;                       // a data file that is a pipe, a device, ...: "validation.txt is a pipe"; or cannot be read
  int64_t rows_wanted = 0;                      // of one global batch
  // Of one batch of prompts and answers, from the data's beginning: rows, those of them that are longer than the recipe allows, and the first line
  // that is no such row.
  int64_t batch_rows = 0, batch_rows_too_long = 0;
  int64_t row_limit = 0;  // tokens of a row at most, and the key that says so
  std::string row_limit_key;
  std::string batch_bad_line;
  int64_t row_count_max = -1;  // more rows than the data can give; -1: not looked at

  // {name} in a row's texts -> what to write there. A name with a dot is a key of the recipe.
  std::map<std::string, std::string> words;

  bool was_mapped() const { return mapping && !megatron; }  // --map megatron: the sizes are Megatron's
  bool has_mesh() const { return !mesh_fault && !megatron; }
  bool shards() const { return cp > 1 && !megatron; }  // sequences over several ranks
  bool has_vision() const { return !vision_key.empty(); }

  // The recipe's value at a dotted key; nullptr when absent or null.
  const nlohmann::json* find(const std::string& key) const;
  bool on(const std::string& key) const;        // is true
  bool is_false(const std::string& key) const;  // is false
  bool given(const std::string& key) const;     // is there, and is no empty list or map
  std::string text(const std::string& key) const;
  double number(const std::string& key, double fallback) const;
  // The value as a message shows it, cut to what it can hold; "" when absent.
  std::string written(const std::string& key) const;
};

// Throws Error RW-RECIPE-02x (exit code 2) for values of the wrong kind.
// With --map megatron the recipe is the one that as_mapped() returns.
Facts read_facts(const recipe::Recipe& recipe, const CheckOptions& options);
// The model's config.json alone: all that the path of a step and an estimate need.
void read_model_config(const recipe::Recipe& recipe, const CheckOptions& options, Facts& facts);
// Everything else that the recipe names, after that.
void read_other_files(const recipe::Recipe& recipe, Facts& facts);
// Fills `words` from the rest.
void name_words(Facts& facts);

// Parts of read_facts and read_files.
LossFault find_loss_fault(const Facts& facts);
TeacherFacts read_teachers(const recipe::Typed& typed, const Facts& facts);
void read_batch(const recipe::SftConfig& config, const tokenizer::Tokenizer& tokenizer, Facts& facts);
void read_machine(const std::optional<Machine>& machine, Facts& facts);

}  // namespace ringwright::support_matrix
