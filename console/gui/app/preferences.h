// What the console remembers between starts, beside the layouts: theme, scale, and what single views keep.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ringwright::gui {

struct Preferences {
  std::string theme = "dark";
  float scale = 0;                                 // 0: the monitor's
  nlohmann::json kept = nlohmann::json::object();  // by view
};

// Unreadable or odd values give the defaults.
Preferences load_preferences();
void save_preferences(const Preferences& preferences);

}  // namespace ringwright::gui
