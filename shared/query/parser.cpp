#include <algorithm>
#include <cctype>
#include <charconv>

#include "shared/base/text.h"
#include "shared/query/failure.h"
#include "shared/query/literals.h"
#include "shared/query/syntax.h"

namespace ringwright::query {
namespace {

constexpr int kDepthMax = 64;
constexpr int kComparisonsMax = 200;
constexpr size_t kValuesMax = 500;

struct SignEntry {
  const char* sign;
  Comparator comparator;
  bool negated;
};
constexpr SignEntry kSigns[] = {{"=", Comparator::equal, false},   {"==", Comparator::equal, false},         {"!=", Comparator::equal, true},
                                {"<>", Comparator::equal, true},   {"<", Comparator::less, false},           {"<=", Comparator::less_equal, false},
                                {">", Comparator::greater, false}, {">=", Comparator::greater_equal, false}, {"~", Comparator::matches, false},
                                {"!~", Comparator::matches, true}};
constexpr const char* kKeywords[] = {"and", "or", "not", "in", "is", "null", "order", "by", "asc", "desc", "limit"};

bool is_any_keyword(const Token& token) {
  return std::any_of(std::begin(kKeywords), std::end(kKeywords), [&](const char* word) { return token.is_keyword(word); });
}

std::string shown(const Token& token) { return token.kind == Token::Kind::end ? "the end" : "'" + token.text + "'"; }

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(read_tokens(text)) {}

