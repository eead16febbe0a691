#include "shared/tokenizer/byte_alphabet.h"

#include <array>

#include "shared/tokenizer/utf8.h"

namespace ringwright::tokenizer {
namespace {

constexpr char32_t kFirstStandIn = 0x100;
constexpr size_t kAlphabetEnd = 0x100 + 68;

bool stands_for_itself(int byte) { return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF); }

struct Alphabet {
  std::array<char32_t, 256> character_of_byte{};
  std::array<int16_t, kAlphabetEnd> byte_of_character{};

  Alphabet() {
    byte_of_character.fill(-1);
    char32_t next = kFirstStandIn;
    for (int byte = 0; byte < 256; ++byte) {
      const char32_t character = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
      character_of_byte[static_cast<size_t>(byte)] = character;
      byte_of_character[character] = static_cast<int16_t>(byte);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet instance;
  return instance;
}

}  // namespace

std::optional<std::string> bytes_of_symbols(std::string_view symbols) {
  std::string bytes;
  for (size_t at = 0; at < symbols.size();) {
    const utf8::Step next = utf8::step(symbols, at);
    if (!next.valid) return std::nullopt;
    const char32_t character = utf8::character_at(symbols, at);
    if (character >= kAlphabetEnd || alphabet().byte_of_character[character] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(alphabet().byte_of_character[character]));
    at += next.length;
  }
  return bytes;
}

std::string symbol_of_byte(uint8_t byte) {
  std::string symbol;
  utf8::append(symbol, alphabet().character_of_byte[byte]);
  return symbol;
}

}  // namespace ringwright::tokenizer
