#include "daemon/worker/data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <system_error>

#include "shared/base/error.h"
#include "shared/base/files.h"
#include "shared/base/text.h"
#include "shared/base/text_lines.h"

namespace ringwright::worker {
namespace {

class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& file) : file_(file) {
    if (const std::string kind = files::kind_if_not_regular(file); !kind.empty())
      throw Error(
          {"RW-DATA-001", "the data is " + kind + ", not a file", file.string(), "a text file, or JSON lines", "correct data.train.data_path"});
    read([&] { lines_.emplace(file); });
  }

  bool next(std::string& line) {
    bool found = false;
    read([&] { found = lines_->next(line); });
    if (found && !text::is_utf8(line))
      throw Error(
          {"RW-DATA-007", "the line is not UTF-8 text", place(), "a text file in UTF-8", "save it as UTF-8, or name another file in data.train"});
    return found;
  }

  std::string place() const { return fmt::format("{}:{}", file_.string(), lines_->number()); }

 private:
  template <class Step>
  void read(const Step& step) const {
    try {
      step();
    } catch (const std::system_error& error) {
      throw Error({"RW-DATA-001", "the data file cannot be read: " + error.code().message(), file_.string(), "a text file, or JSON lines",
                   "correct data.train.data_path"});
    }
  }

  std::filesystem::path file_;
  std::optional<TextLines> lines_;
};

void check_ids(const std::vector<int64_t>& ids, const DatasetOptions& options, const LineReader& reader) {
  const auto largest = std::max_element(ids.begin(), ids.end());
  if (largest != ids.end() && *largest >= options.vocab_size)
    throw Error({"RW-DATA-005", fmt::format("the tokenizer gives id {}, the model's vocabulary has {} entries", *largest, options.vocab_size),
                 reader.place(), "a tokenizer made for this model", "set policy.tokenizer.name to the model's own tokenizer", ExitCode::refused});
}

void take_full_windows(std::vector<int64_t>& pending, int64_t window, Dataset& dataset) {
  size_t start = 0;
  for (; pending.size() - start >= static_cast<size_t>(window); start += static_cast<size_t>(window)) {
    const auto first = pending.begin() + static_cast<std::ptrdiff_t>(start);
    dataset.rows.push_back({{first, first + window}, std::vector<uint8_t>(static_cast<size_t>(window), 1)});
  }
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(start));
}

// A row that is too long, or has nothing to predict, is dropped and counted.
void add_row(Row row, const DatasetOptions& options, Dataset& dataset) {
  const auto length = static_cast<int64_t>(row.ids.size());
  if (length <= options.sequence_length_max && length >= 2) {
    dataset.rows.push_back(std::move(row));
    return;
  }
  ++dataset.dropped_row_count;
  dataset.dropped_token_count += length;
}

Dataset read_lines(LineReader& reader, const tokenizer::Tokenizer& tokenizer, const DatasetOptions& options) {
  Dataset dataset;
  std::string line;
  while (reader.next(line)) {
    if (line.empty()) continue;
    Row row{tokenizer.encode(line).ids, {}};
    check_ids(row.ids, options, reader);
    if (options.eos_token_id >= 0) row.ids.push_back(options.eos_token_id);
    row.trained.assign(row.ids.size(), 1);
    add_row(std::move(row), options, dataset);
  }
  return dataset;
}

Dataset read_windows(LineReader& reader, const tokenizer::Tokenizer& tokenizer, const DatasetOptions& options) {
  Dataset dataset;
  std::vector<int64_t> pending;
  std::string line;
  while (reader.next(line)) {
    if (line.empty()) continue;
    const std::vector<int64_t> ids = tokenizer.encode(line).ids;
    check_ids(ids, options, reader);
    pending.insert(pending.end(), ids.begin(), ids.end());
    if (options.eos_token_id >= 0) pending.push_back(options.eos_token_id);
    take_full_windows(pending, options.sequence_length_max, dataset);
  }
  dataset.dropped_row_count = pending.empty() ? 0 : 1;
  dataset.dropped_token_count = static_cast<int64_t>(pending.size());
  return dataset;
}

