#include "shared/tokenizer/tokenizer_file.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "shared/tokenizer/byte_alphabet.h"
#include "shared/tokenizer/json_field.h"

namespace ringwright::tokenizer {
namespace {

// Sequences inside sequences; real files have one level.
constexpr int kNestingMax = 8;

// GPT-2's pattern, which ByteLevel has built in.
constexpr std::string_view kByteLevelPattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

nlohmann::json parse(std::string_view text, const std::string& file_name) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view before = text.substr(0, std::min(error.byte > 0 ? error.byte - 1 : 0, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t last_break = before.rfind('\n');
    const size_t column = before.size() - (last_break == std::string_view::npos ? 0 : last_break + 1) + 1;
    throw Error({.code = "RW-TOK-002",
                 .what = "the tokenizer file is not JSON",
                 .where = fmt::format("{}:{}:{}", file_name, line, column),
                 .expected = "a tokenizer.json of the tokenizers library",
                 .action = "take tokenizer.json from its source again; it may have been cut off",
                 .exit_code = ExitCode::usage});
  }
}

void refuse_unless_empty(const Field& field, const std::string& feature) {
  const bool empty = field.is_null() || (field.value().is_string() && field.text().empty()) || field.value() == false || field.value() == 0;
  if (!empty) field.unsupported(feature);
}

// ---- model ----

void read_vocabulary(const Field& vocab, TokenizerParts& parts) {
  if (!vocab.value().is_object() || vocab.value().empty()) vocab.wrong_type("an object of tokens and their ids");
  std::unordered_map<int64_t, std::string> tokens;
  for (const auto& [token, id] : vocab.value().items()) {
    const int64_t number = vocab[token].integer(0, kTokenIdMax);
    const auto [other, fresh] = tokens.emplace(number, token);
    if (!fresh) vocab.damaged(fmt::format("the tokens {} and {} have the same id {}", other->second, token, number), "one id for each token");
    parts.vocabulary.emplace(token, static_cast<int32_t>(number));
  }
}

// "a b", or ["a", "b"].
std::pair<std::string, std::string> read_pair(const Field& merge) {
  if (merge.value().is_array()) {
    if (merge.array_size() != 2) merge.wrong_type("two tokens");
    return {merge.at(0).text(), merge.at(1).text()};
  }
  const std::string& text = merge.text();
  const size_t space = text.find(' ');
  if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) merge.wrong_type("two tokens with one space between");
  return {text.substr(0, space), text.substr(space + 1)};
}

int32_t known_token(const Field& merge, const TokenizerParts& parts, const std::string& token) {
  const auto found = parts.vocabulary.find(token);
  if (found == parts.vocabulary.end())
    merge.damaged(fmt::format("{} names the token {}, which the vocabulary lacks", merge.key(), token), "tokens of model.vocab");
  return found->second;
}

void read_merges(const Field& merges, TokenizerParts& parts) {
  const size_t count = merges.array_size();
  parts.bpe.reserve_merges(count);
  for (size_t i = 0; i < count; ++i) {
    const Field merge = merges.at(i);
    const auto [left, right] = read_pair(merge);
    parts.bpe.add_merge(known_token(merge, parts, left), known_token(merge, parts, right), static_cast<uint32_t>(i),
                        known_token(merge, parts, left + right));
  }
}

void read_byte_tokens(const Field& model, TokenizerParts& parts) {
  bool complete = true;
  for (int byte = 0; byte < 256; ++byte) {
    const auto found = parts.vocabulary.find(symbol_of_byte(static_cast<uint8_t>(byte)));
    if (found == parts.vocabulary.end()) {
      complete = false;
    } else {
      parts.bpe.set_byte_token(static_cast<uint8_t>(byte), found->second);
    }
  }
  // With every byte in the vocabulary nothing is ever unknown, and these three have no effect.
  if (complete) return;
  refuse_unless_empty(model["unk_token"], "an unknown token beside an incomplete byte alphabet");
  refuse_unless_empty(model["byte_fallback"], "byte fallback");
}

void read_model(const Field& model, TokenizerParts& parts) {
  const std::string type = model["type"].is_null() ? "BPE" : model["type"].text();  // old files leave it out
  if (type != "BPE") model["type"].unsupported("a model of the type " + type);
  refuse_unless_empty(model["dropout"], "dropout");
  refuse_unless_empty(model["continuing_subword_prefix"], "a continuing_subword_prefix");
  refuse_unless_empty(model["end_of_word_suffix"], "an end_of_word_suffix");
  read_vocabulary(model["vocab"], parts);
  read_merges(model["merges"], parts);
  read_byte_tokens(model, parts);
  if (!model["ignore_merges"].flag(false)) return;
  for (const auto& [token, id] : parts.vocabulary) {
    if (auto bytes = bytes_of_symbols(token)) parts.bpe.add_whole_piece(std::move(*bytes), id);
  }
}

// ---- added tokens ----

void read_added(const Field& list, TokenizerParts& parts) {
  if (list.is_null()) return;
  std::unordered_map<int32_t, std::string> tokens;
  for (const auto& [token, id] : parts.vocabulary) tokens.emplace(id, token);
  for (size_t i = 0; i < list.array_size(); ++i) {
    const Field item = list.at(i);
    AddedToken token;
    token.id = static_cast<int32_t>(item["id"].integer(0, kTokenIdMax));
    token.content = item["content"].text();
    token.single_word = item["single_word"].flag(false);
    token.lstrip = item["lstrip"].flag(false);
    token.rstrip = item["rstrip"].flag(false);
    token.special = item["special"].flag(false);
    token.normalized = item["normalized"].flag(!token.special);
    if (token.content.empty()) item.damaged("an added token is empty", "a token of at least one character");
    const auto known = parts.vocabulary.find(token.content);
    if (known != parts.vocabulary.end() && known->second != token.id) {
      item.damaged(fmt::format("the added token {} has the id {}, and in the vocabulary {}", token.content, token.id, known->second),
                   "one id for each token");
    }
    const auto [other, fresh] = tokens.emplace(token.id, token.content);
    if (!fresh && other->second != token.content) {
      item.damaged(fmt::format("the added token {} has the id {}, which belongs to {}", token.content, token.id, other->second),
                   "one id for each token");
    }
    parts.added.push_back(std::move(token));
  }
}

// ---- pre-tokenizer ----

Pattern compile(const Field& field, const std::function<Pattern()>& make) {
  try {
    return make();
  } catch (const UnsupportedPattern& error) {
    field.unsupported(error.what());
  } catch (const InvalidPattern& error) {
    field.damaged(fmt::format("the pattern is no regular expression: {}", error.what()), "a pattern that the tokenizers library accepts");
  }
}

SplitStep read_split(const Field& step) {
  const Field pattern = step["pattern"];
  const Field regex = pattern["Regex"], literal = pattern["String"];
  SplitStep result;
  result.pattern = compile(pattern, [&] { return regex.is_null() ? Pattern::literal(literal.text()) : Pattern::regex(regex.text()); });
  const std::string behavior = step["behavior"].text();
  const bool invert = step["invert"].flag(false);
  if (behavior == "Removed") {
    result.keep_matches = invert;
    result.keep_gaps = !invert;
  } else if (behavior != "Isolated") {
    step["behavior"].unsupported("the split behaviour " + behavior);
  }
  return result;
}

void read_pre_tokenizer(const Field& step, int depth, bool& has_byte_level, TokenizerParts& parts) {
  if (step.is_null()) step.unsupported("no pre-tokenizer at all");
  const std::string& type = step["type"].text();
  if (has_byte_level) step.unsupported("the pre-tokenizer " + type + " after ByteLevel");
  if (type == "Sequence") {
    if (depth >= kNestingMax) step.unsupported("sequences nested too deeply");
    const Field list = step["pretokenizers"];
    for (size_t i = 0; i < list.array_size(); ++i) read_pre_tokenizer(list.at(i), depth + 1, has_byte_level, parts);
  } else if (type == "Split") {
    parts.split_steps.push_back(read_split(step));
  } else if (type == "ByteLevel") {
    SplitStep result;
    if (step["use_regex"].flag(true)) result.pattern = compile(step, [] { return Pattern::regex(kByteLevelPattern); });
    result.add_prefix_space = step["add_prefix_space"].flag(true);
    parts.split_steps.push_back(std::move(result));
    has_byte_level = true;
  } else {
    step["type"].unsupported("the pre-tokenizer " + type);
  }
}

// ---- post-processor ----

std::vector<TemplateItem> read_template(const Field& items, const Field& specials, int texts) {
  std::vector<TemplateItem> result;
  for (size_t i = 0; i < items.array_size(); ++i) {
    const Field item = items.at(i);
    const Field special = item["SpecialToken"], sequence = item["Sequence"];
    TemplateItem made;
    if (!special.is_null()) {
      const Field ids = specials[special["id"].text()]["ids"];
      for (size_t k = 0; k < ids.array_size(); ++k) made.special.push_back(static_cast<int32_t>(ids.at(k).integer(0, kTokenIdMax)));
      made.type_id = special["type_id"].integer(0, INT32_MAX);
    } else {
      const std::string& name = sequence["id"].text();
      if (name != "A" && !(name == "B" && texts == 2)) sequence["id"].wrong_type(texts == 2 ? "A or B" : "A");
      made.sequence = name == "A" ? 0 : 1;
      made.type_id = sequence["type_id"].integer(0, INT32_MAX);
    }
    result.push_back(std::move(made));
  }
  return result;
}

void read_post_processor(const Field& step, int depth, TokenizerParts& parts) {
  if (step.is_null()) return;
  const std::string& type = step["type"].text();
  PostStep result;
  if (type == "Sequence") {
    if (depth >= kNestingMax) step.unsupported("sequences nested too deeply");
    const Field list = step["processors"];
    for (size_t i = 0; i < list.array_size(); ++i) read_post_processor(list.at(i), depth + 1, parts);
  } else if (type == "ByteLevel") {
    result.trims = true;
    result.trim_keeps_prefix = step["add_prefix_space"].flag(true);
    if (step["trim_offsets"].flag(true)) parts.post_steps.push_back(std::move(result));
  } else if (type == "TemplateProcessing") {
    const bool again = std::any_of(parts.post_steps.begin(), parts.post_steps.end(), [](const PostStep& known) { return !known.trims; });
    if (again) step.unsupported("two templates in a row");
    result.single = read_template(step["single"], step["special_tokens"], 1);
    result.pair = read_template(step["pair"], step["special_tokens"], 2);
    parts.post_steps.push_back(std::move(result));
  } else {
    step["type"].unsupported("the post-processor " + type);
  }
}

// A template may only put in tokens that exist.
void check_template_tokens(const Field& post_processor, const TokenizerParts& parts) {
  std::unordered_set<int32_t> known;
  for (const auto& [token, id] : parts.vocabulary) known.insert(id);
  for (const AddedToken& token : parts.added) known.insert(token.id);
  for (const PostStep& step : parts.post_steps) {
    for (const std::vector<TemplateItem>* items : {&step.single, &step.pair}) {
      for (const TemplateItem& item : *items) {
        for (int32_t id : item.special) {
          if (!known.contains(id)) post_processor.damaged(fmt::format("the template puts in the id {}, which no token has", id), "ids of tokens");
        }
      }
    }
  }
}

// ---- decoder ----

void read_decoder(const Field& decoder, TokenizerParts& parts) {
  parts.decodes_bytes = !decoder.is_null();
  if (decoder.is_null()) return;
  const std::string& type = decoder["type"].text();
  if (type == "ByteLevel") return;
  if (type == "Sequence" && decoder["decoders"].array_size() == 1 && decoder["decoders"].at(0)["type"].text() == "ByteLevel") return;
  decoder["type"].unsupported("the decoder " + type);
}

}  // namespace

TokenizerParts read_tokenizer(std::string_view text, const std::string& file_name) {
  const nlohmann::json json = parse(text, file_name);
  const Field root(json, file_name, "");
  if (!json.is_object()) Field(json, file_name, "the file").wrong_type("an object");
  TokenizerParts parts;
  refuse_unless_empty(root["truncation"], "truncation inside the file");
  refuse_unless_empty(root["padding"], "padding inside the file");
  if (!root["normalizer"].is_null()) root["normalizer"].unsupported("the normaliser " + root["normalizer"]["type"].text());
  read_model(root["model"], parts);
  read_added(root["added_tokens"], parts);
  bool has_byte_level = false;
  read_pre_tokenizer(root["pre_tokenizer"], 0, has_byte_level, parts);
  if (!has_byte_level) root["pre_tokenizer"].unsupported("a vocabulary that is not byte-level");
  read_post_processor(root["post_processor"], 0, parts);
  check_template_tokens(root["post_processor"], parts);
  read_decoder(root["decoder"], parts);
  return parts;
}

}  // namespace ringwright::tokenizer
