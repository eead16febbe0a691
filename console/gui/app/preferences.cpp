#include "console/gui/app/preferences.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "shared/base/files.h"
#include "shared/base/json_depth.h"
#include "shared/base/paths.h"

namespace ringwright::gui {
namespace {

constexpr uint64_t kBytesMax = 16 << 20;
constexpr int64_t kNestingMax = 64;

std::filesystem::path preferences_file() { return paths::config_directory() / "console" / "preferences.json"; }

// "" for what is no file, cannot be read, or was not written by a console.
std::string text_of(const std::filesystem::path& file) {
  if (!files::kind_if_not_regular(file).empty()) return "";
  try {
    std::string text = files::read_all(file, kBytesMax);
    return text::json_depth(text) > kNestingMax ? "" : text;
  } catch (const std::system_error&) {
    return "";
  }
}

}  // namespace

Preferences load_preferences() {
  Preferences preferences;
  const nlohmann::json json = nlohmann::json::parse(text_of(preferences_file()), nullptr, false);
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
