#include "shared/base/printable.h"

#include <fmt/format.h>

#include "shared/base/text.h"

namespace ringwright::text {

namespace {

std::string escape(std::string_view given, bool keeps_lines) {
  const std::string text = valid_utf8(std::string(given));
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool kept = byte == '\t' || (byte == '\n' && keeps_lines);
    if ((byte < 0x20 && !kept) || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {  // C1
      result += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return escape(text, false); }

std::string printable_lines(std::string_view text) { return escape(text, true); }

}  // namespace ringwright::text
