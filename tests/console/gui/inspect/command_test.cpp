// Everything that can be done can be done from the palette, by its keys and by its button; no two things share an id or keys.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "console/gui/services/style.h"
#include "tests/console/gui/console_fixture.h"
#include "tests/console/gui/inspect/drawn_items.h"
#include "tests/console/gui/inspect/hands.h"
#include "tests/console/gui/scenes.h"

namespace ringwright::gui {
namespace {

class Commands : public ConsoleTest {
 protected:
  // ImGui outlives the console: a field that had the keyboard would keep it, and a question would stay open.
  static void forget_the_console_before() {
    ImGui::ClearActiveID();
    ImGui::ClosePopupsOverWindow(nullptr, false);
  }

  void open_scene(int index) {
    forget_the_console_before();
    open(scene_options(data_scenes()[static_cast<size_t>(index)], folder_.path()));
    if (const auto& change = data_scenes()[static_cast<size_t>(index)].change) change(context());
    frames(3);
  }

  std::vector<std::string> command_ids() {
    std::vector<std::string> ids;
    for (const Command& command : context().commands.all()) ids.push_back(command.id);
    return ids;
  }

  // A console as after its start: what the command before has opened or left is gone.
  const Command& fresh(const std::string& id) {
    Options options = scene_options(data_scenes()[1], folder_.path());
    options.demo_runs = 3;
    forget_the_console_before();
    open(options);
    return *context().commands.find(id);
  }

  auto frame() {
    return [this] { frames(1); };
  }

