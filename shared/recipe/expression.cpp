#include "shared/recipe/expression.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "shared/base/text.h"
#include "shared/recipe/failure.h"
#include "shared/recipe/interpolation.h"
#include "shared/recipe/scalar.h"
#include "shared/recipe/text_cursor.h"

namespace ringwright::recipe {
namespace {

constexpr std::string_view kKeyEnds = "\\{}()[]:. \t'\"";

Expression literal(Node value) {
  Expression expression;
  expression.value = std::move(value);
  return expression;
}

Expression of_type(Expression::Type type) {
  Expression expression;
  expression.type = type;
  return expression;
}

class Parser : private TextCursor {
 public:
  Parser(std::string_view text, const Origin& origin) : TextCursor(text), origin_(origin) {}

  Expression whole_text() { return text('\0'); }

  Expression whole_element() {
    skip_blanks();
    Expression expression = element();
    skip_blanks();
    if (!done()) malformed("something follows the value");
    return expression;
  }

 private:
  [[noreturn]] void malformed(const std::string& why) const {
    fail("RW-RECIPE-008",
         "the expression does not parse: " + why + " (character " + std::to_string(at_ + 1) + " of '" + text::excerpt_around(text_, at_) + "')",
         origin_, "${section.key}, ${resolver:argument, ...}, or \\${ for the text itself",
         "correct the expression; quote arguments with special characters");
  }

  // Up to the end, or to the closing quote, which is taken.
  Expression text(char quote) {
    Expression joined = of_type(Expression::Type::joined);
    std::string plain;
    const auto flush = [&] {
      if (!plain.empty()) joined.children.push_back(literal(make_text(std::move(plain), origin_)));
      plain.clear();
    };
    while (!done()) {
      const size_t backslashes = count_backslashes();
      if (backslashes > 0) {
        take_backslashes(backslashes, quote, plain);
      } else if (next_is("${")) {
        flush();
        joined.children.push_back(interpolation());
      } else if (quote && peek() == quote) {
        ++at_;
        flush();
        if (joined.children.empty()) joined.children.push_back(literal(make_text("", origin_)));
        return joined;
      } else {
        plain += text_[at_++];
      }
    }
    if (quote) malformed("a quote is not closed");
    flush();
    return joined;
  }

  // Backslashes count in pairs before ${ and, in a quoted text, before its quote; elsewhere they are what they are.
  void take_backslashes(size_t count, char quote, std::string& plain) {
    at_ += count;
    const bool before_reference = next_is("${"), before_quote = quote && peek() == quote;
    if (!before_reference && !before_quote) {
      plain.append(count, '\\');
      return;
    }
    plain.append(count / 2, '\\');
    if (count % 2 == 0) return;
    plain += before_reference ? "${" : std::string(1, quote);
    at_ += before_reference ? 2 : 1;
  }

  Expression interpolation() {
    if (++depth_ > kDepthMax) malformed("it is nested too deeply");
    at_ += 2;
    skip_blanks();
    Expression key = of_type(Expression::Type::reference);
    const auto add = [&](std::string piece) { key.children.push_back(literal(make_text(std::move(piece), origin_))); };
    bool relative = false, brackets = false;
    for (; peek() == '.'; ++at_) add("."), relative = true;
    take_key(key, brackets);
    while (peek() == '.' || peek() == '[') {
      if (peek() == '.') add("."), ++at_;
      take_key(key, brackets);
    }
    skip_blanks();
    --depth_;
    if (peek() == '}') return ++at_, key;
    if (peek() != ':') malformed("a } is missing");
    if (relative || brackets) malformed("a resolver's name has letters, digits, - and _ only");
    ++depth_;
    Expression resolver = arguments(std::move(key));
    --depth_;
    return resolver;
  }

  // key, ${...}, or [key]
  void take_key(Expression& key, bool& brackets) {
    const bool bracket = peek() == '[';
    if (bracket) {
      brackets = true;
      key.children.push_back(literal(make_text("[", origin_)));
      ++at_;
    }
    if (next_is("${")) {
      key.children.push_back(interpolation());
    } else {
      const size_t end = std::min(text_.find_first_of(kKeyEnds, at_), text_.size());
      if (end == at_) malformed("a key is missing");
      key.children.push_back(literal(make_text(std::string(text_.substr(at_, end - at_)), origin_)));
      at_ = end;
    }
    if (!bracket) return;
    if (peek() != ']') malformed("a ] is missing");
    key.children.push_back(literal(make_text("]", origin_)));
    ++at_;
  }

  Expression arguments(Expression name) {
    for (const Expression& piece : name.children)
      if (piece.type == Expression::Type::literal && piece.value.text != "." &&
          !std::all_of(piece.value.text.begin(), piece.value.text.end(), is_word_character))
        malformed("a resolver's name has letters, digits, - and _ only");
    Expression resolver = of_type(Expression::Type::resolver);
    name.type = Expression::Type::joined;
    resolver.children.push_back(std::move(name));
    ++at_;
    skip_blanks();
    if (peek() == '}') return ++at_, resolver;
    sequence('}', resolver.children);
    return resolver;
  }

