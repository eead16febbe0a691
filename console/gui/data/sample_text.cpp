#include "console/gui/data/sample_text.h"

#include <fmt/format.h>

#include "shared/base/text.h"

namespace ringwright::gui {

std::string visible_bytes(std::string_view bytes) {
  std::string result, odd;
  const auto flush = [&] {
    if (!odd.empty()) result += "<" + odd + ">";
    odd.clear();
  };
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = text::utf8_sequence_bytes(bytes.substr(at));
    const auto byte = static_cast<unsigned char>(bytes[at]);
    const bool shown = length > 1 || (length == 1 && (byte >= 0x20 || byte == '\n' || byte == '\t') && byte != 0x7F);
    if (shown) {
      flush();
      result += bytes.substr(at, length);
      at += length;
    } else {
      odd += fmt::format("{}{:02X}", odd.empty() ? "" : " ", byte);
      ++at;
    }
  }
  flush();
  return result;
}

std::string token_text(std::string_view token) {
  std::string result;
  for (const char c : visible_bytes(token)) {
    if (c == ' ')
      result += "\xC2\xB7";
    else if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else
      result += c;
  }
  return result;
}

}  // namespace ringwright::gui
