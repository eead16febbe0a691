#include "console/gui/app/preferences.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "shared/base/paths.h"

namespace ringwright::gui {
namespace {
std::filesystem::path preferences_file() { return paths::config_directory() / "console" / "preferences.json"; }
}  // namespace

Preferences load_preferences() {
  Preferences preferences;
  std::ifstream stream(preferences_file());
  const nlohmann::json json = nlohmann::json::parse(stream, nullptr, false);
  if (!json.is_object()) return preferences;
  if (json.contains("theme") && (json["theme"] == "dark" || json["theme"] == "light")) preferences.theme = json["theme"];
  if (json.contains("scale") && json["scale"].is_number()) {
    const float scale = json["scale"].get<float>();
    if (scale >= 0.75F && scale <= 3.0F) preferences.scale = scale;
  }
  if (json.contains("views") && json["views"].is_object()) preferences.kept = json["views"];
  return preferences;
}

void save_preferences(const Preferences& preferences) {
  std::error_code ignored;
  std::filesystem::create_directories(preferences_file().parent_path(), ignored);
  std::filesystem::path part = preferences_file();
  part += ".part";
  {
    std::ofstream stream(part);
    stream << nlohmann::json{{"theme", preferences.theme}, {"scale", preferences.scale}, {"views", preferences.kept}}.dump(2) << "\n";
    if (!stream.flush()) return;
  }
  std::filesystem::rename(part, preferences_file(), ignored);
}

}  // namespace ringwright::gui