  // Elements up to `close`, which is taken. A missing element is an empty text, as upstream has it.
  void sequence(char close, std::vector<Expression>& elements) {
    while (true) {
      skip_blanks();
      if (peek() == ',' || peek() == close)
        elements.push_back(literal(make_text("", origin_)));
      else
        elements.push_back(element());
      skip_blanks();
      if (peek() == close) {
        ++at_;
        return;
      }
      if (peek() != ',') malformed(std::string("a , or ") + close + " is missing");
      ++at_;
    }
  }

  Expression element() {
    if (++depth_ > kDepthMax) malformed("it is nested too deeply");
    const char first = peek();
    Expression expression;
    if (first == '\'' || first == '"') {
      ++at_;
      expression = text(first);
    } else if (first == '[') {
      expression = of_type(Expression::Type::list);
      ++at_;
      skip_blanks();
      if (peek() == ']')
        ++at_;
      else
        sequence(']', expression.children);
    } else {
      expression = first == '{' ? map() : primitive(true);
    }
    --depth_;
    return expression;
  }

  Expression map() {
    Expression expression = of_type(Expression::Type::map);
    ++at_;
    skip_blanks();
    if (peek() == '}') return ++at_, expression;
    while (true) {
      skip_blanks();
      expression.children.push_back(primitive(false));
      skip_blanks();
      if (peek() != ':') malformed("a : is missing");
      ++at_;
      skip_blanks();
      expression.children.push_back(element());
      skip_blanks();
      if (peek() == '}') return ++at_, expression;
      if (peek() != ',') malformed("a , or } is missing");
      ++at_;
    }
  }

  // An unquoted value: words, numbers, some signs, escapes, and ${...}.
  Expression primitive(bool with_colon) {
    Expression joined = of_type(Expression::Type::joined);
    const size_t start = at_;
    std::string plain;
    bool bare = true;  // no escape in it, so it may be a number or a keyword
    while (!done()) {
      if (next_is("${")) {
        if (!plain.empty()) joined.children.push_back(literal(make_text(std::move(plain), origin_)));
        plain.clear();
        joined.children.push_back(interpolation());
      } else if (take_escape(plain)) {
        bare = false;
      } else if (!take_inner_blanks(plain, ",}]", with_colon) && !take_unquoted(plain, with_colon)) {
        break;
      }
    }
    if (at_ == start) malformed("a value is missing, or has a character that needs quotes");
    if (joined.children.empty()) {
      if (auto typed = bare ? typed_word(plain, origin_) : std::nullopt) return literal(std::move(*typed));
    }
    if (!plain.empty()) joined.children.push_back(literal(make_text(std::move(plain), origin_)));
    return joined;
  }

  Origin origin_;
  int depth_ = 0;
};

bool same_word(std::string_view word, std::string_view lower) {
  return word.size() == lower.size() &&
         std::equal(word.begin(), word.end(), lower.begin(), [](unsigned char a, char b) { return std::tolower(a) == b; });
}

}  // namespace

Expression parse_text_expression(std::string_view text, const Origin& origin) { return Parser(text, origin).whole_text(); }
Expression parse_element_expression(std::string_view text, const Origin& origin) { return Parser(text, origin).whole_element(); }

std::optional<Node> typed_word(std::string_view word, const Origin& origin) {
  static const re2::RE2 kInteger(R"([+-]?(?:0|[1-9](?:_?[0-9])*))");
  static const re2::RE2 kFloat(
      R"([+-]?(?:(?:(?:0|[1-9](?:_?[0-9])*)\.|(?:0|[1-9](?:_?[0-9])*)?\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?|(?:0|[1-9](?:_?[0-9])*)[eE][+-]?[0-9](?:_?[0-9])*))");
  if (same_word(word, "null")) return make_null(origin);
  if (same_word(word, "true")) return make_boolean(true, origin);
  if (same_word(word, "false")) return make_boolean(false, origin);
  std::string_view body = word;
  const bool negative = body.starts_with('-');
  if (negative || body.starts_with('+')) body.remove_prefix(1);
  if (same_word(body, "inf")) return make_real(negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity(), origin);
  if (same_word(body, "nan")) return make_real(std::numeric_limits<double>::quiet_NaN(), origin);
  if (re2::RE2::FullMatch(word, kInteger)) return tagged_scalar("int", std::string(word), origin);
  if (re2::RE2::FullMatch(word, kFloat)) return tagged_scalar("float", std::string(word), origin);
  return std::nullopt;
}

}  // namespace ringwright::recipe
