#include "tests/console/gui/close_request.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>

#include <cstring>

namespace ringwright::gui {
namespace {

bool is_shown_as(Display* display, Window window, const char* title) {
  XWindowAttributes attributes;
  char* name = nullptr;
  if (XGetWindowAttributes(display, window, &attributes) == 0 || attributes.map_state != IsViewable) return false;
  const bool same = XFetchName(display, window, &name) != 0 && std::strcmp(name, title) == 0;
  if (name != nullptr) XFree(name);
  return same;
}

void send_close(Display* display, Window window) {
  XEvent event{};
  event.xclient.type = ClientMessage;
  event.xclient.window = window;
  event.xclient.message_type = XInternAtom(display, "WM_PROTOCOLS", False);
  event.xclient.format = 32;
  event.xclient.data.l[0] = static_cast<long>(XInternAtom(display, "WM_DELETE_WINDOW", False));
  XSendEvent(display, window, False, NoEventMask, &event);
  XFlush(display);
}

}  // namespace

// Without a window manager each window is a child of the root.
bool ask_to_close(const char* title) {
  Display* display = XOpenDisplay(nullptr);
  if (display == nullptr) return false;
  Window root = 0, parent = 0, *windows = nullptr;
  unsigned count = 0;
  bool found = false;
  if (XQueryTree(display, DefaultRootWindow(display), &root, &parent, &windows, &count) != 0) {
    for (unsigned i = 0; i < count && !found; ++i) {
      found = is_shown_as(display, windows[i], title);
      if (found) send_close(display, windows[i]);
    }
    if (windows != nullptr) XFree(windows);
  }
  XCloseDisplay(display);
  return found;
}

}  // namespace ringwright::gui
