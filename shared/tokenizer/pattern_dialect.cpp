#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "shared/tokenizer/pattern.h"
#include "shared/tokenizer/unicode_additions.h"

namespace ringwright::tokenizer {
namespace {

// White_Space as Oniguruma's \s has it; PCRE2's own also takes U+180E.
constexpr std::string_view kSpaceItems = R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  std::string run() {
    while (at_ < pattern_.size()) {
      if (in_class_) {
        class_item();
      } else {
        outside_item();
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { throw UnsupportedPattern(fmt::format("{} at byte {} of the pattern", what, at_)); }
  char peek(size_t ahead) const { return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0'; }
  void copy(size_t count) {
    out_.append(pattern_.substr(at_, count));
    at_ += count;
  }

  void outside_item() {
    switch (pattern_[at_]) {
      case '\\':
        return escape();
      case '[':
        in_class_ = true;
        copy(peek(1) == '^' ? 2 : 1);
        if (peek(0) == ']') refuse("a class that begins with ]");
        return;
      case '^':
      case '$':
        refuse(fmt::format("the anchor {}", pattern_[at_]));
      case '(':
        return group();
      case '{':
        return quantifier();
      default:
        return copy(1);
    }
  }

  void class_item() {
    if (pattern_[at_] == '\\') return escape();
    if (pattern_[at_] == '[') refuse("a class inside a class");
    if (pattern_[at_] == '&' && peek(1) == '&') refuse("an intersection of classes");
    if (pattern_[at_] == ']') in_class_ = false;
    copy(1);
  }

  void group() {
    if (peek(1) != '?') return copy(1);
    for (std::string_view known : {"(?:", "(?i:", "(?i)", "(?=", "(?!", "(?<=", "(?<!", "(?>"}) {
      if (pattern_.substr(at_).starts_with(known)) return copy(known.size());
    }
    refuse("a kind of group that starts with " + std::string(pattern_.substr(at_, 4)));
  }

  // Oniguruma reads {,n} as {0,n}, and {n}+ as a repeated repetition; PCRE2 doesn't.
  void quantifier() {
    const size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos || peek(1) == ',') refuse("a brace that is no repetition {n}, {n,} or {n,m}");
    const std::string_view inner = pattern_.substr(at_ + 1, end - at_ - 1);
    const bool digits = !inner.empty() && std::all_of(inner.begin(), inner.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == ','; });
    if (!digits) refuse("a brace that is no repetition {n}, {n,} or {n,m}");
    if (end + 1 < pattern_.size() && pattern_[end + 1] == '+') refuse("a plus sign after a repetition");
    copy(end + 1 - at_);
  }

  void escape() {
    const char kind = peek(1);
    if (kind == 'p' || kind == 'P') return property(kind == 'P');
    if (kind == 's' || kind == 'S') return add_class(kSpaceItems, kind == 'S', 2);
    if (kind == 'u') return code_point();
    if (kind == 'r' || kind == 'n' || kind == 't' || kind == 'f') return copy(2);
    if (kind == 'x') return copy(2);  // the digits follow as they are
    if (kind == '\0') refuse("a backslash at the end");
    if (std::isalnum(static_cast<unsigned char>(kind)) != 0 || static_cast<unsigned char>(kind) >= 0x80) refuse(fmt::format("the escape \\{}", kind));
    copy(2);
  }

  void code_point() {
    const std::string_view digits = pattern_.substr(std::min(at_ + 2, pattern_.size()), 4);
    if (digits.size() != 4 || !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isxdigit(c) != 0; })) {
      refuse("\\u without four hexadecimal digits");
    }
    out_ += fmt::format("\\x{{{}}}", digits);
    at_ += 6;
  }

  void property(bool negated) {
    const size_t end = pattern_.find('}', at_);
    const std::string_view name = peek(2) == '{' && end != std::string_view::npos ? pattern_.substr(at_ + 3, end - at_ - 3) : std::string_view();
    for (const ClassAdditions& row : class_additions()) {
      if (row.name != name) continue;
      std::string items = name == "L" ? "A-Za-z" : name == "N" ? "0-9" : "";  // found in the class's bitmap first
      items += fmt::format("\\p{{{}}}", name);
      for (const CharacterRange& range : row.ranges) {
        items += fmt::format("\\x{{{:x}}}-\\x{{{:x}}}", static_cast<uint32_t>(range.first), static_cast<uint32_t>(range.last));
      }
      return add_class(items, negated, end + 1 - at_);
    }
    refuse(fmt::format("the property {}", pattern_.substr(at_, 12)));
  }

  void add_class(std::string_view items, bool negated, size_t consumed) {
    if (in_class_ && negated) refuse("a negated class inside a class");
    if (in_class_) {
      out_ += items;
    } else {
      out_ += fmt::format("[{}{}]", negated ? "^" : "", items);
    }
    at_ += consumed;
  }

  std::string_view pattern_;
  size_t at_ = 0;
  bool in_class_ = false;
  std::string out_;
};

}  // namespace

std::string to_pcre2(std::string_view pattern) { return Translator(pattern).run(); }

}  // namespace ringwright::tokenizer
