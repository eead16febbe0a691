#include "console/gui/services/keys_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <system_error>

#include "console/gui/services/commands.h"
#include "shared/base/files.h"
#include "shared/base/paths.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

struct NamedKey {
  std::string_view name;
  ImGuiKeyChord chord;
};
constexpr NamedKey kModifiers[] = {{"Ctrl+", ImGuiMod_Ctrl}, {"Alt+", ImGuiMod_Alt}, {"Shift+", ImGuiMod_Shift}};
constexpr NamedKey kNamedKeys[] = {{"Left", ImGuiKey_LeftArrow},
                                   {"Right", ImGuiKey_RightArrow},
                                   {"Up", ImGuiKey_UpArrow},
                                   {"Down", ImGuiKey_DownArrow},
                                   {"PgUp", ImGuiKey_PageUp},
                                   {"PgDn", ImGuiKey_PageDown},
                                   {"Home", ImGuiKey_Home},
                                   {"End", ImGuiKey_End},
                                   {"Ins", ImGuiKey_Insert},
                                   {"Del", ImGuiKey_Delete},
                                   {"Backspace", ImGuiKey_Backspace},
                                   {"Space", ImGuiKey_Space},
                                   {"Enter", ImGuiKey_Enter},
                                   {"Tab", ImGuiKey_Tab},
                                   {",", ImGuiKey_Comma},
                                   {".", ImGuiKey_Period},
                                   {"-", ImGuiKey_Minus},
                                   {"=", ImGuiKey_Equal},
                                   {"+", ImGuiKey_Equal},
                                   {"/", ImGuiKey_Slash},
                                   {";", ImGuiKey_Semicolon},
                                   {"'", ImGuiKey_Apostrophe},
                                   {"[", ImGuiKey_LeftBracket},
                                   {"]", ImGuiKey_RightBracket},
                                   {"\\", ImGuiKey_Backslash},
                                   {"`", ImGuiKey_GraveAccent}};
constexpr int kFunctionKeys = 12;

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::optional<Keys> read_key(std::string_view name) {
  if (name.size() == 1 && std::isalnum(static_cast<unsigned char>(name[0])) != 0) {
    const auto letter = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    const int key = std::isdigit(static_cast<unsigned char>(letter)) != 0 ? ImGuiKey_0 + (letter - '0') : ImGuiKey_A + (letter - 'A');
    return Keys{key, std::string(1, letter)};
  }
  for (int i = 1; i <= kFunctionKeys; ++i)
    if (same(name, fmt::format("F{}", i))) return Keys{ImGuiKey_F1 + i - 1, fmt::format("F{}", i)};
  for (const NamedKey& entry : kNamedKeys)
    if (same(name, entry.name)) return Keys{entry.chord, std::string(entry.name)};
  return std::nullopt;
}

struct Line {
  int number;
  std::string command;
  Keys keys;
};

class Reader {
 public:
  Reader(CommandRegistry& registry, std::filesystem::path file) : registry_(registry), file_(std::move(file)) {}

  void read(const YAML::Node& root) {
    if (root.IsNull()) return;
    if (!root.IsMap()) return fault(root.Mark().line + 1, "expected lines of the form 'command: keys'");
    for (const auto& entry : root) read_line(entry.first, entry.second);
    // First all of them let go of their keys: two commands may change places.
    for (const Line& line : lines_) registry_.rebind(line.command, 0, "");
    for (const Line& line : lines_) give(line);
  }

  void fault(int line, const std::string& what) { faults_.push_back(fmt::format("{}:{}: {}", file_.filename().string(), line, what)); }
  std::vector<std::string> take_faults() { return std::move(faults_); }

 private:
  void read_line(const YAML::Node& name, const YAML::Node& value) {
    const int number = name.Mark().line + 1;
    if (!name.IsScalar() || (!value.IsScalar() && !value.IsNull())) return fault(number, "expected 'command: keys'");
    const std::string command = name.Scalar(), text = value.IsNull() ? "" : value.Scalar();
    if (registry_.find(command) == nullptr) return fault(number, no_command(command));
    if (std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) { return line.command == command; }))
      return fault(number, command + " has its keys above");
    const std::optional<Keys> keys = text.empty() ? Keys{} : read_keys(text);
    if (!keys) return fault(number, fmt::format("'{}' are no keys; expected a form as Ctrl+Shift+P, Alt+Left, F8 or T", text::excerpt(text)));
    if (keys->chord == ImGuiKey_G) return fault(number, "G begins the sequences that go to a view");
    lines_.push_back({number, command, *keys});
  }

  std::string no_command(const std::string& command) const {
    std::vector<std::string> ids;
    for (const Command& known : registry_.all()) ids.push_back(known.id);
    const std::string nearest = text::nearest(command, ids);
    return fmt::format("there is no command '{}'", text::excerpt(command)) + (nearest.empty() ? "" : "; " + nearest + " is near");
  }

  void give(const Line& line) {
    if (line.keys.chord == 0) return;
    const std::string view = registry_.find(line.command)->view;
    const auto [owner, is_first] = given_.emplace(std::pair{view, line.keys.chord}, line.command);
    if (!is_first) return fault(line.number, fmt::format("{} is given to {} above", line.keys.text, owner->second));
    std::vector<std::string> others;
    for (const Command& other : registry_.all())
      if (other.view == view && other.chord == line.keys.chord) others.push_back(other.id);
    for (const std::string& other : others) registry_.rebind(other, 0, "");
    registry_.rebind(line.command, line.keys.chord, line.keys.text);
  }

  CommandRegistry& registry_;
  std::filesystem::path file_;
  std::vector<std::string> faults_;
  std::vector<Line> lines_;
  std::map<std::pair<std::string, ImGuiKeyChord>, std::string> given_;  // by view and chord
};

}  // namespace

std::optional<Keys> read_keys(std::string_view text) {
  ImGuiKeyChord modifiers = 0;
  for (bool found = true; found;) {
    found = false;
    for (const NamedKey& modifier : kModifiers) {
      if ((modifiers & modifier.chord) != 0 || !same(text.substr(0, modifier.name.size()), modifier.name)) continue;
      modifiers |= modifier.chord;
      text.remove_prefix(modifier.name.size());
      found = true;
    }
  }
  std::optional<Keys> keys = read_key(text);
  if (!keys) return std::nullopt;
  keys->chord |= modifiers;
  std::string words;
  for (const NamedKey& modifier : kModifiers)
    if ((modifiers & modifier.chord) != 0) words += modifier.name;
  keys->text = words + keys->text;
  return keys;
}

constexpr uint64_t kBytesMax = 1 << 20;

std::filesystem::path keys_file() { return paths::config_directory() / "console" / "keys.yaml"; }

std::vector<std::string> apply_keys_file(CommandRegistry& registry, const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  Reader reader(registry, file);
  try {
    if (const std::string kind = files::kind_if_not_regular(file); !kind.empty()) throw YAML::Exception(YAML::Mark(), "it is " + kind);
    reader.read(YAML::Load(files::read_all(file, kBytesMax)));
  } catch (const YAML::Exception& error) {
    reader.fault(std::max(error.mark.line, 0) + 1, error.msg);
  } catch (const std::system_error& error) {
    reader.fault(1, error.code().message());
  }
  return reader.take_faults();
}

}  // namespace ringwright::gui
