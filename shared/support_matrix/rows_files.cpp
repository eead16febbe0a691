// Level 2: what the files say that the recipe names.
#include "shared/support_matrix/rows.h"

namespace ringwright::support_matrix {
namespace {

constexpr Verdict kYes = Verdict::supported, kIf = Verdict::conditional, kNo = Verdict::refused, kSkip = Verdict::skipped, kNotYet = Verdict::not_yet,
                  kNone = Verdict::not_applicable;

bool model(const Facts& f) { return f.model.has_value(); }
bool read(const Facts& f) { return f.files_looked_at; }

bool data_fits(const Facts& f) {
  const auto extension = f.data_file ? f.data_file->extension() : std::filesystem::path();
  return extension == (f.data_format == "text" ? ".txt" : ".jsonl");
}

}  // namespace

const std::vector<Row>& file_rows() {
  static const std::vector<Row> kRows = {
      {"RW-GUARD-201",
       "model's files",
       [](const Facts& f) { return read(f) && !f.model_folder; },
       {kSkip, kSkip, kSkip},
       "policy.model_name",
       "'{model_name}' is not on this machine, so nothing was compared with it",
       "say where it is: +ringwright.paths.{model_name}=/the/folder"},
      {"RW-GUARD-202",
       "model",
       [](const Facts& f) { return f.model_fault.has_value(); },
       {kSkip, kSkip, kNo},
       "policy.model_name",
       "{model_what}",
       "{model_fix}"},
      {"RW-GUARD-203", "model", model, {kIf, kIf, kYes}, "policy.model_name", "family {model_type}, rope {rope}", ""},
      {"RW-GUARD-204",
       "rope",
       [](const Facts& f) { return model(f) && f.model->rope.type == "yarn"; },
       {kNo, kNo, kYes},
       "policy.model_name",
       "NeMo RL's DTensor backend refuses YaRN",
       "use this engine, or a model with another rope"},
      {"RW-GUARD-205",
       "length and model",
       [](const Facts& f) { return model(f) && f.length > f.model->max_position_embeddings; },
       {kIf, kIf, kNo},
       "policy.max_total_sequence_length",
       "sequences of {length} tokens, the model knows {positions} positions",
       "policy.max_total_sequence_length={positions}"},
      {"RW-GUARD-206",
       "tokenizer",
       [](const Facts& f) { return f.tokenizer_fault.has_value(); },
       {kSkip, kSkip, kNo},
       "policy.tokenizer.name",
       "{tokenizer_what}",
       "{tokenizer_fix}"},
      {"RW-GUARD-207",
       "tokenizer and model",
       [](const Facts& f) { return model(f) && f.tokenizer_size > f.model->vocab_size; },
       {kNo, kNo, kNo},
       "policy.tokenizer.name",
       "the tokenizer has ids up to {tokenizer_size}, the model's vocabulary has {vocab_size}",
       "name the model's own tokenizer in policy.tokenizer.name"},
      {"RW-GUARD-208",
       "tokenizer's files",
       [](const Facts& f) { return f.model_folder && f.tokenizer_size == 0 && !f.tokenizer_fault; },
       {kSkip, kSkip, kNo},
       "policy.tokenizer.name",
       "no tokenizer.json was found, and this version reads no other tokenizer",
       "put tokenizer.json into the model's folder, or name another in policy.tokenizer.name"},
      {"RW-GUARD-209",
       "model's weights",
       [](const Facts& f) { return f.weights_fault.has_value(); },
       {kSkip, kSkip, kNo},
       "policy.model_name",
       "{weights_what}",
       "{weights_fix}"},
      {"RW-GUARD-210",
       "context parallelism and windows",
       [](const Facts& f) { return model(f) && f.cp > 1 && f.window > 0; },
       {kNo, kNo, kNo},
       "policy.dtensor_cfg.context_parallel_size",
       "layer {window_layer} of the model attends to a part of the sequence ({window_key} {window} in config.json), and plain causal attention over "
       "{cp} "
       "ranks would not",
       "policy.dtensor_cfg.context_parallel_size=1"},
      {"RW-GUARD-214",
       "exchange of heads",
       [](const Facts& f) { return model(f) && f.cp > 1 && !f.heads_refusal.empty(); },
       {kNone, kNone, kNo},
       "ringwright.cp.method",
       "{cp_method} over {cp} ranks: {heads_refusal}",
       "ringwright.cp.method=auto"},
      {"RW-GUARD-211",
       "data file",
       [](const Facts& f) { return read(f) && !f.data_file; },
       {kSkip, kSkip, kSkip},
       "data.train",
       "'{data_name}' is not on this machine, so it was not looked at",
       "say where it is: +ringwright.paths.{data_name}=/the/file"},
      {"RW-GUARD-212",
       "data file",
       [](const Facts& f) { return f.data_file && !data_fits(f); },
       {kSkip, kSkip, kNo},
       "data.train",
       "the name stands for {data_file}, which is not read as {data_format}",
       "name the file with its extension: .txt for plain text, .jsonl for prompt/answer lines"},
      {"RW-GUARD-213",
       "chat messages",
       [](const Facts& f) { return f.data_is_chat; },
       {kYes, kYes, kNotYet},
       "data.train",
       "{data_file} holds chat messages, which need a chat template",
       "write each row with a prompt and an answer, both plain text"},
      {"RW-GUARD-221",
       "checkpoint folder",
       [](const Facts& f) { return !f.earlier_checkpoint.empty(); },
       {kIf, kIf, kNo},
       "checkpointing.checkpoint_dir",
       "{save_folder} holds {earlier_checkpoint} of another run; NeMo RL resumes from it, this version would replace it",
       "name another folder, or a relative one: it lies in the run's own folder"},
      {"RW-GUARD-222",
       "checkpoint folder",
       [](const Facts& f) { return f.save_folder_is_closed; },
       {kNo, kNo, kNo},
       "checkpointing.checkpoint_dir",
       "{save_folder} cannot be made or written, so no checkpoint could be saved",
       "name a folder that you may write, or a relative one: it lies in the run's own folder"},
  };
  return kRows;
}

}  // namespace ringwright::support_matrix
