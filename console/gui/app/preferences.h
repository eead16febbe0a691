// What the console remembers between starts, beside the layouts: theme and scale.
#pragma once

#include <string>

namespace ringwright::gui {

struct Preferences {
  std::string theme = "dark";
  float scale = 0;  // 0: the monitor's
};

// Unreadable or odd values give the defaults.
Preferences load_preferences();
void save_preferences(const Preferences& preferences);

}  // namespace ringwright::gui
