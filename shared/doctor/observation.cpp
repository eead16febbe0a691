#include "shared/doctor/observation.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace ringwright::doctor {

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "/._-+:@%,";
  const auto plain = [&](unsigned char byte) { return std::isalnum(byte) || kPlain.find(static_cast<char>(byte)) != std::string_view::npos; };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string word = "'";
  for (const char byte : text) word += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  return word + "'";
}

}  // namespace ringwright::doctor
