#include "console/gui/data/text_matcher.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <string>
#include <vector>

namespace ringwright::gui {
namespace {

bool automaton_says(const std::string& pattern, const std::string& text) {
  re2::RE2::Options options;
  options.set_case_sensitive(false);
  return re2::RE2::PartialMatch(text, re2::RE2(pattern, options));
}

TEST(TextMatcherTest, OnlyWhatHasNoOperatorIsPlain) {
  for (const char* pattern : {"loss", "checkpoint saved", "a-b_c:d/e,f=g", "tokens/s"}) EXPECT_TRUE(TextMatcher(pattern).is_plain()) << pattern;
  for (const char* pattern : {"lo.s", "a|b", "^step", "x*", "[ab]", "a\\b", "(a)", "tau \xCF\x84", "a\tb"})
    EXPECT_FALSE(TextMatcher(pattern).is_plain()) << pattern;
  EXPECT_FALSE(TextMatcher("lo(ss").error().empty());
}

TEST(TextMatcherTest, APlainPatternMatchesWhatTheAutomatonMatches) {
  const std::vector<std::string> patterns = {"a", "A", "ab", "aB", "aab", "aba", "-", "@", "`", "k", "s", "[", "b b", "z9", "abcabcabc"};
  std::vector<std::string> texts = {"", "a", "AB", "xxab", "Kelvin \xE2\x84\xAA", "long \xC5\xBF", "tab\tb", "a\nb", "`@", "\x40\x60"};
  uint64_t state = 7;
  constexpr std::string_view kAlphabet = "aAbBcCkKsS -_@`z9[\xC3\xA4\xE2\x84\xAA";
  for (int i = 0; i < 4000; ++i) {
    std::string text;
    for (size_t length = state % 90; length > 0; --length) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      text += kAlphabet[(state >> 33) % (i % 3 == 0 ? kAlphabet.size() : 18)];
    }
    texts.push_back(text);
    state += static_cast<uint64_t>(i);
  }
  size_t matched = 0;
  for (const std::string& pattern : patterns) {
    const TextMatcher matcher(pattern == "[" ? "\\[" : pattern);
    for (const std::string& text : texts) {
      const bool found = matcher.matches(text);
      ASSERT_EQ(found, automaton_says(pattern == "[" ? "\\[" : pattern, text)) << pattern << " in '" << text << "'";
      matched += found ? 1 : 0;
    }
  }
  EXPECT_GT(matched, 1000u);
}

}  // namespace
}  // namespace ringwright::gui
