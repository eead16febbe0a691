#include "shared/tokenizer/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "shared/tokenizer/unicode_additions.h"

namespace ringwright::tokenizer::utf8 {
namespace {

// Number of bytes that a lead byte announces, and the range of the second byte (Unicode, table of well-formed sequences).
struct Lead {
  size_t length;
  uint8_t second_first, second_last;
};

Lead lead(uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte < 0xF0) return {3, static_cast<uint8_t>(byte == 0xE0 ? 0xA0 : 0x80), static_cast<uint8_t>(byte == 0xED ? 0x9F : 0xBF)};
  if (byte < 0xF5) return {4, static_cast<uint8_t>(byte == 0xF0 ? 0x90 : 0x80), static_cast<uint8_t>(byte == 0xF4 ? 0x8F : 0xBF)};
  return {0, 0, 0};
}

// Letters, marks and digits that are younger than utf8proc's tables.
bool is_newer_word_character(char32_t character) {
  for (const ClassAdditions& row : class_additions()) {
    if (row.name != "L" && row.name != "M" && row.name != "N") continue;
    for (const CharacterRange& range : row.ranges) {
      if (character >= range.first && character <= range.last) return true;
    }
  }
  return false;
}

bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace

Step step(std::string_view bytes, size_t at) {
  const Lead first = lead(static_cast<uint8_t>(bytes[at]));
  if (first.length <= 1) return {1, first.length == 1};
  for (size_t k = 1; k < first.length; ++k) {
    if (at + k >= bytes.size()) return {k, false};
    const auto byte = static_cast<uint8_t>(bytes[at + k]);
    const uint8_t low = k == 1 ? first.second_first : 0x80, high = k == 1 ? first.second_last : 0xBF;
    if (byte < low || byte > high) return {k, false};
  }
  return {first.length, true};
}

bool is_ascii(std::string_view bytes) {
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    if ((word & 0x8080808080808080ULL) != 0) return false;
  }
  return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), [](char byte) { return static_cast<uint8_t>(byte) < 0x80; });
}

bool is_valid(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const Step next = step(bytes, at);
    if (!next.valid) return false;
    at += next.length;
  }
  return true;
}

std::string replace_invalid(std::string_view bytes) {
  std::string result;
  result.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const Step next = step(bytes, at);
    result.append(next.valid ? bytes.substr(at, next.length) : std::string_view("\xEF\xBF\xBD"));
    at += next.length;
  }
  return result;
}

char32_t character_at(std::string_view bytes, size_t at) {
  const auto byte = [&](size_t k) { return static_cast<char32_t>(static_cast<uint8_t>(bytes[at + k])); };
  switch (lead(static_cast<uint8_t>(bytes[at])).length) {
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    case 4:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    default:
      return byte(0);
  }
}

size_t previous(std::string_view bytes, size_t end) {
  size_t at = end - 1;
  while (at > 0 && is_continuation(bytes[at])) --at;
  return at;
}

void append(std::string& bytes, char32_t character) {
  std::array<utf8proc_uint8_t, 4> buffer{};
  const utf8proc_ssize_t size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), buffer.data());
  bytes.append(reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(size));
}

void character_of_byte(std::string_view bytes, std::vector<uint32_t>& indices) {
  indices.resize(bytes.size());
  uint32_t index = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (at > 0 && !is_continuation(bytes[at])) ++index;
    indices[at] = index;
  }
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_word(char32_t character) {
  if (character == 0x200C || character == 0x200D) return true;  // joiners
  if (is_newer_word_character(character)) return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(character))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return false;
  }
}

}  // namespace ringwright::tokenizer::utf8
