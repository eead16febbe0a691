// A query's words and signs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::query {

// A word is a run of characters without spaces and signs. Parts of it may stand in quotes, single or double, in which \" and \\ (\' likewise) are the
// character itself and any other backslash stays: recipe."a.b".c, "two words".
struct Part {
  std::string text;
  bool quoted;
};

struct Token {
  enum class Kind { word, sign, end };
  Kind kind;
  std::string text;         // of a word: its parts put together
  std::vector<Part> parts;  // of a word
  size_t column;            // in characters, from 1

  bool is_sign(std::string_view sign) const { return kind == Kind::sign && text == sign; }
  bool is_quoted() const { return !parts.empty() && parts.front().quoted; }
  // A word without quotes, whatever the case of its letters.
  bool is_keyword(std::string_view lower_case) const;
};

// Ends with a token of kind end. Throws Error RW-QUERY-001, RW-QUERY-005.
std::vector<Token> read_tokens(std::string_view text);

}  // namespace ringwright::query
