// A place in a text that is being parsed, with what the grammars of expressions (OmegaConf) and of overrides (Hydra) have in common.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace ringwright::recipe {

class TextCursor {
 protected:
  static constexpr int kDepthMax = 100;
  static constexpr std::string_view kBlanks = " \t";

  explicit TextCursor(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  bool next_is(std::string_view part) const { return text_.substr(at_).starts_with(part); }
  bool take(char c) { return peek() == c && !done() ? ++at_, true : false; }
  size_t end_of_blanks() const { return end_of(kBlanks); }
  void skip_blanks() { at_ = end_of_blanks(); }
  size_t count_backslashes() const { return end_of("\\") - at_; }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-'; }

  // The parts of an unquoted value. Each takes what is next if it is one, and appends what it stands for.
  bool take_unquoted(std::string& plain, bool with_colon) {
    constexpr std::string_view kSigns = "/-\\+.$%*@?|";
    const char c = peek();
    if (done() || !(is_word_character(c) || kSigns.find(c) != std::string_view::npos || (c == ':' && with_colon))) return false;
    plain += c;
    ++at_;
    return true;
  }
  bool take_escape(std::string& plain) {
    constexpr std::string_view kEscapable = "\\()[]{}:=, \t";
    if (peek() != '\\' || at_ + 1 >= text_.size() || kEscapable.find(text_[at_ + 1]) == std::string_view::npos) return false;
    plain += text_[at_ + 1];
    at_ += 2;
    return true;
  }
  // Blanks between words belong to the value; those before its end, which is one of `ends`, do not.
  bool take_inner_blanks(std::string& plain, std::string_view ends, bool with_colon) {
    const size_t end = end_of_blanks();
    if (end == at_ || end == text_.size() || ends.find(text_[end]) != std::string_view::npos || (text_[end] == ':' && !with_colon)) return false;
    plain.append(text_.substr(at_, end - at_));
    at_ = end;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;

 private:
  size_t end_of(std::string_view characters) const { return std::min(text_.find_first_not_of(characters, at_), text_.size()); }
};

}  // namespace ringwright::recipe
