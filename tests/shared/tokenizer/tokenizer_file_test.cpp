// Files that are damaged, or that use what isn't built: one error that names the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "shared/base/error.h"
#include "tests/shared/tokenizer/small_tokenizer.h"
#include "tests/support/error_of.h"

namespace ringwright::tokenizer {
namespace {

using test::error_of;
using ::testing::HasSubstr;

struct Case {
  const char* name;
  const char* path;   // JSON pointer
  const char* value;  // what is put there
  const char* code;
  const char* where;  // a part of the error's place
  const char* what;   // a part of its sentence
};

class DamagedFile : public ::testing::TestWithParam<Case> {};

TEST_P(DamagedFile, IsRefusedWithItsPlace) {
  const Case& given = GetParam();
  nlohmann::json json = small_tokenizer({{"a", "b"}});
  json[nlohmann::json::json_pointer(given.path)] = nlohmann::json::parse(given.value);
  const ErrorParts parts = error_of([&] { load(json); });
  EXPECT_EQ(parts.code, given.code) << describe(parts);
  EXPECT_THAT(parts.where, HasSubstr("small.json"));
  EXPECT_THAT(parts.where, HasSubstr(given.where));
  EXPECT_THAT(parts.what, HasSubstr(given.what));
}

constexpr Case kCases[] = {
    {"normaliser", "/normalizer", R"({"type": "NFC"})", "RW-TOK-003", "normalizer", "NFC"},
    {"model", "/model/type", R"("Unigram")", "RW-TOK-003", "model.type", "Unigram"},
    {"dropout", "/model/dropout", "0.1", "RW-TOK-003", "model.dropout", "dropout"},
    {"prefix", "/model/continuing_subword_prefix", R"("##")", "RW-TOK-003", "model.continuing_subword_prefix", "continuing_subword_prefix"},
    {"truncation", "/truncation", R"({"max_length": 8})", "RW-TOK-003", "truncation", "truncation"},
    {"pre_tokenizer", "/pre_tokenizer", R"({"type": "Metaspace"})", "RW-TOK-003", "pre_tokenizer.type", "Metaspace"},
    {"no_pre_tokenizer", "/pre_tokenizer", "null", "RW-TOK-003", "pre_tokenizer", "no pre-tokenizer"},
    {"after_byte_level", "/pre_tokenizer", R"({"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "ByteLevel"}]})", "RW-TOK-003",
     "pre_tokenizer.pretokenizers[1]", "after ByteLevel"},
    {"not_byte_level", "/pre_tokenizer", R"({"type": "Split", "pattern": {"String": " "}, "behavior": "Isolated"})", "RW-TOK-003", "pre_tokenizer",
     "not byte-level"},
    {"behaviour", "/pre_tokenizer", R"({"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext"})", "RW-TOK-003", "behavior",
     "MergedWithNext"},
    {"pattern", "/pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "\\bword"}, "behavior": "Isolated"})", "RW-TOK-003", "pattern", "\\b"},
    {"bad_pattern", "/pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "(a"}, "behavior": "Isolated"})", "RW-TOK-002", "pre_tokenizer",
     "regular expression"},
    {"post_processor", "/post_processor", R"({"type": "RobertaProcessing"})", "RW-TOK-003", "post_processor.type", "RobertaProcessing"},
    {"decoder", "/decoder", R"({"type": "WordPiece"})", "RW-TOK-003", "decoder.type", "WordPiece"},
    {"vocab_type", "/model/vocab", "[1]", "RW-TOK-002", "model.vocab", "model.vocab"},
    {"vocab_empty", "/model/vocab", "{}", "RW-TOK-002", "model.vocab", "model.vocab"},
    {"id_type", "/model/vocab/ab", R"("7")", "RW-TOK-002", "model.vocab.ab", "model.vocab.ab"},
    {"id_negative", "/model/vocab/ab", "-1", "RW-TOK-002", "model.vocab.ab", "-1"},
    {"id_huge", "/model/vocab/ab", "18446744073709551615", "RW-TOK-002", "model.vocab.ab", "18446744073709551615"},
    {"id_twice", "/model/vocab/ab", "98", "RW-TOK-002", "model.vocab", "same id 98"},
    {"merge_unknown", "/model/merges/0", R"("a xyz")", "RW-TOK-002", "model.merges[0]", "xyz"},
    {"merge_shape", "/model/merges/0", R"("a b c")", "RW-TOK-002", "model.merges[0]", "a b c"},
    {"merge_count", "/model/merges/0", R"(["a"])", "RW-TOK-002", "model.merges[0]", "model.merges[0]"},
    {"flag", "/model/ignore_merges", R"("yes")", "RW-TOK-002", "model.ignore_merges", "yes"},
    {"added_empty", "/added_tokens", R"([{"id": 300, "content": ""}])", "RW-TOK-002", "added_tokens[0]", "empty"},
    {"added_other_id", "/added_tokens", R"([{"id": 300, "content": "ab"}])", "RW-TOK-002", "added_tokens[0]", "256"},
    {"added_taken_id", "/added_tokens", R"([{"id": 98, "content": "<x>"}])", "RW-TOK-002", "added_tokens[0]", "98"},
    {"template", "/post_processor",
     R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}], "pair": [], "special_tokens": {"<s>": {"ids": [999]}}})",
     "RW-TOK-002", "post_processor", "999"},
};

