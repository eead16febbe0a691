// Training rows from a file: token ids with the mask of the tokens that are trained on. No tensors here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "shared/recipe/recipe.h"
#include "shared/tokenizer/tokenizer.h"

namespace ringwright::worker {

// One sequence. `trained[t]` is 1 where token t counts as a target (its own prediction, at position t - 1, enters the loss).
struct Row {
  std::vector<int64_t> ids;
  std::vector<uint8_t> trained;
};

struct Dataset {
  std::vector<Row> rows;
  int64_t token_count = 0;        // of all rows
  int64_t dropped_row_count = 0;  // longer than the limit, or a text's last, incomplete window
  int64_t dropped_token_count = 0;
};

struct DatasetOptions {
  int64_t sequence_length_max = 1024;
  int64_t eos_token_id = -1;  // closes a document or an answer; -1: none
  int64_t vocab_size = 0;     // ids at or above are refused
};

// "text": each line is a document; documents are joined, each closed by the end token, and cut into full windows of
// sequence_length_max tokens, in which every token is trained on. With lines_are_rows each document stays a row of its own; longer ones are dropped
// and counted.
// "prompt_answer": JSON lines {prompt, answer}; only the answer and its end token are trained on; longer rows are dropped and counted.
// Throws Error: RW-DATA-001 file missing or unreadable, RW-DATA-002 a line is no JSON object or lacks a key (file:line), RW-DATA-003 chat messages
// (exit code 3), RW-DATA-004 no row is left, RW-DATA-005 an id is outside the model's vocabulary.
Dataset read_dataset(const recipe::DataSource& source, const std::filesystem::path& file, const tokenizer::Tokenizer& tokenizer,
                     const DatasetOptions& options);

// Row numbers in training order: each epoch is a permutation of all rows, drawn from (seed, epoch); the same on every machine.
class RowOrder {
 public:
  RowOrder(int64_t row_count, uint64_t seed, bool shuffle);
  int64_t next();
  int64_t epoch() const { return epoch_; }

 private:
  void start_epoch();

  std::vector<int64_t> order_;
  uint64_t seed_;
  bool shuffle_;
  int64_t epoch_ = 0;
  size_t position_ = 0;
};

}  // namespace ringwright::worker
