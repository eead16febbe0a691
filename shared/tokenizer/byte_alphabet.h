// The byte-level alphabet: every byte has one printable character that stands for it in the vocabulary. Printable Latin-1 bytes stand for
// themselves, the other 68 take U+0100 and on, in byte order (GPT-2's encoder).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringwright::tokenizer {

// The bytes that a vocabulary entry stands for; nullopt when it has a character outside the alphabet.
std::optional<std::string> bytes_of_symbols(std::string_view symbols);
// The character that stands for a byte, as UTF-8.
std::string symbol_of_byte(uint8_t byte);

}  // namespace ringwright::tokenizer
