// What the rows ask about: read once from the recipe.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "shared/base/error.h"
#include "shared/model/config.h"
#include "shared/recipe/recipe.h"

namespace ringwright::support_matrix {

struct Facts {
  std::string algorithm;  // "sft", another section's name, or "" when the recipe names none
  int64_t nodes = 1, gpus_per_node = 1, world = 1;
  int64_t cp = 1, tp = 1, ep = 1, dp = 1, dp_replicate = 1;
  int64_t length = 0;  // policy.max_total_sequence_length, 0 when absent
  int64_t global_batch = 0, micro_batch = 1;
  std::string precision, optimizer, save_format, save_consolidated;
  std::string cp_flavour, cp_method, cp_transport, rotate_method;  // "" where the recipe says nothing
  // Slots of a pack, and of a microbatch under dynamic batching; what a document's slot, a pack and the longest row are multiples of.
  // longest_tokens: of a sequence or a stream, padded for the ranks.
  int64_t longest_tokens = 0;
  int64_t pack_tokens = 0, microbatch_tokens = 0, document_divisor = 1, document_divisor_needed = 1, row_round = 1;
  std::string processor_key, processor;  // the first key that asks for messages or a prompt template, with its value
  std::string user_key;                  // the first key below `ringwright` that this version does not act on
  bool dtensor = false, dtensor_v2 = true, megatron = false;
  bool packing = false, skips_long = false, dynamic_batching = false, sequence_parallel = false;
  bool lora = false, vision = false, quantised = false, parallel_plan = false, model_overrides = false;
  bool saves_memory = false;  // activation checkpointing or CPU offload
  bool time_limit = false, only_last_turn = false, custom_data = false, other_loggers = false, teachers = false;
  std::optional<ErrorParts> mesh_fault;
  std::string without_effect;  // what the recipe says about the ranks that has no effect

  // Level 2.
  bool files_looked_at = false;
  std::string model_name, data_name;
  std::optional<std::filesystem::path> model_folder, data_file;
  std::optional<model::ModelConfig> model;
  std::optional<ErrorParts> model_fault, weights_fault, tokenizer_fault;
  int64_t tokenizer_size = 0;  // 0: no tokenizer was read
  int64_t mark_tokens = 4;     // that the tokenizer and the end token add to a text at most
  std::string data_format;
  std::string save_folder, earlier_checkpoint;  // only where the recipe names a place outside of the run's own folder
  std::string save_folder_fault;                // why that place cannot be made or written; "": it can
  std::optional<ErrorParts> experts_fault;      // the model's experts and expert_parallel_size
  std::string heads_refusal;                    // why the model's heads cannot be dealt to the ranks as the method asks; "": they can
  bool data_is_chat = false;                    // the first row is {"messages": [...]}
  std::string not_a_file;                       // a data file that is a pipe, a device, ...: "validation.txt is a pipe"; or cannot be read
  int64_t rows_wanted = 0;                      // of one global batch
  int64_t row_count_max = -1;                   // more rows than the data can give; -1: not looked at

  // {name} in a row's texts -> what to write there.
  std::map<std::string, std::string> words;
};

// Throws Error RW-RECIPE-02x (exit code 2) for values of the wrong kind.
Facts read_facts(const recipe::Recipe& recipe);
void read_files(const recipe::Recipe& recipe, Facts& facts);

}  // namespace ringwright::support_matrix
