#include "shared/recipe/override_parser.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "shared/base/text.h"
#include "shared/recipe/expression.h"
#include "shared/recipe/failure.h"
#include "shared/recipe/interpolation.h"
#include "shared/recipe/key_index.h"
#include "shared/recipe/scalar.h"
#include "shared/recipe/text_cursor.h"

namespace ringwright::recipe {
namespace {

constexpr std::array<std::string_view, 7> kSweeps = {"choice", "range", "interval", "glob", "sort", "shuffle", "tag"};

class OverrideParser : private TextCursor {
 public:
  OverrideParser(std::string_view text, const Origin& origin) : TextCursor(text), origin_(origin) {}

  Override parse() {
    Override result;
    if (take('~'))
      result.action = Override::Action::remove;
    else if (take('+'))
      result.action = take('+') ? Override::Action::force : Override::Action::add;
    take_key(result);
    if (done()) {
      if (result.action != Override::Action::remove) malformed("it has no =");
      return result;
    }
    ++at_;
    skip_blanks();
    result.value = done() ? make_text("", origin_) : element();
    skip_blanks();
    if (peek() == ',' && !done()) malformed("a list of values is a sweep, and one run has one recipe; quote a text that holds a comma");
    if (!done()) malformed("the value ends before the text does");
    return result;
  }

 private:
  [[noreturn]] void malformed(const std::string& why) const {
    fail("RW-RECIPE-012", "the override '" + std::string(text_) + "' does not parse: " + why, {"command line, character " + std::to_string(at_ + 1)},
         "key=value, +key=value, ++key=value or ~key", "quote values with special characters: key='a=b'");
  }

  void take_key(Override& result) {
    const size_t end = std::min(text_.find('=', at_), text_.size());
    result.key = text_.substr(at_, end - at_);
    for (size_t start = 0; start <= result.key.size();) {
      const size_t dot = std::min(result.key.find('.', start), result.key.size());
      result.path.push_back(result.key.substr(start, dot - start));
      start = dot + 1;
    }
    for (const std::string& segment : result.path)
      if (!is_key_segment(segment, result.path.size() > 1))
        malformed("'" + segment + "' is not a key: letters, digits, _, - and $, sections joined by dots");
    at_ = end;
  }

  static bool is_key_segment(const std::string& segment, bool may_be_index) {
    if (segment.empty()) return false;
    if (is_digit(segment[0]))
      return may_be_index && std::all_of(segment.begin(), segment.end(), is_digit) && (segment.size() == 1 || segment[0] != '0');
    return segment[0] != '-' && std::all_of(segment.begin(), segment.end(), [](char c) { return is_word_character(c) || c == '$'; });
  }

  Node element() {
    if (++depth_ > kDepthMax) malformed("it is nested too deeply");
    Node node;
    if (peek() == '\'' || peek() == '"')
      node = quoted();
    else if (peek() == '[')
      node = list();
    else if (peek() == '{')
      node = map();
    else
      node = primitive(true);
    --depth_;
    return node;
  }

  Node quoted() {
    const char quote = text_[at_++];
    std::string content;
    while (!done()) {
      const size_t backslashes = count_backslashes();
      at_ += backslashes;
      const bool at_quote = peek() == quote && !done();
      content.append(at_quote ? backslashes / 2 : backslashes, '\\');
      if (!at_quote) {
        if (!done()) content += text_[at_++];
      } else if (++at_; backslashes % 2 == 0) {
        return checked_text(std::move(content));
      } else {
        content += quote;
      }
    }
    malformed("a quote is not closed");
  }

  Node checked_text(std::string content) const {
    check_interpolation(content, origin_);
    return make_text(std::move(content), origin_);
  }

  Node list() {
    Node node = make_list({}, origin_);
    ++at_;
    skip_blanks();
    if (take(']')) return node;
    while (true) {
      skip_blanks();
      node.items.push_back(element());
      skip_blanks();
      if (take(']')) return node;
      if (!take(',')) malformed("a , or ] is missing");
    }
  }

  Node map() {
    Node node = make_null(origin_);
    node.kind = Kind::map;
    KeyIndex keys;
    ++at_;
    skip_blanks();
    if (take('}')) return node;
    while (true) {
      skip_blanks();
      Node key = primitive(false);
      skip_blanks();
      if (!take(':')) malformed("a : is missing");
      skip_blanks();
      Node value = element();
      keys.set(node.entries, std::move(key), std::move(value));
      skip_blanks();
      if (take('}')) return node;
      if (!take(',')) malformed("a , or } is missing");
    }
  }

  Node primitive(bool as_value) {
    std::string content;
    const size_t start = at_;
    bool bare = true;
    while (!done()) {
      if (as_value && next_is("${")) {
        const size_t end = text_.find('}', at_);
        if (end == std::string_view::npos || end == at_ + 2) malformed("a ${ is not closed");
        content += text_.substr(at_, end + 1 - at_);
        at_ = end + 1;
        bare = false;
      } else if (take_escape(content)) {
        bare = false;
      } else if (!take_inner_blanks(content, ",]})(", as_value) && !take_unquoted(content, as_value)) {
        break;
      }
    }
    if (as_value && peek() == '(' && !done()) return call(content);
    if (at_ == start) malformed("a value is missing, or has a character that needs quotes");
    if (auto typed = bare ? typed_word(content, origin_) : std::nullopt) return *typed;
    return checked_text(std::move(content));
  }

  // str(x), int(x), float(x), bool(x); lists element by element.
  Node call(const std::string& name) {
    if (std::find(kSweeps.begin(), kSweeps.end(), name) != kSweeps.end()) malformed(name + "(...) is a sweep, and one run has one recipe");
    ++at_;
    skip_blanks();
    const Node argument = element();
    skip_blanks();
    if (!take(')')) malformed("a ) is missing");
    return cast(name, argument);
  }

  Node cast(const std::string& name, const Node& node) const {
    if (node.kind == Kind::list) {
      Node list = make_list({}, origin_);
      for (const Node& item : node.items) list.items.push_back(cast(name, item));
      return list;
    }
    if (node.is_container() || node.kind == Kind::null) malformed(name + "(...) cannot take " + std::string(to_string(node.kind)));
    if (name == "str") return make_text(node.kind == Kind::boolean ? (node.boolean ? "true" : "false") : python_text(node), origin_);
    if (name == "int" && node.kind == Kind::real && std::abs(node.real) < 9e15) return make_integer(static_cast<int64_t>(node.real), origin_);
    if (name == "bool" && node.kind == Kind::integer) return make_boolean(node.integer != 0, origin_);
    if (name == "bool" && node.kind == Kind::real) return make_boolean(node.real != 0, origin_);
    if (name != "int" && name != "float" && name != "bool") malformed("there is no function " + name + ": str, int, float and bool are");
    if (node.kind == Kind::boolean && name != "bool") return name == "int" ? make_integer(node.boolean, origin_) : make_real(node.boolean, origin_);
    if (auto value = tagged_scalar(name, python_text(node), origin_)) return *value;
    malformed("'" + python_text(node) + "' is no value for " + name + "(...)");
  }

  Origin origin_;
  int depth_ = 0;
};

}  // namespace

Override parse_override(const std::string& text, const Origin& origin) {
  if (!text::is_utf8(text))
    fail("RW-RECIPE-012", "'" + text::valid_utf8(text) + "' is not UTF-8 text", origin, "UTF-8", "write it in a terminal that is set to UTF-8");
  return OverrideParser(text, origin).parse();
}

}  // namespace ringwright::recipe
