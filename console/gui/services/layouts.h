// Dock layouts, one file a workspace, checked before ImGui's parser sees them: that one is not made for damaged data (T38).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ringwright::gui {

inline constexpr size_t kLayoutBytesMax = 1 << 20;

// $XDG_CONFIG_HOME/ringwright/console/layout-<workspace>.ini
std::filesystem::path layout_file(std::string_view workspace);

// What is wrong with a layout's text, "" when it can be used: header and end mark, windows of at least 100 x 80 with their title bar
// in reach, dock nodes with a size and no or two children.
std::string layout_fault(std::string_view text);

struct LoadedLayout {
  std::optional<std::string> ini;  // nullopt: use the default
  std::string notice;              // one sentence for the operator, "" when there is nothing to say
};
// An unusable file is renamed to <name>.damaged-<n> and the default is to be used.
LoadedLayout load_layout(const std::filesystem::path& file);

// Writes to a temporary file, then renames it. Returns a notice when that is not possible, else "".
std::string save_layout(const std::filesystem::path& file, std::string_view ini);

}  // namespace ringwright::gui
