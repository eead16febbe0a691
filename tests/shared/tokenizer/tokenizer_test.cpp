#include "shared/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <thread>

#include "shared/base/error.h"
#include "shared/tokenizer/utf8.h"
#include "tests/shared/tokenizer/small_tokenizer.h"

namespace ringwright::tokenizer {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using Offsets = std::vector<std::pair<int64_t, int64_t>>;

// T24: a character that is split into several tokens; byte-level, no merges, no prefix space.
TEST(Tokenizer, T24OffsetsOfSplitCharacters) {
  const Tokenizer tokenizer = load(small_tokenizer());
  const std::string text = "i \xE2\xAD\xA2 j";
  const Encoding encoding = tokenizer.encode(text);
  EXPECT_EQ(encoding.offsets, (Offsets{{0, 1}, {1, 2}, {2, 3}, {2, 3}, {2, 3}, {3, 4}, {4, 5}}));
  EXPECT_EQ(encoding.ids.size(), 7u);
  EXPECT_EQ(tokenizer.decode(encoding.ids), text);
}

TEST(Tokenizer, MergesByRankThenFromTheLeft) {
  const Tokenizer tokenizer = load(small_tokenizer({{"b", "c"}, {"a", "b"}, {"a", "a"}}));
  EXPECT_THAT(tokenizer.encode("abc").ids, ElementsAre('a', 256));
  EXPECT_THAT(tokenizer.encode("aaa").ids, ElementsAre(258, 'a'));
}

TEST(Tokenizer, IgnoreMergesTakesAWholePiece) {
  nlohmann::json json = small_tokenizer({{"b", "c"}});
  json["model"]["vocab"]["abc"] = 300;
  EXPECT_THAT(load(json).encode("abc").ids, ElementsAre('a', 256));
  json["model"]["ignore_merges"] = true;
  EXPECT_THAT(load(json).encode("abc").ids, ElementsAre(300));
}

TEST(Tokenizer, MergesMayBePairsOfTokens) {
  nlohmann::json json = small_tokenizer({{"b", "c"}});
  json["model"]["merges"] = nlohmann::json::parse(R"([["b", "c"]])");
  EXPECT_THAT(load(json).encode("bc").ids, ElementsAre(256));
}

TEST(Tokenizer, PrefixSpaceBelongsToTheFirstCharacter) {
  nlohmann::json json = small_tokenizer({{"\u0120", "a"}});
  json["pre_tokenizer"]["add_prefix_space"] = true;
  const Tokenizer tokenizer = load(json);
  const Encoding encoding = tokenizer.encode("ab");
  EXPECT_THAT(encoding.ids, ElementsAre(256, 'b'));
  EXPECT_EQ(encoding.offsets, (Offsets{{0, 1}, {1, 2}}));
  EXPECT_THAT(tokenizer.encode(" ab").ids, ElementsAre(256, 'b'));
}

TEST(Tokenizer, TrimmedOffsetsLeaveOutSpaces) {
  nlohmann::json json = small_tokenizer({{"\u0120", "a"}});
  json["post_processor"] = {{"type", "ByteLevel"}, {"trim_offsets", true}, {"add_prefix_space", false}};
  EXPECT_EQ(load(json).encode(" a a").offsets, (Offsets{{1, 2}, {3, 4}}));
  json["post_processor"]["add_prefix_space"] = true;  // the first space is the one that was put there
  EXPECT_EQ(load(json).encode(" a a").offsets, (Offsets{{0, 2}, {3, 4}}));
  EXPECT_EQ(load(json).encode("  a").offsets, (Offsets{{0, 0}, {2, 3}}));
  json["post_processor"]["trim_offsets"] = false;
  EXPECT_EQ(load(json).encode(" a a").offsets, (Offsets{{0, 2}, {2, 4}}));
}

TEST(Tokenizer, TemplatesPutInSpecialTokens) {
  nlohmann::json json = small_tokenizer();
  json["added_tokens"] = {added_token(256, "<s>")};
  const nlohmann::json special = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  const auto sequence = [](const char* id, int type) { return nlohmann::json{{"Sequence", {{"id", id}, {"type_id", type}}}}; };
  json["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single", {special, sequence("A", 0), special}},
                            {"pair", {special, sequence("A", 0), sequence("B", 1)}},
                            {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {256}}, {"tokens", {"<s>"}}}}}}};
  const Tokenizer tokenizer = load(json);
  EXPECT_THAT(tokenizer.encode("x").ids, ElementsAre(256, 'x', 256));
  EXPECT_THAT(tokenizer.encode("x").offsets, ElementsAre(Pair(0, 0), Pair(0, 1), Pair(0, 0)));
  EXPECT_THAT(tokenizer.encode("x", false).ids, ElementsAre('x'));
  const PairEncoding pair = tokenizer.encode_pair("x", "yz");
  EXPECT_THAT(pair.ids, ElementsAre(256, 'x', 'y', 'z'));
  EXPECT_THAT(pair.type_ids, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(pair.offsets, ElementsAre(Pair(0, 0), Pair(0, 1), Pair(0, 1), Pair(1, 2)));
  EXPECT_EQ(tokenizer.decode({256, 'x'}, true), "x");
}