  Query read() {
    Query query;
    if (!is_end() && !now().is_keyword("order") && !now().is_keyword("limit")) query.condition = any(0);
    if (take_keyword("order")) read_order(query);
    if (take_keyword("limit")) read_limit(query);
    if (!is_end())
      throw unexpected(query.limit ? "nothing more" : query.order.empty() ? "and, or, order by, limit or the end" : "',', limit or the end");
    return query;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  const Token& next() { return tokens_[at_++]; }
  bool is_end() const { return now().kind == Token::Kind::end; }
  bool take_keyword(std::string_view word) { return now().is_keyword(word) && ++at_; }
  bool take_sign(std::string_view sign) { return now().is_sign(sign) && ++at_; }

  // A word that is nearly a keyword is a slip of the finger.
  Error unexpected(const std::string& expected) const {
    const std::string nearest =
        now().kind == Token::Kind::word && !is_any_keyword(now()) ? text::nearest(now().text, {std::begin(kKeywords), std::end(kKeywords)}) : "";
    return failure(kSyntax, "the query does not go on with " + shown(now()), now().column, expected,
                   nearest.empty() ? "put a text of several words in quotes" : "did you mean '" + nearest + "'?");
  }

  Node any(int depth) { return joined(Node::Kind::any, "or", depth, &Parser::all); }
  Node all(int depth) { return joined(Node::Kind::all, "and", depth, &Parser::negation); }

  Node joined(Node::Kind kind, const char* word, int depth, Node (Parser::*part)(int)) {
    Node first = (this->*part)(depth);
    if (!now().is_keyword(word)) return first;
    Node node{kind, {}, {}};
    node.children.push_back(std::move(first));
    while (take_keyword(word)) node.children.push_back((this->*part)(depth));
    return node;
  }

  Node negation(int depth) {
    if (depth > kDepthMax)
      throw failure(kTooLarge, "the query is nested too deeply", now().column, "at most " + std::to_string(kDepthMax) + " levels");
    if (take_keyword("not")) {
      Node node{Node::Kind::negation, {}, {}};
      node.children.push_back(negation(depth + 1));
      return node;
    }
    if (!now().is_sign("(")) return comparison();
    const size_t opened = next().column;
    Node node = any(depth + 1);
    if (!take_sign(")")) {
      if (is_end()) throw failure(kSyntax, "a parenthesis is not closed", opened, "')'");
      throw unexpected("and, or or ')'");
    }
    return node;
  }

  Node comparison() {
    if (++comparisons_ > kComparisonsMax)
      throw failure(kTooLarge, "the query has too many comparisons", now().column, "at most " + std::to_string(kComparisonsMax));
    Comparison comparison{field(), Comparator::equal, false, {}, now().column};
    if (now().is_keyword("in") || now().is_keyword("not"))
      read_list(comparison);
    else if (take_keyword("is"))
      read_null(comparison);
    else
      read_sign(comparison);
    return {Node::Kind::comparison, {}, std::move(comparison)};
  }

  FieldName field() {
    if (now().kind != Token::Kind::word || is_any_keyword(now())) throw unexpected("a field, such as state, mesh.cp or loss.last");
    const Token& token = next();
    FieldName name{{""}, token.text, token.column};
    for (const Part& part : token.parts) {
      if (part.quoted) {
        name.parts.back() += part.text;
        continue;
      }
      for (const char c : part.text) c == '.' ? name.parts.emplace_back() : name.parts.back() += c;
    }
    if (std::any_of(name.parts.begin(), name.parts.end(), [](const std::string& part) { return part.empty(); }))
      throw failure(kSyntax, "'" + token.text + "' has nothing beside a dot", token.column, "a field, such as mesh.cp");
    return name;
  }

  void read_sign(Comparison& comparison) {
    const auto* entry = std::find_if(std::begin(kSigns), std::end(kSigns), [this](const SignEntry& sign) { return now().is_sign(sign.sign); });
    if (entry == std::end(kSigns))
      throw failure(kSyntax, "after the field '" + comparison.field.text + "' comes " + shown(now()), now().column,
                    "=, !=, <, <=, >, >=, ~, !~, in (...), not in (...), is null or is not null", "write for example: name ~ \"demo\"");
    ++at_;
    comparison.comparator = entry->comparator;
    comparison.negated = entry->negated;
    comparison.values.push_back(value());
    if (entry->comparator == Comparator::equal && comparison.values.front().is_word("null")) {
      comparison.comparator = Comparator::is_null;
      comparison.values.clear();
    }
  }

  void read_null(Comparison& comparison) {
    comparison.comparator = Comparator::is_null;
    comparison.negated = take_keyword("not");
    if (!take_keyword("null")) throw unexpected("null, as in: is null, is not null");
  }

  void read_list(Comparison& comparison) {
    comparison.comparator = Comparator::in;
    comparison.negated = take_keyword("not");
    if (!take_keyword("in")) throw unexpected("in, as in: not in (...)");
    if (!take_sign("(")) throw unexpected("'(' and values, with ',' between them");
    do {
      comparison.values.push_back(value());
      if (comparison.values.size() > kValuesMax)
        throw failure(kTooLarge, "the list is too long", comparison.values.back().column, "at most " + std::to_string(kValuesMax) + " values");
    } while (take_sign(","));
    if (!take_sign(")")) throw unexpected("',' or ')'");
  }

  // A number and its unit, a date and its time of day, "ago": these belong together without quotes.
  Value value() {
    if (now().kind != Token::Kind::word || (is_any_keyword(now()) && !now().is_keyword("null")))
      throw unexpected("a value: a number, a word, or a text in quotes");
    const Token& token = next();
    Value value{token.text, token.is_quoted(), token.column};
    while (!value.quoted && now().kind == Token::Kind::word && !now().is_quoted() && continues_value(now().text)) value.text += " " + next().text;
    return value;
  }

  void read_order(Query& query) {
    if (!take_keyword("by")) throw unexpected("by, as in: order by started desc");
    do {
      query.order.push_back({field(), false});
      if (take_keyword("desc"))
        query.order.back().descending = true;
      else
        take_keyword("asc");
    } while (take_sign(","));
  }

  void read_limit(Query& query) {
    const Token& token = now();
    int64_t limit = -1;
    const char* const end = token.text.data() + token.text.size();
    const auto [rest, problem] = std::from_chars(token.text.data(), end, limit);
    if (token.kind != Token::Kind::word || token.text.empty() || rest != end || problem != std::errc() || limit < 0)
      throw failure(kSyntax, "limit is followed by " + shown(token), token.column, "a whole number from 0 on");
    ++at_;
    query.limit = limit;
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int comparisons_ = 0;
};

}  // namespace

bool Value::is_word(std::string_view lower_case) const {
  return !quoted && text.size() == lower_case.size() &&
         std::equal(text.begin(), text.end(), lower_case.begin(), [](unsigned char a, char b) { return std::tolower(a) == b; });
}

Query parse(std::string_view text) { return Parser(text).read(); }

}  // namespace ringwright::query
