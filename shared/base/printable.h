// Text from elsewhere, made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace ringwright::text {

// Control characters (C0 but the tab, DEL, C1) as "\x1b", so that they can move no cursor and change no colour; the rest as it is. Bytes that are no
// UTF-8 become U+FFFD.
std::string printable(std::string_view text);
// The same for text of several lines: line ends stay.
std::string printable_lines(std::string_view text);

}  // namespace ringwright::text