std::string text_field(const nlohmann::json& object, const std::string& key, const LineReader& reader) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string())
    throw Error({"RW-DATA-002", fmt::format("the line has no text under \"{}\"", key), reader.place(), "{\"prompt\": text, \"answer\": text}",
                 "name the keys with data.train.input_key and data.train.output_key"});
  return found->get<std::string>();
}

Row prompt_answer_row(const std::string& line, const recipe::DataSource& source, const tokenizer::Tokenizer& tokenizer, const DatasetOptions& options,
                      const LineReader& reader) {
  const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object())
    throw Error({"RW-DATA-002", "the line is no JSON object", reader.place(), "one JSON object a line", "remove or repair the line"});
  if (object.contains("messages"))
    throw Error({"RW-DATA-003", "chat messages need a chat template, which this version does not apply", reader.place(),
                 "prompt and answer as plain text", "write each row as {\"prompt\": text, \"answer\": text}", ExitCode::refused});
  Row row;
  row.ids = tokenizer.encode(text_field(object, source.prompt_key, reader)).ids;
  const size_t prompt_length = row.ids.size();
  const std::vector<int64_t> answer = tokenizer.encode(text_field(object, source.answer_key, reader), false).ids;
  row.ids.insert(row.ids.end(), answer.begin(), answer.end());
  if (options.eos_token_id >= 0) row.ids.push_back(options.eos_token_id);
  check_ids(row.ids, options, reader);
  row.trained.assign(row.ids.size(), 1);
  std::fill_n(row.trained.begin(), prompt_length, uint8_t{0});
  return row;
}

Dataset read_prompt_answer(LineReader& reader, const recipe::DataSource& source, const tokenizer::Tokenizer& tokenizer,
                           const DatasetOptions& options) {
  Dataset dataset;
  std::string line;
  while (reader.next(line)) {
    if (line.empty()) continue;
    add_row(prompt_answer_row(line, source, tokenizer, options, reader), options, dataset);
  }
  return dataset;
}

uint64_t mix(uint64_t state) {  // SplitMix64's finaliser
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ULL;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebULL;
  return state ^ (state >> 31);
}

}  // namespace

Dataset read_dataset(const recipe::DataSource& source, const std::filesystem::path& file, const tokenizer::Tokenizer& tokenizer,
                     const DatasetOptions& options) {
  LineReader reader(file);
  const bool windows = source.format == "text" && !source.lines_are_rows;
  Dataset dataset = windows                   ? read_windows(reader, tokenizer, options)
                    : source.format == "text" ? read_lines(reader, tokenizer, options)
                                              : read_prompt_answer(reader, source, tokenizer, options);
  if (dataset.rows.empty() && windows)
    throw Error({"RW-DATA-004", fmt::format("the text has {} tokens, one row takes {}", dataset.dropped_token_count, options.sequence_length_max),
                 file.string(), "at least one full row", "lower policy.max_total_sequence_length, or give more text"});
  if (dataset.rows.empty())
    throw Error(
        {"RW-DATA-004",
         fmt::format("no training row is left: {} were too short or longer than {} tokens", dataset.dropped_row_count, options.sequence_length_max),
         file.string(), "at least one row that fits", "change policy.max_total_sequence_length, or give more text"});
  for (const Row& row : dataset.rows) dataset.token_count += static_cast<int64_t>(row.ids.size());
  return dataset;
}

RowOrder::RowOrder(int64_t row_count, uint64_t seed, bool shuffle) : order_(static_cast<size_t>(row_count)), seed_(seed), shuffle_(shuffle) {
  start_epoch();
}

void RowOrder::start_epoch() {
  std::iota(order_.begin(), order_.end(), int64_t{0});
  position_ = 0;
  if (!shuffle_) return;
  uint64_t counter = mix(seed_ + 0x9e3779b97f4a7c15ULL * static_cast<uint64_t>(epoch_ + 1));
  for (size_t i = order_.size(); i > 1; --i) {
    counter += 0x9e3779b97f4a7c15ULL;
    std::swap(order_[i - 1], order_[mix(counter) % i]);  // the modulus' bias is below row count / 2^64
  }
}

int64_t RowOrder::next() {
  if (position_ == order_.size()) {
    ++epoch_;
    start_epoch();
  }
  return order_[position_++];
}

}  // namespace ringwright::worker
