// Tokens that are found in the text before anything else is done to it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::tokenizer {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;  // only where no letter, digit or underscore stands beside it
  bool lstrip = false;       // takes the white space to its left along
  bool rstrip = false;
  bool normalized = false;  // looked for after the normaliser, that is in a second pass
  bool special = false;
};

// A stretch of the text: an added token, or (token null) what lies between.
struct Section {
  size_t begin, end;
  const AddedToken* token;
};

class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens);
  AddedTokens(AddedTokens&&) = default;
  AddedTokens(const AddedTokens&) = delete;  // the lists point into the tokens
  AddedTokens& operator=(const AddedTokens&) = delete;

  const std::vector<AddedToken>& all() const { return tokens_; }
  // Replaces `sections` by the whole text, cut at the tokens. Tokens that aren't normalised go first; of those that start at one place the longest
  // wins.
  void cut(std::string_view text, std::vector<Section>& sections) const;

 private:
  // Tokens by their first byte, the longest first.
  using ByFirstByte = std::array<std::vector<const AddedToken*>, 256>;
  static const AddedToken* match(const ByFirstByte& tokens, std::string_view text, size_t at);
  static void cut_section(const ByFirstByte& tokens, std::string_view text, size_t begin, size_t end, std::vector<Section>& sections);

  std::vector<AddedToken> tokens_;
  ByFirstByte raw_, normalized_;
  bool any_normalized_ = false;
};

}  // namespace ringwright::tokenizer