TEST(Tokenizer, AddedTokensAreFoundFirst) {
  nlohmann::json json = small_tokenizer();
  json["added_tokens"] = {added_token(256, "<a>"), added_token(257, "<a><b>"), added_token(258, "[L]", {{"lstrip", true}}),
                          added_token(259, "[R]", {{"rstrip", true}}), added_token(260, "zebra", {{"single_word", true}, {"normalized", true}})};
  const Tokenizer tokenizer = load(json);
  EXPECT_THAT(tokenizer.encode("x<a><b>").ids, ElementsAre('x', 257));  // the longest of those that start there
  EXPECT_THAT(tokenizer.encode("x  [L]y").offsets, ElementsAre(Pair(0, 1), Pair(1, 6), Pair(6, 7)));
  EXPECT_THAT(tokenizer.encode("[R]\u3000 y").offsets, ElementsAre(Pair(0, 5), Pair(5, 6)));
  EXPECT_THAT(tokenizer.encode("a zebra.").ids, ElementsAre('a', ' ', 260, '.'));
  EXPECT_EQ(tokenizer.encode("zebras").ids.size(), 6u);
  EXPECT_EQ(tokenizer.encode("\u00E9zebra").ids.size(), 7u);
  EXPECT_EQ(tokenizer.vocabulary_size(), 261);
  EXPECT_EQ(tokenizer.token_to_id("zebra"), 260);
  EXPECT_EQ(tokenizer.id_to_token(256), "<a>");
  EXPECT_FALSE(tokenizer.token_to_id("no such token").has_value());
}

// Equal to the tokenizers library: two tokens may claim the same white space, and trimming looks at the text that a token took.
TEST(Tokenizer, AddedTokensMayShareWhiteSpace) {
  nlohmann::json json = small_tokenizer();
  json["added_tokens"] = {added_token(256, "[R]", {{"rstrip", true}}), added_token(257, " x"), added_token(258, "[L]", {{"lstrip", true}})};
  EXPECT_THAT(load(json).encode("[R]  x").ids, ElementsAre(256, 257));
  EXPECT_THAT(load(json).encode("[R]  x").offsets, ElementsAre(Pair(0, 5), Pair(4, 6)));
  json["post_processor"] = {{"type", "ByteLevel"}, {"trim_offsets", true}, {"add_prefix_space", true}};
  EXPECT_THAT(load(json).encode("[R]  x").offsets, ElementsAre(Pair(0, 3), Pair(5, 6)));
  EXPECT_THAT(load(json).encode("  [L]").offsets, ElementsAre(Pair(2, 5)));
}

