// Every tokenizer of goldens/tokenizers: ids, offsets and decoding equal those of the tokenizers library; and the character classes of its patterns.
#include <map>

#include "shared/tokenizer/pattern.h"
#include "shared/tokenizer/tokenizer.h"
#include "shared/tokenizer/utf8.h"
#include "tests/golden/golden_cases.h"
#include "tests/golden/text/base64.h"

namespace {

using nlohmann::json;
using namespace ringwright::golden;
using ringwright::tokenizer::Encoding;
using ringwright::tokenizer::Tokenizer;

std::vector<int64_t> ids_of(const json& list) { return list.get<std::vector<int64_t>>(); }

// Text in full: JSON texts can't hold every string, so those with unusual characters come in base64 too.
std::string text_of(const json& golden) {
  return golden.contains("text_utf8_base64") ? decode_base64(golden.at("text_utf8_base64").get<std::string>()) : golden.at("text").get<std::string>();
}

void check_case(const Tokenizer& tokenizer, const json& golden) {
  const std::string text = text_of(golden);
  const Encoding encoding = tokenizer.encode(text);
  expect_equal("ids", encoding.ids, golden.at("ids"));
  expect_equal("offsets", encoding.offsets, golden.at("offsets"));
  expect_equal("ids without template", tokenizer.encode(text, false).ids,
               golden.contains("ids_without_template") ? golden.at("ids_without_template") : golden.at("ids"));
  expect_equal("decoded", tokenizer.decode(encoding.ids), golden.at("decoded"));
  expect_equal("decoded without special tokens", tokenizer.decode(encoding.ids, true), golden.at("decoded_skip_special"));
}

void check_invalid(const Tokenizer& tokenizer, const json& golden) {
  const std::string bytes = decode_base64(golden.at("bytes_base64").get<std::string>());
  expect_equal("replaced", ringwright::tokenizer::utf8::replace_invalid(bytes), golden.at("replaced_text"));
  const Encoding encoding = tokenizer.encode(bytes);
  expect_equal("ids", encoding.ids, golden.at("ids"));
  expect_equal("decoded", tokenizer.decode(encoding.ids), golden.at("decoded"));
}

void check_decode(const Tokenizer& tokenizer, const json& golden) {
  expect_equal("decoded", tokenizer.decode(ids_of(golden.at("ids"))), golden.at("decoded"));
}

void check_stream(const Tokenizer& tokenizer, const json& golden) {
  ringwright::tokenizer::StreamDecoder stream(tokenizer);
  json chunks = json::array();
  for (const int64_t id : ids_of(golden.at("ids"))) {
    const std::optional<std::string> chunk = stream.step(id);
    chunks.push_back(chunk ? json(*chunk) : json(nullptr));
  }
  expect_equal("chunks", chunks, golden.at("chunks"));
}

void check_pair(const Tokenizer& tokenizer, const json& golden) {
  const auto encoding = tokenizer.encode_pair(golden.at("a").get<std::string>(), golden.at("b").get<std::string>());
  expect_equal("ids", encoding.ids, golden.at("ids"));
  expect_equal("type ids", encoding.type_ids, golden.at("type_ids"));
}

struct Section {
  const char* name;
  void (*check)(const Tokenizer&, const json&);
};

constexpr Section kSections[] = {{"cases", check_case},
                                 {"invalid_utf8_policy_cases", check_invalid},
                                 {"decode_cases", check_decode},
                                 {"stream_decode_cases", check_stream},
                                 {"pair_case", check_pair}};

bool is_description(const std::string& key) {
  static const std::vector<std::string> known = {"tokenizer", "origin", "made_with", "vocab_size_without_added", "offset_unit"};
  return std::find(known.begin(), known.end(), key) != known.end();
}

void run_section(Report& report, const Tokenizer& tokenizer, const std::string& name, const std::string& key, const json& value) {
  if (key == "vocab_size_with_added") return run_case(report, key, name, [&] { expect_equal(key, tokenizer.vocabulary_size(), value); });
  const auto known = std::find_if(std::begin(kSections), std::end(kSections), [&](const Section& section) { return key == section.name; });
  if (known == std::end(kSections)) return report.check(key, false, name, "a kind that this program does not know");
  size_t index = 0;
  for (const json& golden : value.is_array() ? value : json::array({value})) {
    run_case(report, key, name + "/" + key + "[" + std::to_string(index++) + "]", [&] { known->check(tokenizer, golden); });
  }
}

void run_tokenizer(Report& report, const std::filesystem::path& folder) {
  const std::string name = folder.filename();
  run_case(report, "tokenizer.json", name, [&] {
    const Tokenizer tokenizer = Tokenizer::from_file(folder / "tokenizer.json");
    const json golden = read_json(folder / "golden.json");
    for (const auto& [key, value] : golden.items()) {
      if (!is_description(key)) run_section(report, tokenizer, name, key, value);
    }
  });
}

// Every code point against every class, as the patterns see it.
void check_class(const std::string& name, const json& ranges) {
  const std::string text = name == "s" ? "\\s" : name.starts_with("fold_") ? "(?i:" + name.substr(5) + ")" : "\\p{" + name + "}";
  const auto pattern = ringwright::tokenizer::Pattern::regex(text);
  ringwright::tokenizer::MatchState state;
  std::vector<std::pair<char32_t, char32_t>> found;
  for (char32_t character = 0; character <= 0x10FFFF; ++character) {
    if (character >= 0xD800 && character <= 0xDFFF) continue;
    std::string bytes;
    ringwright::tokenizer::utf8::append(bytes, character);
    ringwright::tokenizer::Pattern::Match match{};
    if (!pattern.find(bytes, 0, state, match)) continue;
    if (!found.empty() && found.back().second + 1 == character) {
      found.back().second = character;
    } else {
      found.emplace_back(character, character);
    }
  }
  expect_equal(text, found, ranges);
}

void run_file(Report& report, const std::filesystem::path& file) {
  const std::string name = file.filename();
  if (name != "unicode_classes.json") return report.check("file", false, name, "a kind that this program does not know");
  const json classes = read_json(file);
  for (const auto& [key, ranges] : classes.at("classes").items())
    run_case(report, "unicode class", key, [&key, &ranges] { check_class(key, ranges); });
}

}  // namespace

int main() {
  Report report;
  for (const auto& entry : golden_entries("tokenizers")) {
    if (std::filesystem::is_directory(entry)) {
      run_tokenizer(report, entry);
    } else {
      run_file(report, entry);
    }
  }
  const std::filesystem::path chat = goldens_directory() / "chat";
  if (std::filesystem::exists(chat)) report.check("chat", false, chat.filename(), "a kind that this program does not know");
  return report.finish();
}
