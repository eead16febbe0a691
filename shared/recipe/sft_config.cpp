// The typed view of a supervised fine-tuning recipe. Defaults: NeMo RL's (algorithms reference, section 14).
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <filesystem>

#include "shared/base/error.h"
#include "shared/layout/layout.h"
#include "shared/layout/methods.h"
#include "shared/layout/packing.h"
#include "shared/recipe/parallelism.h"
#include "shared/recipe/recipe.h"
#include "shared/recipe/typed.h"

namespace ringwright::recipe {
namespace {

constexpr int64_t kSequenceMax = layout::kSequenceLengthMax;

// "torch.optim.lr_scheduler.LinearLR" -> "LinearLR".
std::string last_segment(const std::string& dotted) { return dotted.substr(dotted.rfind('.') + 1); }

void read_sft(const Typed& typed, SftConfig& config) {
  config.max_num_steps = typed.integer("sft.max_num_steps", config.max_num_steps, -1);
  config.max_num_epochs = typed.integer("sft.max_num_epochs", config.max_num_epochs, -1);
  config.val_period = typed.integer("sft.val_period", config.val_period, -1);
  config.val_batches = typed.integer("sft.val_batches", config.val_batches, -1, kBatchRowsMax);
  config.val_global_batch_size = typed.integer("sft.val_global_batch_size", config.val_global_batch_size, 1, kBatchRowsMax);
  config.val_micro_batch_size = typed.integer("sft.val_micro_batch_size", config.val_micro_batch_size, 1, kBatchRowsMax);
  config.val_at_start = typed.boolean("sft.val_at_start", config.val_at_start);
  config.seed = static_cast<uint64_t>(typed.integer("sft.seed", 42, 0));
}

void read_policy(const Typed& typed, SftConfig& config) {
  config.model_name = typed.required_text("policy.model_name");
  config.tokenizer_name = typed.text("policy.tokenizer.name", config.model_name);
  config.train_global_batch_size = typed.integer("policy.train_global_batch_size", config.train_global_batch_size, 1, kBatchRowsMax);
  config.train_micro_batch_size = typed.integer("policy.train_micro_batch_size", config.train_micro_batch_size, 1, kBatchRowsMax);
  config.max_total_sequence_length = typed.required_integer("policy.max_total_sequence_length", 2, kSequenceMax);
  config.make_sequence_length_divisible_by = sequence_length_divisor(typed);
  config.precision = typed.text("policy.precision", config.precision);
  const nlohmann::json* clip = typed.find("policy.max_grad_norm");
  config.max_grad_norm = clip ? typed.number("policy.max_grad_norm", 0, 0) : 0;
}

void read_mesh(const Typed& typed, SftConfig& config) {
  const mesh::ParallelismSizes sizes = parallelism(typed).request.sizes;
  config.cp = std::max(sizes.cp, 1);
  config.tp = std::max(sizes.tp, 1);
  config.dp_replicate = std::max(sizes.dp_replicate.value_or(1), 1);
  config.world_size = world_size(typed);
  config.threads_per_rank = static_cast<int>(typed.integer("ringwright.threads_per_rank", 0, 0, 1024));
  config.probe_first = typed.boolean("ringwright.probe_first", false);
}

void read_context_parallel(const Typed& typed, SftConfig& config) {
  config.cp_flavour = typed.choice("ringwright.cp.flavour", "", layout::flavour_names());
  config.cp_method = typed.choice("ringwright.cp.method", config.cp_method, layout::method_names());
  config.cp_transport = typed.choice("ringwright.cp.transport", "auto", {"gloo", "shared_memory"}, {"nccl", "in_process"});
  if (typed.has("ringwright.cp.chunk")) config.cp_chunk = typed.integer("ringwright.cp.chunk", layout::kChunkDefault, 1, layout::kChunkMax);
  const std::string rotate = typed.choice("policy.dtensor_cfg.cp_rotate_method", "", layout::rotation_names());
  if (rotate.empty() || typed.has("ringwright.cp.method")) return;
  config.cp_rotate_method = rotate, config.cp_method = layout::method_of_rotation(rotate);
}

void read_packing(const Typed& typed, SftConfig& config) {
  const int64_t tokens = std::min(config.max_total_sequence_length * config.train_micro_batch_size, kSequenceMax);
  const std::string base = "policy.sequence_packing.";
  PackingConfig& packing = config.packing;
  packing.enabled = typed.boolean(base + "enabled", false);
  packing.document_divisor = typed.integer("ringwright.packing.document_divisor", 0, 1, kSequenceMax);
  if (packing.enabled) {
    packing.pack_tokens = typed.integer(base + "train_mb_tokens", tokens, 2, kSequenceMax);
    packing.algorithm = typed.choice(base + "algorithm", packing.algorithm, layout::packing_algorithms(), {std::string(layout::kFirstFitShuffle)});
    packing.largest_first = typed.choice(base + "microbatch_order", "packer", {"largest_first"}) == "largest_first";
    packing.sequence_length_round = typed.integer(base + "sequence_length_round", 1, 1, kSequenceMax);
    packing.skip_long = typed.boolean("ringwright.packing.skip_long", false);
    if (packing.pack_tokens % config.make_sequence_length_divisible_by != 0)
      typed.out_of_range("policy.make_sequence_length_divisible_by",
                         fmt::format("a divisor of a pack's {} tokens ({}train_mb_tokens)", packing.pack_tokens, base));
  }
  const std::string dynamic = "policy.dynamic_batching.";
  config.dynamic_batching.enabled = typed.boolean(dynamic + "enabled", false);
  if (!config.dynamic_batching.enabled) return;
  config.dynamic_batching.microbatch_tokens = typed.integer(dynamic + "train_mb_tokens", tokens, 2, kSequenceMax);
  config.dynamic_batching.sequence_length_round = typed.integer(dynamic + "sequence_length_round", 1, 1, kSequenceMax);
}

void read_optimizer(const Typed& typed, OptimizerConfig& optimizer) {
  const std::string base = "policy.optimizer.kwargs.";
  if (last_segment(typed.text("policy.optimizer.name", "")) == "FusedAdam") optimizer.weight_decay = 0;  // what Transformer Engine's begins with
  optimizer.lr = typed.number(base + "lr", optimizer.lr, 0);
  optimizer.weight_decay = typed.number(base + "weight_decay", optimizer.weight_decay, 0);
  optimizer.eps = typed.number(base + "eps", optimizer.eps, 0);
  if (const nlohmann::json* betas = typed.find(base + "betas")) {
    if (!betas->is_array() || betas->size() != 2) typed.wrong_kind(base + "betas", "a list of two numbers");
    optimizer.beta1 = typed.number(base + "betas.0", 0, 0, 1);
    optimizer.beta2 = typed.number(base + "betas.1", 0, 0, 1);
  }
  optimizer.decay_matrices_only = typed.choice("ringwright.optimizer.decay_rule", "all", {"all", "ndim>=2 only"}) != "all";
}

SchedulerPiece read_piece(const Typed& typed, const std::string& key) {
  SchedulerPiece piece;
  piece.name = last_segment(typed.required_text(key + ".name"));
  const std::vector<std::string> known = {"LinearLR", "CosineAnnealingLR", "ConstantLR"};
  if (std::find(known.begin(), known.end(), piece.name) == known.end())
    typed.out_of_range(key + ".name", "LinearLR, CosineAnnealingLR or ConstantLR of torch.optim.lr_scheduler");
  const std::string kwargs = key + ".kwargs.";
  piece.start_factor = typed.number(kwargs + "start_factor", piece.start_factor, 0, 1);
  piece.end_factor = typed.number(kwargs + "end_factor", piece.end_factor, 0, 1);
  piece.factor = typed.number(kwargs + "factor", piece.name == "ConstantLR" ? 1.0 / 3 : piece.factor, 0, 1);
  piece.eta_min = typed.number(kwargs + "eta_min", piece.eta_min, 0);
  piece.total_iters = typed.integer(kwargs + "total_iters", 5, 0);
  if (piece.name == "CosineAnnealingLR") piece.t_max = typed.required_integer(kwargs + "T_max", 1);
  return piece;
}

// A list of pieces and, where there are several, one {milestones: [...]} with one step less than pieces.
void read_scheduler(const Typed& typed, SftConfig& config) {
  const std::string base = "policy.scheduler";
  const nlohmann::json* scheduler = typed.find(base);
  if (!scheduler) return;
  if (!scheduler->is_array() && !scheduler->is_object()) typed.wrong_kind(base, "a list of schedulers, or one");
  if (scheduler->is_object()) {
    config.scheduler.push_back(read_piece(typed, base));
    return;
  }
  for (size_t i = 0; i < scheduler->size(); ++i) {
    const std::string key = base + "." + std::to_string(i);
    if (!(*scheduler)[i].is_object()) typed.wrong_kind(key, "a map with name and kwargs, or with milestones");
    const nlohmann::json* milestones = typed.find(key + ".milestones");
    if (!milestones) {
      config.scheduler.push_back(read_piece(typed, key));
      continue;
    }
    if (!milestones->is_array()) typed.wrong_kind(key + ".milestones", "a list of steps");
    for (size_t step = 0; step < milestones->size(); ++step)
      config.scheduler_milestones.push_back(typed.required_integer(key + ".milestones." + std::to_string(step), 0));
  }
  const bool rising = std::is_sorted(config.scheduler_milestones.begin(), config.scheduler_milestones.end());
  const size_t wanted = config.scheduler.empty() ? 0 : config.scheduler.size() - 1;
  if (config.scheduler_milestones.size() != wanted || !rising)
    typed.out_of_range(base, std::to_string(wanted) + " rising milestones for " + std::to_string(config.scheduler.size()) + " schedulers");
}

// By the file's extension; a bare name stands for what ringwright.paths says of it, else for plain text.
std::string format_of(const Typed& typed, const std::string& key, const std::string& path) {
  std::string extension = std::filesystem::path(path).extension();
  const nlohmann::json* paths = typed.find("ringwright.paths");
  if (extension.empty() && paths && paths->contains(path) && paths->at(path).is_string())
    extension = std::filesystem::path(paths->at(path).get<std::string>()).extension();
  if (extension == ".jsonl") return "prompt_answer";
  if (extension == ".txt" || extension.empty()) return "text";
  typed.out_of_range(key, "a .txt file with plain text, or a .jsonl file with a prompt and an answer a line");
}

DataSource read_source(const Typed& typed, const std::string& section) {
  DataSource source;
  const nlohmann::json* value = typed.find(section);
  if (!value) return source;
  if (value->is_array()) {
    if (value->size() != 1) typed.out_of_range(section, "one data set");
    return read_source(typed, section + ".0");
  }
  if (!value->is_object()) typed.wrong_kind(section, "a map with data_path or dataset_name");
  const std::string key = typed.has(section + ".data_path") ? section + ".data_path" : section + ".dataset_name";
  source.path = typed.required_text(key);
  source.format = format_of(typed, key, source.path);
  source.prompt_key = typed.text(section + ".input_key", typed.text(section + ".prompt_key", source.prompt_key));
  source.answer_key = typed.text(section + ".output_key", typed.text(section + ".response_key", source.answer_key));
  source.lines_are_rows = typed.choice("ringwright.data.text_rows", "windows", {"lines"}) == "lines";
  return source;
}

SftConfig read_config(const Typed& typed, const std::string& default_name) {
  SftConfig config;
  config.name = typed.text("ringwright.name", default_name);
  read_sft(typed, config);
  read_policy(typed, config);
  read_mesh(typed, config);
  read_context_parallel(typed, config);
  read_packing(typed, config);
  read_optimizer(typed, config.optimizer);
  read_scheduler(typed, config);
  if (!typed.has("data.train")) typed.missing("data.train", "data_path or dataset_name below it");
  config.shuffle = typed.boolean("data.shuffle", config.shuffle);
  config.max_input_length = typed.integer("data.max_input_seq_length", 0, 2, kSequenceMax);
  config.train = read_source(typed, "data.train");
  config.validation = read_source(typed, "data.validation");
  config.checkpointing_enabled = typed.boolean("checkpointing.enabled", false);
  config.checkpoint_dir = typed.text("checkpointing.checkpoint_dir", "");
  config.save_period = typed.integer("checkpointing.save_period", 0, 0);
  return config;
}

}  // namespace

SftConfig sft_config(const Recipe& recipe) {
  const nlohmann::json resolved = recipe.resolved;
  return read_config(Typed(resolved, [&recipe](const std::string& key) { return place_of(recipe, key); }), recipe.file.stem().string());
}

SftConfig sft_config(const nlohmann::json& resolved) { return read_config(Typed(resolved), "run"); }

int64_t document_divisor(const SftConfig& config) {
  return config.packing.document_divisor > 0 ? config.packing.document_divisor : layout::document_divisor(config.cp, config.tp, false);
}

int64_t longest_row(const SftConfig& config) {
  const int64_t limit =
      config.max_input_length > 0 ? std::min(config.max_total_sequence_length, config.max_input_length) : config.max_total_sequence_length;
  if (!config.packing.enabled || !config.packing.skip_long) return limit;
  return std::min(limit, layout::longest_document_of_pack(config.packing.pack_tokens, document_divisor(config)));
}

}  // namespace ringwright::recipe
