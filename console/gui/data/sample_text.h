// Samples as text: bytes that are no text are shown as what they are.
#pragma once

#include <string>
#include <string_view>

namespace ringwright::gui {

// Bytes that are no UTF-8 as <E2 96>, control characters but for line ends and tabs as <07>.
std::string visible_bytes(std::string_view bytes);
// A token by itself: what is seen of it includes its spaces (dots in the middle of the line), line ends and tabs.
std::string token_text(std::string_view token);

}  // namespace ringwright::gui
