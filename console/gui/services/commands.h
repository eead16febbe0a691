// The command registry: one row per thing that can be done. Palette, keys, buttons and tests read it.
#pragma once

#include <imgui.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ringwright::gui {

struct Context;

struct Command {
  std::string id;     // "runs.stop"
  std::string title;  // "Stop the current run"
  std::string group;  // "Runs"
  ImGuiKeyChord chord = 0;
  std::string keys;  // as people read it: "Ctrl+."
  // Why it cannot be done now; nullopt when it can.
  std::function<std::optional<std::string>(const Context&)> refusal;
  // The command line that does the same; "" when there is none (a matter of the window only).
  std::function<std::string(const Context&)> cli;
  std::function<void(Context&)> run;
  ImGuiKey after_g = ImGuiKey_None;  // pressed within a second after G
  std::string view = "";             // the chord acts only while this view is focused, and comes before one that acts everywhere
};

class CommandRegistry {
 public:
  // Throws Error RW-GUI-003 when the id is taken.
  void add(Command command);
  const std::vector<Command>& all() const { return commands_; }
  const Command* find(const std::string& id) const;
  // Runs it, notes its command line; when it is refused, says why instead. False when refused or unknown.
  bool run(const std::string& id, Context& context) const;
  std::optional<std::string> refusal(const std::string& id, const Context& context) const;
  // Runs what the keys of this frame ask for. Chords without Ctrl or Alt act only while no text field is active.
  void handle_keys(Context& context);
  // Gives a command another chord; `keys` as people read it.
  void rebind(const std::string& id, ImGuiKeyChord chord, std::string keys);

 private:
  bool handle_sequence(Context& context);
  const Command* pressed(const Context& context) const;

  double g_pressed_at_ = -10;
  std::vector<Command> commands_;
};

// Commands of the shell: workspaces, palette, theme, scale, reset, go to view.
void add_shell_commands(CommandRegistry& registry);

}  // namespace ringwright::gui
