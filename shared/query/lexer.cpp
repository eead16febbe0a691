#include "shared/query/lexer.h"

#include <algorithm>
#include <cctype>

#include "shared/query/failure.h"

namespace ringwright::query {
namespace {

constexpr size_t kQueryBytesMax = 10'000;
constexpr const char* kSigns[] = {"!=", "!~", "<=", ">=", "<>", "==", "=", "<", ">", "~", "(", ")", ","};  // the longer ones first

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool starts_sign(char c) { return std::string_view("!<>=~(),").find(c) != std::string_view::npos; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> read() {
    std::vector<Token> tokens;
    for (skip_space(); at_ < text_.size(); skip_space()) tokens.push_back(starts_sign(text_[at_]) ? sign() : word());
    tokens.push_back({Token::Kind::end, "", {}, column(at_)});
    return tokens;
  }

 private:
  // Called for growing places, so that the whole is looked at once.
  size_t column(size_t at) {
    for (; counted_ < at; ++counted_)
      if ((static_cast<unsigned char>(text_[counted_]) & 0xc0) != 0x80) ++characters_;
    return characters_ + 1;
  }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  Token sign() {
    for (const char* sign : kSigns)
      if (text_.substr(at_).starts_with(sign)) {
        Token token{Token::Kind::sign, sign, {}, column(at_)};
        at_ += token.text.size();
        return token;
      }
    throw failure(kSyntax, "'!' alone means nothing", column(at_), "!= or !~", "write: not (...)");
  }

  Token word() {
    Token token{Token::Kind::word, "", {}, column(at_)};
    while (at_ < text_.size() && !is_space(text_[at_]) && !starts_sign(text_[at_])) {
      token.parts.push_back(is_quote(text_[at_]) ? quoted() : bare());
      token.text += token.parts.back().text;
    }
    return token;
  }

  Part bare() {
    const size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) && !starts_sign(text_[at_]) && !is_quote(text_[at_])) ++at_;
    return {std::string(text_.substr(begin, at_ - begin)), false};
  }

  Part quoted() {
    const size_t begin = at_;
    const char quote = text_[at_++];
    Part part{"", true};
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      const bool escaped = text_[at_] == '\\' && at_ + 1 < text_.size() && (text_[at_ + 1] == quote || text_[at_ + 1] == '\\');
      part.text += text_[escaped ? ++at_ : at_];
    }
    if (at_ == text_.size()) throw failure(kSyntax, "a quote is not closed", column(begin), std::string("another ") + quote);
    ++at_;
    return part;
  }

  std::string_view text_;
  size_t at_ = 0, counted_ = 0, characters_ = 0;
};

}  // namespace

bool Token::is_keyword(std::string_view lower_case) const {
  return kind == Kind::word && parts.size() == 1 && !parts.front().quoted && text.size() == lower_case.size() &&
         std::equal(text.begin(), text.end(), lower_case.begin(), [](unsigned char a, char b) { return std::tolower(a) == b; });
}

std::vector<Token> read_tokens(std::string_view text) {
  if (text.size() > kQueryBytesMax)
    throw failure(kTooLarge, "the query has " + std::to_string(text.size()) + " bytes", 1, "at most " + std::to_string(kQueryBytesMax));
  return Lexer(text).read();
}

}  // namespace ringwright::query
