// Whether a text has a pattern in it, case ignored. Made for a million lines: what holds no operator is looked for without an automaton.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace ringwright::gui {

class TextMatcher {
 public:
  // An RE2 pattern, not empty. `error` says what is wrong with it; such a matcher must not be asked.
  explicit TextMatcher(const std::string& pattern);
  ~TextMatcher();

  const std::string& error() const { return error_; }
  // The pattern is nothing but the characters that it stands for.
  bool is_plain() const { return !plain_.empty(); }
  bool matches(std::string_view text) const;

 private:
  // Bytes that `text` would need to have at a place where the pattern stands: nothing there rules the text out.
  enum class Look { absent, possible, not_ascii };
  Look look(std::string_view text) const;
  bool stands_in(std::string_view text) const;

  std::string plain_, folds_;  // lower case; 0x20 for each letter, which stands for both of its cases, else 0
  std::unique_ptr<re2::RE2> expression_;
  std::string error_;
};

}  // namespace ringwright::gui
