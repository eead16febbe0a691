// What is done to the tokens of one text, or of a pair, after they have been found: trimmed offsets, tokens of a template.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "shared/tokenizer/tokenizer.h"

namespace ringwright::tokenizer {

// Characters of white space at the ends of a token, which trimmed offsets leave out.
struct TokenSpaces {
  int32_t leading = 0, trailing = 0;
};

// One text's tokens on their way. An added token may have taken white space along, so its spaces are those of the text: (index of the token, spaces).
struct Tokenized {
  PairEncoding encoding;
  std::vector<std::pair<size_t, TokenSpaces>> added;
};

struct TemplateItem {
  int sequence = -1;             // 0 or 1: the tokens of that text; -1: the special tokens
  std::vector<int32_t> special;  // ids
  int64_t type_id = 0;
};

struct PostStep {
  bool trims = false;             // trim offsets; else a template
  bool trim_keeps_prefix = true;  // one leading space at the start of the text is the one that was put there
  std::vector<TemplateItem> single, pair;
};

class PostProcessor {
 public:
  explicit PostProcessor(std::vector<PostStep> steps) : steps_(std::move(steps)) {}

  // `texts`: one or two; `spaces`: of each id. Without a template the texts follow each other, with type ids 0 and 1.
  PairEncoding run(std::vector<Tokenized> texts, const std::vector<TokenSpaces>& spaces, bool with_template) const;

 private:
  std::vector<PostStep> steps_;
};

}  // namespace ringwright::tokenizer
