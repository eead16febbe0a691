// Level 2: one batch, as the worker will read it (daemon/worker/data/dataset.h).
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "shared/base/text_lines.h"
#include "shared/support_matrix/facts.h"

namespace ringwright::support_matrix {
namespace {

constexpr int64_t kRowsMax = 64;  // enough to see what the data is like; the worker reads all of them

// Tokens of a row, its end token counted; -1 where the line is no such row.
int64_t row_tokens(const std::string& line, const recipe::DataSource& source, const tokenizer::Tokenizer& tokenizer) {
  const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
  if (!row.is_object()) return -1;
  int64_t tokens = 1;
  for (const std::string* key : {&source.prompt_key, &source.answer_key}) {
    const auto text = row.find(*key);
    if (text == row.end() || !text->is_string()) return -1;
    tokens += static_cast<int64_t>(tokenizer.encode(text->get_ref<const std::string&>(), key == &source.prompt_key).ids.size());
  }
  return tokens;
}

}  // namespace

void read_batch(const recipe::SftConfig& config, const tokenizer::Tokenizer& tokenizer, Facts& facts) {
  if (config.train.format != "prompt_answer" || !facts.data_file || !facts.not_a_file.empty() || facts.data_is_chat) return;
  facts.row_limit = recipe::longest_row(config);
  const bool by_input = config.max_input_length > 0 && config.max_input_length < config.max_total_sequence_length;
  facts.row_limit_key = by_input ? "data.max_input_seq_length" : "policy.max_total_sequence_length";
  TextLines lines(*facts.data_file);
  const int64_t wanted = std::min(config.train_global_batch_size, kRowsMax);
  for (std::string line; facts.batch_rows < wanted && lines.next(line);) {
    if (line.empty()) continue;
    const int64_t tokens = row_tokens(line, config.train, tokenizer);
    if (tokens < 0) {
      facts.batch_bad_line = fmt::format("{}:{}", facts.data_file->string(), lines.number());
      return;
    }
    ++facts.batch_rows;
    facts.batch_rows_too_long += tokens > facts.row_limit ? 1 : 0;
  }
}

}  // namespace ringwright::support_matrix
