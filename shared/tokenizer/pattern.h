// Regular expressions of tokenizer.json, which are written for Oniguruma, run by PCRE2 with JIT. The dialect is narrow on purpose: what the two
// libraries read differently is refused, and character classes mean those of Unicode 16.
#pragma once

// PCRE2 wants to know the width of a code unit before its header.
#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ringwright::tokenizer {

// A construct that is not supported; the text names it.
struct UnsupportedPattern : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// No regular expression at all; the text is PCRE2's.
struct InvalidPattern : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The same pattern in PCRE2's words.
std::string to_pcre2(std::string_view pattern);

// What a match needs besides the pattern; one for each thread at work.
class MatchState {
 public:
  MatchState();

 private:
  friend class Pattern;
  std::shared_ptr<pcre2_match_data_8> data_;
  std::shared_ptr<pcre2_match_context_8> context_;
  std::shared_ptr<pcre2_jit_stack_8> stack_;
};

class Pattern {
 public:
  // Throws UnsupportedPattern or InvalidPattern.
  static Pattern regex(std::string_view pattern);
  static Pattern literal(std::string_view text);

  struct Match {
    size_t begin, end;
  };
  // The first match at or after `from` in valid UTF-8, false when there is none. Throws Error RW-TOK-005 when the search goes over its limit.
  bool find(std::string_view text, size_t from, MatchState& state, Match& match) const;

 private:
  Pattern(const std::string& pattern, uint32_t options);

  std::shared_ptr<pcre2_code_8> code_;
  bool jit_ = false;
};

}  // namespace ringwright::tokenizer
