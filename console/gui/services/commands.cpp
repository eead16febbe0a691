#include "console/gui/services/commands.h"

#include <imgui_internal.h>

#include <algorithm>

#include "console/gui/services/context.h"
#include "console/gui/services/style.h"
#include "shared/base/error.h"

namespace ringwright::gui {
namespace {

constexpr float kScaleStep = 0.25F;
constexpr double kSequenceSeconds = 1;

Command window_command(std::string id, std::string title, ImGuiKeyChord chord, std::string keys, std::function<void(Context&)> run) {
  return {std::move(id), std::move(title), "Window", chord, std::move(keys), nullptr, nullptr, std::move(run)};
}

void change_scale(Context& context, float scale) {
  set_scale(scale);
  context.style_changed = true;
}

struct Workspace {
  const char* id;
  const char* title;
  ImGuiKey key;
  const char* keys;
};
constexpr Workspace kWorkspaces[] = {{"prepare", "Prepare", ImGuiKey_1, "Alt+1"},
                                     {"watch", "Watch", ImGuiKey_2, "Alt+2"},
                                     {"compare", "Compare", ImGuiKey_3, "Alt+3"},
                                     {"investigate", "Investigate", ImGuiKey_4, "Alt+4"}};

}  // namespace

void CommandRegistry::add(Command command) {
  if (find(command.id) != nullptr)
    throw Error({"RW-GUI-003", "two commands have the id " + command.id, command.id, "ids that differ", "rename one of them"});
  commands_.push_back(std::move(command));
}

const Command* CommandRegistry::find(const std::string& id) const {
  const auto found = std::find_if(commands_.begin(), commands_.end(), [&](const Command& command) { return command.id == id; });
  return found == commands_.end() ? nullptr : &*found;
}

std::optional<std::string> CommandRegistry::refusal(const std::string& id, const Context& context) const {
  const Command* command = find(id);
  if (command == nullptr) return "unknown command " + id;
  return command->refusal ? command->refusal(context) : std::nullopt;
}

bool CommandRegistry::run(const std::string& id, Context& context) const {
  const Command* command = find(id);
  if (command == nullptr) return false;
  const auto reason = refusal(id, context);
  context.last_command = id;
  context.last_refused = reason.has_value();
  if (reason) {
    context.notify(Notice::Level::warning, command->title + ": " + *reason);
    return false;
  }
  if (command->cli) {
    if (const std::string line = command->cli(context); !line.empty()) context.cli_line = line;
  }
  command->run(context);
  return true;
}

// G and then a letter goes to a view. True when this frame's key was taken.
bool CommandRegistry::handle_sequence(Context& context) {
  if (ImGui::GetIO().WantTextInput) return false;
  const bool waits = ImGui::GetTime() - g_pressed_at_ <= kSequenceSeconds;
  if (!waits && ImGui::IsKeyChordPressed(ImGuiKey_G)) {
    g_pressed_at_ = ImGui::GetTime();
    return true;
  }
  if (!waits) return false;
  for (const Command& command : commands_) {
    if (command.after_g == ImGuiKey_None || !ImGui::IsKeyChordPressed(command.after_g)) continue;
    g_pressed_at_ = -10;
    return run(command.id, context);
  }
  return false;
}

// A view's own command before one of the same keys that acts everywhere.
const Command* CommandRegistry::pressed(const Context& context) const {
  const Command* found = nullptr;
  for (const Command& command : commands_) {
    if (command.chord == 0 || (!command.view.empty() && command.view != context.focused_view)) continue;
    if (!command.view.empty() && ImGui::GetTopMostPopupModal() != nullptr) continue;  // the keys are the question's
    const bool plain = (command.chord & (ImGuiMod_Ctrl | ImGuiMod_Alt)) == 0 && (command.chord & ~ImGuiMod_Mask_) < ImGuiKey_F1;
    if (plain && ImGui::GetIO().WantTextInput) continue;
    if (!ImGui::IsKeyChordPressed(command.chord)) continue;
    if (!command.view.empty()) return &command;
    if (found == nullptr) found = &command;
  }
  return found;
}

void CommandRegistry::handle_keys(Context& context) {
  if (handle_sequence(context)) return;
  const Command* command = pressed(context);
  if (command == nullptr) return;
  // Enter and Space of a command do not press the button, too, that navigation is at.
  ImGuiContext& state = *ImGui::GetCurrentContext();
  state.NavActivateId = state.NavActivateDownId = state.NavActivatePressedId = 0;
  run(command->id, context);
}

void CommandRegistry::rebind(const std::string& id, ImGuiKeyChord chord, std::string keys) {
  for (Command& command : commands_)
    if (command.id == id) command.chord = chord, command.keys = std::move(keys), command.after_g = ImGuiKey_None;
}

void add_shell_commands(CommandRegistry& registry) {
  for (const Workspace& workspace : kWorkspaces) {
    registry.add(window_command(std::string("workspace.") + workspace.id, std::string("Workspace ") + workspace.title, ImGuiMod_Alt | workspace.key,
                                workspace.keys, [id = workspace.id](Context& context) { context.requested_workspace = id; }));
  }
  registry.add(window_command("palette.open", "Command palette", ImGuiMod_Ctrl | ImGuiKey_P, "Ctrl+P",
                              [](Context& context) { context.palette_wanted = true; }));
  registry.add(window_command("theme.toggle", "Dark or light theme", ImGuiKey_F9, "F9", [](Context& context) {
    set_theme(theme().name == "dark" ? light_theme() : dark_theme());
    context.style_changed = true;
  }));
  registry.add(window_command("scale.larger", "Larger", ImGuiMod_Ctrl | ImGuiKey_Equal,
                              "Ctrl+=", [](Context& context) { change_scale(context, scale() + kScaleStep); }));
  registry.add(window_command("scale.smaller", "Smaller", ImGuiMod_Ctrl | ImGuiKey_Minus, "Ctrl+-",
                              [](Context& context) { change_scale(context, scale() - kScaleStep); }));
  registry.add(window_command("scale.reset", "Size 100 %", ImGuiMod_Ctrl | ImGuiKey_0, "Ctrl+0", [](Context& context) { change_scale(context, 1); }));
  registry.add(window_command("layout.reset", "Reset layout of this workspace", 0, "", [](Context& context) { context.reset_layout_wanted = true; }));
  registry.add(window_command("filter.focus", "Filter the focused view", ImGuiKey_Slash, "/", [](Context& context) {
    if (context.focus_filter) context.focus_filter();
  }));
  registry.add({"toast.undo", "Undo the edit that was just made", "Window", 0, "",
                [](const Context& context) {
                  return context.undoable() == nullptr ? std::optional<std::string>("nothing was edited in the last 10 s") : std::nullopt;
                },
                nullptr, [](Context& context) { context.undo(); }});
  registry.add(window_command("selection.back", "Back to what was selected before", ImGuiMod_Alt | ImGuiKey_LeftArrow, "Alt+Left",
                              [](Context& context) { context.step_back(-1); }));
  registry.add(window_command("selection.forward", "Forward to what was selected after", ImGuiMod_Alt | ImGuiKey_RightArrow, "Alt+Right",
                              [](Context& context) { context.step_back(1); }));
  registry.add(window_command("view.pin", "Pin the focused view to what it shows, or let it go", ImGuiMod_Ctrl | ImGuiKey_K, "Ctrl+K",
                              [](Context& context) { context.pin_toggled = context.focused_view; }));
  registry.add(window_command("window.quit", "Quit", ImGuiMod_Ctrl | ImGuiKey_Q, "Ctrl+Q", [](Context& context) { context.quit_wanted = true; }));
}

}  // namespace ringwright::gui
