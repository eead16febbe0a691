// Private to the folder: what tokenizer.json says, checked and turned into the parts that do the work.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shared/tokenizer/added_tokens.h"
#include "shared/tokenizer/bpe.h"
#include "shared/tokenizer/post_processor.h"
#include "shared/tokenizer/pre_tokenizer.h"

namespace ringwright::tokenizer {

// Ids above this are taken for a damaged file.
inline constexpr int64_t kTokenIdMax = (int64_t{1} << 22) - 1;

struct TokenizerParts {
  std::unordered_map<std::string, int32_t> vocabulary;  // as the file writes the tokens
  Bpe bpe;
  std::vector<AddedToken> added;
  std::vector<SplitStep> split_steps;
  std::vector<PostStep> post_steps;
  bool decodes_bytes = true;  // decoder ByteLevel; else tokens are joined by spaces, as the tokenizers library does without a decoder
};

// Throws RW-TOK-002 and RW-TOK-003.
TokenizerParts read_tokenizer(std::string_view text, const std::string& file_name);

}  // namespace ringwright::tokenizer
