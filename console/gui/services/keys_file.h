// The operator's own keys: lines "command: keys" of keys.yaml, as "runs.tag: Ctrl+T". "" takes a command's keys away.
#pragma once

#include <imgui.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::gui {

class CommandRegistry;

struct Keys {
  ImGuiKeyChord chord = 0;
  std::string text;  // as people read it
};

// "ctrl+shift+p" -> the chord and "Ctrl+Shift+P"; nullopt where the text names no keys.
std::optional<Keys> read_keys(std::string_view text);

std::filesystem::path keys_file();

// Gives commands the keys of the file; a command that had them by default in the same view has none then. Returns what is wrong, a text for
// each line that is left out; nothing where there is no file.
std::vector<std::string> apply_keys_file(CommandRegistry& registry, const std::filesystem::path& file);

}  // namespace ringwright::gui
