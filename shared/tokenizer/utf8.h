// UTF-8 with one policy for bytes that are none: each maximal bad part becomes one U+FFFD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::tokenizer::utf8 {

// What starts at a byte: a whole character, or a bad part of that many bytes (at least 1).
struct Step {
  size_t length;
  bool valid;
};

Step step(std::string_view bytes, size_t at);
bool is_ascii(std::string_view bytes);
bool is_valid(std::string_view bytes);
// A copy with each maximal bad part replaced.
std::string replace_invalid(std::string_view bytes);
// The character that starts at `at`; the bytes must be valid there.
char32_t character_at(std::string_view bytes, size_t at);
// Start of the character that ends before `end`; the bytes must be valid.
size_t previous(std::string_view bytes, size_t end);
void append(std::string& bytes, char32_t character);
// For each byte the index of the character that it belongs to.
void character_of_byte(std::string_view bytes, std::vector<uint32_t>& indices);

// White_Space of Unicode, which is what \s means in the patterns and in the flags lstrip and rstrip.
bool is_space(char32_t character);
// Letters, marks, digits and connectors such as the underscore: what single_word does not want beside a token.
bool is_word(char32_t character);

}  // namespace ringwright::tokenizer::utf8
