// NeMo RL's recipe YAML: inheritance, interpolation, overrides, with the place of every value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/error.h"

namespace ringwright::recipe {

// Where a value comes from. line and column count from 1; file "command line" for overrides.
struct Origin {
  std::string file;
  int line = 0;
  int column = 0;
};

struct Warning {
  std::string code;  // RW-RECIPE-101 unknown key, ...
  std::string key;   // dotted path
  std::string message;
  Origin origin;
};

struct Recipe {
  std::filesystem::path file;
  std::string text;                       // the file as it was
  nlohmann::ordered_json resolved;        // everything merged and interpolated
  std::map<std::string, Origin> origins;  // dotted path of each leaf -> place
  std::vector<std::string> overrides;
  std::vector<Warning> warnings;  // unknown keys with the nearest known one, leftovers
};

class ParentCache;  // loader.h

// Throws Error with file:line:column; RW-RECIPE-0xx, exit code 2. Several recipes load faster with one cache of their parents.
Recipe load_recipe(const std::filesystem::path& file, const std::vector<std::string>& overrides = {}, ParentCache* parents = nullptr);

// The same for a text that stands, or will stand, in `file`, which is not read.
Recipe load_recipe_text(const std::filesystem::path& file, std::string text, const std::vector<std::string>& overrides = {},
                        ParentCache* parents = nullptr);

// Where a key, or the first value below it, was written; the recipe's file and line 0 where it was not.
Origin find_origin(const Recipe& recipe, const std::string& key);

// What a supervised fine-tuning run needs, typed; the defaults are NeMo RL's.
struct OptimizerConfig {
  double lr = 5e-6, weight_decay = 0.01, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  // "ndim>=2 only" (ringwright.optimizer.decay_rule, default "all" as torch.optim.AdamW does)
  bool decay_matrices_only = false;
};

// One piece of the learning-rate schedule, as torch.optim.lr_scheduler: LinearLR, CosineAnnealingLR, ConstantLR.
struct SchedulerPiece {
  std::string name;
  double start_factor = 1.0 / 3, end_factor = 1.0, factor = 1.0, eta_min = 0.0;
  int64_t total_iters = 0;  // LinearLR, ConstantLR
  int64_t t_max = 0;        // CosineAnnealingLR
};

struct DataSource {
  std::string path;    // as written: data.train.data_path
  std::string format;  // "text" (documents are lines, joined and cut into full windows) or "prompt_answer" (JSON lines)
  std::string prompt_key = "prompt", answer_key = "answer";
  bool lines_are_rows = false;  // ringwright.data.text_rows: "lines"; else "windows": text is joined and cut into full windows
};

// policy.sequence_packing: the rows of a global batch become packs of several documents, one pack a microbatch.
struct PackingConfig {
  bool enabled = false;
  int64_t pack_tokens = 0;  // train_mb_tokens: slots of a pack, padding included
  std::string algorithm = "modified_first_fit_decreasing";
  bool largest_first = false;         // microbatch_order
  int64_t sequence_length_round = 1;  // a pack's length is a multiple of it
  bool skip_long = false;             // ringwright.packing.skip_long: rows that fit in no pack are left out and counted; else they are refused
  int64_t document_divisor = 0;       // ringwright.packing.document_divisor; 0: what the mesh asks for
};

// policy.dynamic_batching: microbatches of rows of like length, as many as fit.
struct DynamicBatchingConfig {
  bool enabled = false;
  int64_t microbatch_tokens = 0;      // train_mb_tokens: rows x longest row, rounded
  int64_t sequence_length_round = 1;  // the longest row counts as a multiple of it
};

struct SftConfig {
  std::string name;  // ringwright.name, else the recipe's file name without extension
  int64_t max_num_steps = 60, max_num_epochs = 1, val_period = 10, val_batches = 8, val_global_batch_size = 32, val_micro_batch_size = 1;
  bool val_at_start = true, shuffle = true;  // shuffle: data.shuffle
  uint64_t seed = 42;
  std::string model_name, tokenizer_name;
  int64_t train_global_batch_size = 32, train_micro_batch_size = 1, max_total_sequence_length = 1024;
  int64_t max_input_length = 0;  // data.max_input_seq_length; 0: no limit of its own
  int64_t make_sequence_length_divisible_by = 1;
  std::string precision = "float32";
  double max_grad_norm = 1.0;  // 0: no clipping (null in the recipe)
  int pp = 1, dp_replicate = 1, cp = 1, tp = 1;
  int world_size = 1;        // cluster.num_nodes * cluster.gpus_per_node
  int threads_per_rank = 0;  // ringwright.threads_per_rank; 0: cores / ranks of the node
  OptimizerConfig optimizer;
  std::vector<SchedulerPiece> scheduler;
  std::vector<int64_t> scheduler_milestones;
  DataSource train;
  DataSource validation;  // path empty: no validation
  bool checkpointing_enabled = false;
  std::string checkpoint_dir;  // a relative one is below the folder of the run; empty: <that folder>/checkpoints
  int64_t save_period = 0;
  bool probe_first = false;  // ringwright.probe_first
  std::string cp_flavour;    // ringwright.cp.flavour; "": by family
  std::string cp_method = "auto", cp_transport = "auto";
  std::optional<int64_t> cp_chunk;  // ringwright.cp.chunk: tokens that flavour balanced keeps together; none: layout::default_chunk
  std::string cp_rotate_method;     // policy.dtensor_cfg.cp_rotate_method, where it decided cp_method; else ""
  PackingConfig packing;
  DynamicBatchingConfig dynamic_batching;
};

// Throws Error RW-RECIPE-02x (missing key, wrong type, out of range) with key and place.
SftConfig sft_config(const Recipe& recipe);
// The same from a resolved recipe alone (what a worker gets): places are the keys.
SftConfig sft_config(const nlohmann::json& resolved);

// What a document's slot in a pack is a multiple of.
int64_t document_divisor(const SftConfig& config);
// The most tokens of a row of the data that is taken: the smaller of policy.max_total_sequence_length and data.max_input_seq_length, or what a pack
// holds where ringwright.packing.skip_long is set and that is less.
int64_t longest_row(const SftConfig& config);

enum class NameKind { model, data };  // a model's folder (or its tokenizer's); a data set's file

// A model or data name becomes an absolute path. Looked at in this order: the name as a path (relative to the recipe's folder, then to the working
// directory), ringwright.paths.<name>, what bootstrap made (models/<name>, data/<name>.txt or .jsonl in the cache directory), the local hub cache
// ($HF_HUB_CACHE or $HF_HOME/hub: models--ORG--NAME or datasets--ORG--NAME, the snapshot of refs/main, else the newest; of a data set its
// train.jsonl, train.txt or only such file). Throws Error RW-RECIPE-030 (exit code 3) listing the places looked at, and RW-RECIPE-031 where a data
// set's name says nothing of its format and the file found is not plain text.
std::filesystem::path resolve_name(const Recipe& recipe, const std::string& name, NameKind kind = NameKind::model);

}  // namespace ringwright::recipe
