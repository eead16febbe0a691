// Keys, mouse and text at random, over all workspaces and many states: nothing breaks, and what is drawn stays drawable.
#include <imgui_internal.h>

#include <chrono>
#include <cmath>
#include <random>

#include "console/gui/services/style.h"
#include "tests/console/gui/console_fixture.h"
#include "tests/console/gui/scenes.h"
#include "tests/deep_tier.h"

namespace ringwright::gui {
namespace {

// What an operator might do next, and how often.
class RandomHands {
 public:
  explicit RandomHands(uint32_t seed) : random_(seed) {}

  void act(ImVec2 size) {
    const int kind = below(100);
    if (kind < 35) return move(size);
    if (kind < 55) return button();
    if (kind < 63) return ImGui::GetIO().AddMouseWheelEvent(0, static_cast<float>(below(7)) - 3);
    if (kind < 90) return key();
    type();
  }

 private:
  int below(int count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }

  void move(ImVec2 size) {
    // Mostly small moves, which hover and drag; at times anywhere, the edges and beyond included.
    place_ = below(4) == 0 ? ImVec2(static_cast<float>(below(static_cast<int>(size.x) + 40) - 20),
                                    static_cast<float>(below(static_cast<int>(size.y) + 40) - 20))
                           : ImVec2(place_.x + static_cast<float>(below(61) - 30), place_.y + static_cast<float>(below(41) - 20));
    ImGui::GetIO().AddMousePosEvent(place_.x, place_.y);
  }

  void button() {
    const int which = below(8) == 0 ? 1 : 0;
    ImGui::GetIO().AddMouseButtonEvent(which, down_[which] = !down_[which]);
  }

  void key() {
    constexpr ImGuiKey mods[] = {ImGuiKey_None, ImGuiKey_None, ImGuiKey_None, ImGuiMod_Ctrl, ImGuiMod_Alt, ImGuiMod_Shift};
    const ImGuiKey mod = mods[below(std::size(mods))];
    const auto pressed = static_cast<ImGuiKey>(ImGuiKey_NamedKey_BEGIN + below(ImGuiKey_GamepadStart - ImGuiKey_NamedKey_BEGIN));
    if (mod != ImGuiKey_None) ImGui::GetIO().AddKeyEvent(mod, true);
    ImGui::GetIO().AddKeyEvent(pressed, true);
    ImGui::GetIO().AddKeyEvent(pressed, false);
    if (mod != ImGuiKey_None) ImGui::GetIO().AddKeyEvent(mod, false);
  }

  void type() {
    constexpr const char* words[] = {"0", "9999999999999999999", "-1", "a", "\xE5\x9B\x9B", "[(", "%s%n", "##x", "1e400", "\t", "state = failed"};
    ImGui::GetIO().AddInputCharactersUTF8(words[below(std::size(words))]);
  }

  std::minstd_rand random_;
  ImVec2 place_{100, 100};
  bool down_[2] = {false, false};
};

class RandomInput : public ConsoleTest {
 protected:
  static void SetUpTestSuite() { start(Graphics::Mode::none, 1280, 800); }

  void expect_drawable() {
    for (const ImDrawList* list : ImGui::GetDrawData()->CmdLists) {
      for (const ImDrawVert& corner : list->VtxBuffer)
        ASSERT_TRUE(std::isfinite(corner.pos.x) && std::isfinite(corner.pos.y)) << (list->_OwnerName != nullptr ? list->_OwnerName : "");
    }
  }
};

TEST_F(RandomInput, BreaksNothing) {
  const auto end = std::chrono::steady_clock::now() + test::by_tier(std::chrono::seconds(4), std::chrono::seconds(600));
  std::vector<Scene> scenes = data_scenes();
  scenes.insert(scenes.end(), trouble_scenes().begin(), trouble_scenes().end());
  int frames_drawn = 0;
  for (uint32_t round = 0; std::chrono::steady_clock::now() < end; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Scene& scene = scenes[round % scenes.size()];
    Options options = scene_options(scene, folder_.path());
    options.view = workspaces()[round / scenes.size() % workspaces().size()].id;
    open(options);
    if (scene.change) scene.change(context());
    RandomHands hands(round + 1);
    for (int i = 0; i < 250 && !HasFatalFailure(); ++i) {
      hands.act(ImGui::GetIO().DisplaySize);
      frames(1);
      if (i % 25 == 0) expect_drawable();
    }
    frames_drawn += 250;
    ASSERT_FALSE(HasFatalFailure());
  }
  RecordProperty("frames", frames_drawn);
}

}  // namespace
}  // namespace ringwright::gui