TEST(Tokenizer, StreamsHoldBackUnfinishedCharacters) {
  const Tokenizer tokenizer = load(small_tokenizer());
  StreamDecoder stream(tokenizer);
  EXPECT_EQ(stream.step('a'), "a");
  EXPECT_FALSE(stream.step(0xE2).has_value());
  EXPECT_FALSE(stream.step(0xAD).has_value());
  EXPECT_EQ(stream.step(0xA2), "\u2B62");
  EXPECT_FALSE(stream.step(0xF0).has_value());
  EXPECT_EQ(stream.finish(), "\uFFFD");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Tokenizer, IdsWithoutATokenGiveNothing) {
  const Tokenizer tokenizer = load(small_tokenizer());
  EXPECT_EQ(tokenizer.decode({'a', 100000, -1, 'b'}), "ab");
}

TEST(Tokenizer, AMissingByteIsAnErrorWhenATextNeedsIt) {
  nlohmann::json json = small_tokenizer();
  json["model"]["vocab"].erase("q");
  const Tokenizer tokenizer = load(json);
  EXPECT_EQ(tokenizer.encode("abc").ids.size(), 3u);
  try {
    tokenizer.encode("aqua");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-TOK-004");
    EXPECT_THAT(error.parts().what, ::testing::HasSubstr("0x71"));
  }
}

TEST(Tokenizer, SeveralThreadsAtOnce) {
  const Tokenizer tokenizer = load(small_tokenizer({{"t", "h"}, {"th", "e"}}));
  const std::string text = "the other then there\u00E9 the";
  const std::vector<int64_t> expected = tokenizer.encode(text).ids;
  std::vector<int> wrong(4, 0);
  std::vector<std::jthread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) count += tokenizer.encode(text).ids != expected ? 1 : 0;
    });
  }
  threads.clear();
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

// Bytes from a small set, so that merges, added tokens and broken characters come up often.
std::string random_text() {
  static const std::string letters("ab <>\xC3\xA9\xE2\xAD\xA2\n1'st", 16);
  return *rc::gen::container<std::string>(rc::gen::elementOf(letters));
}

TEST(TokenizerProperties, DecodingGivesTheTextBackAndOffsetsCoverIt) {
  nlohmann::json json = small_tokenizer({{"a", "b"}, {"ab", "a"}, {"\u0120", "a"}, {"\u00C3", "\u00A9"}});
  json["added_tokens"] = {added_token(400, "<a>")};
  const Tokenizer tokenizer = load(json);
  EXPECT_TRUE(rc::check([&] {
    const std::string text = random_text();
    const std::string valid = utf8::replace_invalid(text);
    const Encoding encoding = tokenizer.encode(text);
    RC_ASSERT(tokenizer.decode(encoding.ids) == valid);
    RC_ASSERT(encoding.ids == tokenizer.encode(valid).ids);
    int64_t end = 0, last_begin = 0;
    for (const auto& [begin, stop] : encoding.offsets) {
      RC_ASSERT(begin < stop);
      RC_ASSERT(begin >= last_begin);
      RC_ASSERT(begin <= end);  // no gap
      last_begin = begin;
      end = stop;
    }
    std::vector<uint32_t> characters;
    utf8::character_of_byte(valid, characters);
    RC_ASSERT(end == (characters.empty() ? 0 : int64_t{characters.back()} + 1));
  }));
}

TEST(TokenizerProperties, StreamsGiveWhatDecodingGives) {
  const Tokenizer tokenizer = load(small_tokenizer({{"a", "b"}}));
  EXPECT_TRUE(rc::check([&] {
    const auto ids = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 258));
    StreamDecoder stream(tokenizer);
    std::string text;
    for (const int64_t id : ids) text += stream.step(id).value_or("");
    text += stream.finish();
    RC_ASSERT(text == tokenizer.decode(ids));
  }));
}

}  // namespace
}  // namespace ringwright::tokenizer
