// A view: one dockable window. Each lives in a file of its own and registers itself, so adding one touches no other file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "console/gui/services/commands.h"
#include "console/gui/services/context.h"

namespace ringwright::gui {

class View {
 public:
  virtual ~View() = default;
  // Called once, before the first frame.
  virtual void add_commands(CommandRegistry&) {}
  // Draws into the current window; not called while the view is hidden behind another tab.
  virtual void draw(Context& context) = 0;
  // What `/` does while the view is focused.
  virtual void focus_filter() {}
};

struct ViewEntry {
  std::string id;     // "runs"; the window is "Runs###view.runs"
  std::string title;  // "Runs"
  std::string key;    // the key after G that goes to it
  std::unique_ptr<View> (*make)();
};

// All views, by id.
const std::vector<ViewEntry>& view_entries();

class RegisterView {
 public:
  explicit RegisterView(ViewEntry entry);
};

template <typename T>
std::unique_ptr<View> make_view() {
  return std::make_unique<T>();
}

}  // namespace ringwright::gui
