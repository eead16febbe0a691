// A tokenizer.json in a few lines, for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shared/tokenizer/byte_alphabet.h"
#include "shared/tokenizer/tokenizer.h"

namespace ringwright::tokenizer {

// All 256 bytes (ids 0..255 in byte order), then one token for each merge of two entries. Change what a test is about, then load().
inline nlohmann::json small_tokenizer(const std::vector<std::pair<std::string, std::string>>& merges = {}) {
  nlohmann::json vocab, pairs = nlohmann::json::array();
  for (int byte = 0; byte < 256; ++byte) vocab[symbol_of_byte(static_cast<uint8_t>(byte))] = byte;
  for (const auto& [left, right] : merges) {
    const auto id = vocab.size();
    if (!vocab.contains(left + right)) vocab[left + right] = id;
    pairs.push_back(left + " " + right);
  }
  return {{"added_tokens", nlohmann::json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", pairs}}}};
}

inline nlohmann::json added_token(int id, const std::string& content, const nlohmann::json& flags = nlohmann::json::object()) {
  nlohmann::json token = {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                          {"rstrip", false}, {"normalized", false}, {"special", true}};
  token.update(flags);
  return token;
}

inline Tokenizer load(const nlohmann::json& json) { return Tokenizer::from_text(json.dump(), "small.json"); }

}  // namespace ringwright::tokenizer
