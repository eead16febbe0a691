#include "console/gui/services/layouts.h"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "shared/base/paths.h"

namespace ringwright::gui {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kHeader = "; ringwright-console layout 1\n";
constexpr std::string_view kEnd = "; end\n";
constexpr int kWidthMin = 100, kHeightMin = 80, kPlaceMax = 32'768, kTitleBarReach = 40;

struct Pair {
  int x = 0, y = 0;
};

// "Key=12,34" anywhere in the line.
std::optional<Pair> pair_in(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  Pair pair;
  const char* end = line.data() + line.size();
  const auto first = std::from_chars(line.data() + at + key.size(), end, pair.x);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return Pair{-kPlaceMax, -kPlaceMax};
  if (std::from_chars(first.ptr + 1, end, pair.y).ec != std::errc()) return Pair{-kPlaceMax, -kPlaceMax};
  return pair;
}

std::string word_after(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return "";
  const size_t start = at + key.size();
  return std::string(line.substr(start, line.find_first_of(" ,\t", start) - start));
}

struct WindowEntry {
  std::string name;
  std::optional<Pair> place, size;
  bool docked = false;
};

std::string window_fault(const std::vector<WindowEntry>& windows) {
  size_t tiny = 0;
  for (const WindowEntry& window : windows) {
    if (!window.place || !window.size) continue;
    const Pair place = *window.place, size = *window.size;
    const bool small = size.x < kWidthMin || size.y < kHeightMin;
    tiny += small ? 1 : 0;
    if (small && !window.docked) return "window " + window.name + " is smaller than 100 x 80";
    if (place.y < 0 || place.x + size.x < kTitleBarReach || place.x > kPlaceMax || place.y > kPlaceMax)
      return "window " + window.name + " is off the screen";
  }
  if (!windows.empty() && tiny == windows.size()) return "every window is smaller than 100 x 80";
  return "";
}

std::string node_fault(std::string_view line, std::map<std::string, int>& children, std::set<std::string>& split) {
  const std::string id = word_after(line, "ID="), parent = word_after(line, "Parent=");
  if (id.empty()) return "a dock node has no id";
  if (line.find("Split=") != std::string_view::npos) split.insert(id);
  children.try_emplace(id, 0);
  if (!parent.empty()) {
    if (!children.contains(parent)) return "a dock node has an unknown parent";
    ++children[parent];
  }
  for (const std::string_view key : {" Size=", "SizeRef="}) {
    if (const auto size = pair_in(line, key); size && (size->x < 1 || size->y < 1)) return "dock node " + id + " has no size";
  }
  return "";
}

fs::path free_name(const fs::path& file) {
  for (int n = 1;; ++n) {
    fs::path name = file;
    name += ".damaged-" + std::to_string(n);
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(name, ignored))) return name;
  }
}

LoadedLayout set_aside(const fs::path& file, const std::string& fault) {
  const fs::path kept = free_name(file);
  std::error_code failed;
  fs::rename(file, kept, failed);
  const std::string fate = failed ? "it could not be renamed: " + failed.message() : "kept as " + kept.filename().string();
  return {std::nullopt, "The saved layout cannot be used (" + fault + "); " + fate + ". The default is shown."};
}

}  // namespace

fs::path layout_file(std::string_view workspace) { return paths::config_directory() / "console" / ("layout-" + std::string(workspace) + ".ini"); }

std::string layout_fault(std::string_view text) {
  if (!text.starts_with(kHeader)) return "it is no layout of this version";
  if (!text.ends_with(kEnd)) return "it is cut off";
  std::vector<WindowEntry> windows;
  std::map<std::string, int> children;
  std::set<std::string> split;
  std::istringstream stream{std::string(text)};
  bool in_window = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("[")) {
      in_window = line.starts_with("[Window][");
      if (in_window) windows.push_back({line.substr(9, line.size() - 10), {}, {}, false});
    } else if (in_window && line.starts_with("Pos=")) {
      windows.back().place = pair_in(line, "Pos=");
    } else if (in_window && line.starts_with("Size=")) {
      windows.back().size = pair_in(line, "Size=");
    } else if (in_window && line.starts_with("DockId=")) {
      windows.back().docked = true;
    } else if (line.find("DockNode") != std::string::npos || line.find("DockSpace") != std::string::npos) {
      if (std::string fault = node_fault(line, children, split); !fault.empty()) return fault;
    }
  }
  for (const auto& [id, count] : children) {
    if (count != (split.contains(id) ? 2 : 0)) return "dock node " + id + " is split and has " + std::to_string(count) + " children";
  }
  return window_fault(windows);
}

LoadedLayout load_layout(const fs::path& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (!fs::exists(status)) return {};
  if (!fs::is_regular_file(status)) return set_aside(file, "it is no file");
  if (fs::file_size(file, ignored) > kLayoutBytesMax) return set_aside(file, "it has more than 1 MiB");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return {std::nullopt, "The saved layout " + file.string() + " cannot be read. The default is shown."};
  std::ostringstream text;
  text << stream.rdbuf();
  if (const std::string fault = layout_fault(text.str()); !fault.empty()) return set_aside(file, fault);
  return {text.str(), ""};
}

std::string save_layout(const fs::path& file, std::string_view ini) {
  const std::string sorry = "The layout cannot be saved to " + file.string();
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed) return sorry + ": " + failed.message();
  fs::path part = file;
  part += ".part-" + std::to_string(::getpid());
  {
    std::ofstream stream(part, std::ios::binary | std::ios::trunc);
    stream << (ini.starts_with(kHeader) ? "" : kHeader) << ini << (ini.ends_with(kEnd) ? "" : kEnd);
    if (!stream.flush()) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) fs::rename(part, file, failed);
  if (!failed) return "";
  std::error_code ignored;
  fs::remove(part, ignored);
  return sorry + ": " + failed.message();
}

}  // namespace ringwright::gui
