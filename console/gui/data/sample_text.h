// Samples as text: bytes that are no text are shown as what they are.
#pragma once

#include <string>
#include <string_view>

namespace ringwright::gui {

// Bytes that are no UTF-8 as <E2 96>, control characters but for line ends and tabs as <07>.
std::string visible_bytes(std::string_view bytes);

}  // namespace ringwright::gui
