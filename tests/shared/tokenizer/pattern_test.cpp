#include "shared/tokenizer/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/base/error.h"
#include "shared/tokenizer/pre_tokenizer.h"
#include "shared/tokenizer/utf8.h"

namespace ringwright::tokenizer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> pieces(const std::string& pattern, const std::string& text, bool keep_matches = true, bool keep_gaps = true) {
  const PreTokenizer splitter({SplitStep{Pattern::regex(pattern), keep_matches, keep_gaps, false}});
  SplitScratch scratch;
  std::vector<std::string> result;
  splitter.run(text, 0, scratch, [&](const Piece& piece) { result.emplace_back(piece.bytes); });
  return result;
}

TEST(Pattern, SpaceBeforeAWordStaysWithIt) { EXPECT_THAT(pieces(R"(\s+(?!\S)|\s+|\S+)", "a   b \n"), ElementsAre("a", "  ", " ", "b", " \n")); }

TEST(Pattern, SplitsKeepMatchesOrGaps) {
  EXPECT_THAT(pieces("b+", "abba"), ElementsAre("a", "bb", "a"));
  EXPECT_THAT(pieces("b+", "abba", false, true), ElementsAre("a", "a"));
  EXPECT_THAT(pieces("b+", "abba", true, false), ElementsAre("bb"));
}

TEST(Pattern, EmptyMatchesCutAndGoOn) { EXPECT_THAT(pieces("x*", "a\u00E9xb"), ElementsAre("a", "\u00E9", "x", "b")); }

TEST(Pattern, ClassesAreThoseOfUnicode16) {
  // Letters of 15.0 (U+1E4D0) and 16.0 (U+10D50), a digit of 16.0 (U+11BF0); U+180E is no white space; U+11DB0 is of 17.0.
  EXPECT_THAT(pieces(R"(\p{L}+|\p{N}+)", "\U0001E4D0\U00010D50\U00011BF0", true, false), ElementsAre("\U0001E4D0\U00010D50", "\U00011BF0"));
  EXPECT_THAT(pieces(R"(\s)", "\u180E\u2003", true, false), ElementsAre("\u2003"));
  EXPECT_THAT(pieces(R"([^\s\p{L}]+)", "a\U00011DB0b", true, false), ElementsAre("\U00011DB0"));
}

TEST(Pattern, CaseFoldingTakesTheLongS) { EXPECT_THAT(pieces("(?i:'s)", "it'\u017F 'S", true, false), ElementsAre("'\u017F", "'S")); }

TEST(Pattern, WhatTheLibrariesReadDifferentlyIsRefused) {
  for (const char* pattern : {"^a", "a$", "[a[b]]", "[a&&b]", "a{,3}", "a{2}+", R"(\w)", R"(\d)", R"(\b)", R"(\h)", R"(\K)", R"([\S])", R"(\p{Han})",
                              "(?<name>a)", "(?m:a)", "\\", "[]a]"}) {
    EXPECT_THROW(to_pcre2(pattern), UnsupportedPattern) << pattern;
  }
}

TEST(Pattern, EndlessBacktrackingIsAnError) {
  const Pattern pattern = Pattern::regex("(?:a|aa)+[^a]");
  MatchState state;
  Pattern::Match match{};
  try {
    pattern.find(std::string(60, 'a'), 0, state, match);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-TOK-005");
  }
}

TEST(Utf8, EachMaximalBadPartBecomesOneReplacement) {
  EXPECT_EQ(utf8::replace_invalid("a\xFF\xFE"), "a\uFFFD\uFFFD");
  EXPECT_EQ(utf8::replace_invalid("\xE2\x82"), "\uFFFD");
  EXPECT_EQ(utf8::replace_invalid("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(utf8::replace_invalid("\xF0\x9F\x98 x"), "\uFFFD x");
  EXPECT_EQ(utf8::replace_invalid("\xC0\xAF"), "\uFFFD\uFFFD");
  EXPECT_EQ(utf8::replace_invalid("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

}  // namespace
}  // namespace ringwright::tokenizer