  // It ran, or was refused with its reason in a toast.
  void expect_done(const std::string& id, const char* way) {
    EXPECT_EQ(context().last_command, id) << "by " << way;
    if (context().last_refused) {
      ASSERT_FALSE(context().toasts.empty()) << id;
      EXPECT_THAT(context().toasts.back().notice.text, ::testing::HasSubstr(context().commands.find(id)->title + ": "));
    }
  }
};

TEST_F(Commands, EachRunsFromThePalette) {
  open_scene(1);
  for (const std::string& id : command_ids()) {
    if (id == "palette.open") continue;
    const Command command = fresh(id);
    hands::press(ImGuiMod_Ctrl | ImGuiKey_P, frame());
    frames(2);
    hands::type(command.title, frame());
    hands::press(ImGuiKey_Enter, frame());
    expect_done(id, "palette");
  }
}

TEST_F(Commands, EachRunsByItsKeys) {
  open_scene(1);
  int with_keys = 0;
  for (const std::string& id : command_ids()) {
    const Command command = fresh(id);
    EXPECT_EQ(command.keys.empty(), command.chord == 0 && command.after_g == ImGuiKey_None) << id;
    if (command.keys.empty()) continue;
    ++with_keys;
    if (!command.view.empty()) context().focus_view = command.view;
    frames(3);
    if (command.after_g != ImGuiKey_None) hands::press(ImGuiKey_G, frame());
    hands::press(command.after_g != ImGuiKey_None ? static_cast<ImGuiKeyChord>(command.after_g) : command.chord, frame());
    expect_done(id, "keys");
  }
  EXPECT_GT(with_keys, 10);
}

TEST_F(Commands, KeysDoNotConflict) {
  open_scene(1);
  std::map<std::pair<std::string, ImGuiKeyChord>, std::string> chords;
  std::map<ImGuiKey, std::string> after_g;
  for (const Command& command : context().commands.all()) {
    if (command.chord != 0) {
      const auto [place, added] = chords.emplace(std::pair{command.view, command.chord}, command.id);
      EXPECT_TRUE(added) << command.keys << ": " << command.id << " and " << place->second;
      EXPECT_NE(command.chord, static_cast<ImGuiKeyChord>(ImGuiKey_G)) << command.id << " takes the key that begins a sequence";
    }
    if (command.after_g == ImGuiKey_None) continue;
    const auto [place, added] = after_g.emplace(command.after_g, command.id);
    EXPECT_TRUE(added) << command.keys << ": " << command.id << " and " << place->second;
  }
}

// Buttons outside of questions: the one that is asked there is no command.
bool is_of_a_question(const DrawnButton& button) {
  return (button.window->RootWindow->Flags & (ImGuiWindowFlags_Popup | ImGuiWindowFlags_Modal)) != 0;
}

// "layout.step" of "###layout.step.3": one of several buttons of one command, told apart by a number.
std::string command_of(const DrawnButton& button) {
  const std::string id = id_in_label(button.label);
  const size_t dot = id.rfind('.');
  return dot != std::string::npos && id.find_first_not_of("0123456789", dot + 1) == std::string::npos ? id.substr(0, dot) : id;
}

TEST_F(Commands, EachButtonHasOneAndRunsIt) {
  std::set<std::string> clicked;
  for (int scene = 0; scene < 3; ++scene) {
    open_scene(scene);
    for (const ViewEntry& entry : view_entries()) {
      std::vector<DrawnButton> buttons;
      app().shell().show_only(entry.id);
      frames(3);
      {
        ItemRecording recording;
        frames(1);
        buttons = recording.buttons();
      }
      for (const DrawnButton& button : buttons) {
        if (is_of_a_question(button)) continue;
        const std::string id = command_of(button);
        EXPECT_TRUE(context().commands.find(id) != nullptr) << "the button '" << button.label << "' in " << entry.id << " has no command";
        if (id != id_in_label(button.label) || button.disabled || !clicked.insert(id).second) continue;
        open_scene(scene);
        app().shell().show_only(entry.id);
        frames(3);
        hands::click(button.place.GetCenter(), frame());
        expect_done(id, "button");
      }
    }
  }
  EXPECT_FALSE(clicked.empty());
  RecordProperty("buttons", static_cast<int>(clicked.size()));
}

// From the start to a stopped run: find it, look at its log, mark it for the plots, stop it. The mouse lies still.
TEST_F(Commands, OneWholeJobIsDoneByKeyboardOnly) {
  open_scene(1);
  fresh("runs.stop");
  hands::press(ImGuiMod_Alt | ImGuiKey_2, frame());
  frames(3);
  EXPECT_EQ(context().workspace, "watch");
  hands::press(ImGuiKey_G, frame());
  hands::press(ImGuiKey_R, frame());
  frames(3);
  hands::press(ImGuiKey_Slash, frame());
  frames(2);
  hands::type("running", frame());
  EXPECT_TRUE(ImGui::GetIO().WantTextInput);
  hands::press(ImGuiKey_Enter, frame());  // leaves the field and keeps what was typed
  frames(2);
  EXPECT_FALSE(ImGui::GetIO().WantTextInput);
  hands::press(ImGuiKey_J, frame());
  const std::string run = context().selection.run;
  ASSERT_EQ(context().run()->record.state, history::RunState::running);
  const bool shown = context().selection.shown.contains(run);
  hands::press(ImGuiKey_X, frame());
  EXPECT_NE(context().selection.shown.contains(run), shown);
  hands::press(ImGuiKey_G, frame());
  hands::press(ImGuiKey_L, frame());
  frames(3);
  EXPECT_EQ(context().focused_view, "logs");
  hands::press(ImGuiMod_Ctrl | ImGuiKey_Period, frame());
  EXPECT_EQ(context().cli_line, "ringwright stop " + run);
  EXPECT_TRUE(eventually([&] { return context().state.find(run)->record.state == history::RunState::stopping; }));
}

TEST_F(Commands, NoTwoItemsShareAnId) {
  for (int scene = 0; scene < static_cast<int>(data_scenes().size()); ++scene) {
    open_scene(scene);
    for (const ViewEntry& entry : view_entries()) {
      app().shell().show_only(entry.id);
      frames(3);
      ItemRecording recording;
      frames(1);
      std::map<ImGuiID, const DrawnItem*> seen;
      EXPECT_GT(recording.items().size(), 10u) << entry.id;
      for (const DrawnItem& item : recording.items()) {
        const auto [place, added] = seen.emplace(item.id, &item);
        const bool same = !added && place->second->place.Min.x == item.place.Min.x && place->second->place.Min.y == item.place.Min.y;
        EXPECT_TRUE(added || same) << entry.id << ", " << data_scenes()[static_cast<size_t>(scene)].name << ": '" << recording.label_of(item.id)
                                   << "' in " << item.window->Name;
      }
    }
  }
}

}  // namespace
}  // namespace ringwright::gui
