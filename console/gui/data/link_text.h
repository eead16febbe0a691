// The connection in words.
#pragma once

#include <string>
#include <vector>

#include "console/gui/data/state.h"

namespace ringwright::gui {

// Beside the state's own word: "ssh://head-01", "41 s ago  ssh://head-01", "attempt 3, next in 4 s".
std::string link_place_text(const Link& link, int64_t now_unix_ns);
// All there is to say, a line each: the place, since when the tunnel stands, the last message, the attempts, what went wrong.
std::vector<std::string> link_lines(const Link& link, int64_t now_unix_ns);

}  // namespace ringwright::gui
