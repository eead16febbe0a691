// What a window manager does when the user closes a window.
#pragma once

namespace ringwright::gui {

// Whether the X display (DISPLAY) has a visible window of this title, which has then been asked to close.
bool ask_to_close(const char* title);

}  // namespace ringwright::gui