INSTANTIATE_TEST_SUITE_P(TokenizerFile, DamagedFile, ::testing::ValuesIn(kCases), [](const auto& info) { return std::string(info.param.name); });

TEST(TokenizerFile, TextThatIsNoJsonNamesLineAndColumn) {
  const ErrorParts parts = error_of([] { Tokenizer::from_text("{\n  \"model\": oops\n}", "cut.json"); });
  EXPECT_EQ(parts.code, "RW-TOK-002");
  EXPECT_THAT(parts.where, HasSubstr("cut.json:2:"));
  EXPECT_EQ(error_of([] { Tokenizer::from_text("[]", "list.json"); }).code, "RW-TOK-002");
}

TEST(TokenizerFile, AMissingFileNamesThePath) {
  const ErrorParts parts = error_of([] { Tokenizer::from_file("no/such/tokenizer.json"); });
  EXPECT_EQ(parts.code, "RW-TOK-001");
  EXPECT_EQ(parts.where, "no/such/tokenizer.json");
  EXPECT_EQ(error_of([] { Tokenizer::from_file("/"); }).code, "RW-TOK-001");
  EXPECT_THAT(error_of([] { Tokenizer::from_file("/dev/zero"); }).what, testing::HasSubstr("it is a device"));
}

TEST(TokenizerFile, DeepNestingIsRefused) {
  nlohmann::json step = {{"type", "ByteLevel"}};
  for (int i = 0; i < 100; ++i) step = {{"type", "Sequence"}, {"pretokenizers", {step}}};
  nlohmann::json json = small_tokenizer();
  json["pre_tokenizer"] = step;
  EXPECT_EQ(error_of([&] { load(json); }).code, "RW-TOK-003");
}

TEST(TokenizerFile, TheDemoTokenizerFitsItsModel) {
  const std::filesystem::path folder = std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / "assets/models/demo";
  const Tokenizer tokenizer = Tokenizer::from_file(folder / "tokenizer.json");
  EXPECT_EQ(tokenizer.vocabulary_size(), 2048);
  EXPECT_EQ(tokenizer.token_to_id("<|pad|>"), 0);
  EXPECT_EQ(tokenizer.token_to_id("<|begin|>"), 1);
  EXPECT_EQ(tokenizer.token_to_id("<|end|>"), 2);
  const Encoding encoding = tokenizer.encode("In the beginning God created the heaven and the earth.");
  EXPECT_EQ(encoding.ids.front(), 1);
  EXPECT_LT(encoding.ids.size(), 20u);
  EXPECT_EQ(tokenizer.decode(encoding.ids, true), "In the beginning God created the heaven and the earth.");
}

}  // namespace
}  // namespace ringwright::tokenizer
