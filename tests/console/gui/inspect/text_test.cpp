// Every view in both themes, at two scales and in many states: no text is cut without an ellipsis, over another, pale or small.
#include <gmock/gmock.h>
#include <imgui_internal.h>
#include <stdlib.h>

#include <set>

#include "console/gui/services/style.h"
#include "console/gui/views/view_layout.h"
#include "tests/console/gui/console_fixture.h"
#include "tests/console/gui/inspect/text_faults.h"
#include "tests/console/gui/scenes.h"
#include "tests/deep_tier.h"

namespace ringwright::gui {
namespace {

class Texts : public ConsoleTest {
 protected:
  // The faults of what is shown, each once however often it is drawn.
  std::set<std::string> faults_now() {
    frames(4);
    const std::vector<DrawnText> texts = [&] {
      const TextRecording recording;
      frames(1);
      return recording.texts();
    }();
    const TextMute muted;
    frames(1);
    const std::vector<std::string> faults = text_faults(texts, *ImGui::GetDrawData());
    EXPECT_FALSE(texts.empty()) << "nothing was drawn";
    return {faults.begin(), faults.end()};
  }

  void expect_clean(const Scene& scene, const char* theme_name, float factor) {
    Options options = scene_options(scene, folder_.path());
    options.theme = theme_name;
    options.scale = factor;
    open(options);
    EXPECT_TRUE(eventually([&] { return !app().is_reading(); }));
    if (scene.change) scene.change(context());
    ASSERT_FALSE(view_entries().empty());
    for (const ViewEntry& entry : view_entries()) {
      app().shell().show_only(entry.id);
      for (const std::string& fault : faults_now())
        ADD_FAILURE() << entry.id << ", " << scene.name << ", " << theme_name << ", " << factor << ": " << fault;
    }
  }

  void expect_clean_at(float factor) {
    start(Graphics::Mode::none, static_cast<int>(1600 * factor), static_cast<int>(900 * factor));
    for (const char* theme_name : {"dark", "light"}) {
      for (const Scene& scene : data_scenes()) expect_clean(scene, theme_name, factor);
      for (const Scene& scene : trouble_scenes()) expect_clean(scene, theme_name, factor);
    }
  }
};

// The inspection itself: each kind of fault is found, and a clean text is none.
TEST_F(Texts, FaultsAreFound) {
  open(scene_options(data_scenes()[1], folder_.path()));
  const auto draw_window = [](const std::function<void(ImDrawList*)>& draw) {
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({300, 200});
    ImGui::Begin("inspected", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings);
    draw(ImGui::GetWindowDrawList());
    ImGui::End();
    ImGui::Render();
  };
  const auto faults_of = [&](const std::function<void(ImDrawList*)>& draw) {
    frames(1);
    const TextRecording recording;
    draw_window(draw);
    const std::vector<DrawnText> texts = recording.texts();
    const TextMute muted;
    draw_window(draw);
    return text_faults(texts, *ImGui::GetDrawData());
  };
  const auto at = [](ImDrawList* list, ImVec2 place, const char* words, float size = 14, Token ink = Token::text) {
    list->AddText(font(Role::body), size, place, color(ink), words);
  };
  const auto one = [](const std::string& start) { return ::testing::ElementsAre(::testing::StartsWith(start)); };
  EXPECT_THAT(faults_of([&](ImDrawList* list) { at(list, {20, 20}, "clean"), at(list, {20, 40}, "text"); }), ::testing::IsEmpty());
  EXPECT_THAT(faults_of([&](ImDrawList* list) { at(list, {270, 20}, "longer than the window"); }), one("cut to"));
  EXPECT_THAT(faults_of([&](ImDrawList* list) { at(list, {20, 20}, "one"), at(list, {30, 24}, "another"); }), one("over another"));
  EXPECT_THAT(faults_of([&](ImDrawList* list) { at(list, {20, 20}, "small", 10); }), one("10 px"));
  EXPECT_THAT(faults_of([&](ImDrawList* list) { at(list, {20, 20}, "pale", 14, Token::line2); }), one("contrast"));
  EXPECT_THAT(faults_of([&](ImDrawList* list) {
                list->AddRectFilled({10, 10}, {200, 60}, color(Token::text2), 4);
                at(list, {20, 20}, "on a fill of nearly its colour");
              }),
              one("contrast"));
}

TEST_F(Texts, AreWholeApartAndReadableInEveryViewAt100Percent) { expect_clean_at(1); }
TEST_F(Texts, AreWholeApartAndReadableInEveryViewAt200Percent) { expect_clean_at(2); }

// Without any font of its own the console draws with ImGui's, letters stand in for icons, and it says what to install.
TEST_F(Texts, AreWholeApartAndReadableWithoutFonts) {
  ::setenv("RINGWRIGHT_FONT_ROOT", "/nowhere", 1);
  start(Graphics::Mode::none, 1600, 900);
  open(scene_options(data_scenes()[1], folder_.path()));
  ::unsetenv("RINGWRIGHT_FONT_ROOT");
  ASSERT_EQ(context().toasts.size(), 1u);
  for (const char* package : {"fonts-inter", "fonts-jetbrains-mono", "fonts-materialdesignicons-webfont"})
    EXPECT_THAT(context().toasts.back().notice.text, ::testing::HasSubstr(package));
  context().toasts.clear();
  for (const ViewEntry& entry : view_entries()) {
    app().shell().show_only(entry.id);
    for (const std::string& fault : faults_now()) ADD_FAILURE() << entry.id << ", no fonts: " << fault;
  }
}

// 75 % to 300 %, and windows too small for the design: nothing overlaps, is cut without an ellipsis or drawn nowhere.
TEST_F(Texts, AreWholeApartAndReadableAtTheEndsOfTheScale) {
  struct Window {
    int width, height;
    float scale;
  };
  for (const Window& window : {Window{1280, 800, 0.75F}, Window{3840, 2160, 3}, Window{1600, 900, 1.5F}}) {
    start(Graphics::Mode::none, window.width, window.height);
    expect_clean(data_scenes()[2], "dark", window.scale);
    expect_clean(data_scenes()[4], "light", window.scale);
  }
}

// As a column of a small window, or a view that was dragged to a corner. The bars around it are as wide as a window, and not looked at.
TEST_F(Texts, AreWholeApartAndReadableInANarrowColumn) {
  start(Graphics::Mode::none, 400, 640);
  for (const Scene& scene : {data_scenes()[1], data_scenes()[4]}) {
    Options options = scene_options(scene, folder_.path());
    options.theme = "dark";
    options.recipe = std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / "assets/recipes/packed-sft-cp2-balanced.yaml";
    open(options);
    EXPECT_TRUE(eventually([&] { return !app().is_reading() && context().recipe.is_open(); }));
    if (scene.change) scene.change(context());
    const auto expect_whole = [&](const std::string& view) {
      for (const std::string& fault : faults_now())
        if (fault.find("###shell.") == std::string::npos) ADD_FAILURE() << view << ", " << scene.name << ", narrow: " << fault;
    };
    for (const char* view : {"launch", "memory", "samples", "rollout", "teacher", "alignment"}) {
      app().shell().show_only(view);
      expect_whole(view);
      const std::string other_form = std::string(view) + ".form";
      for (int form = 0; context().commands.find(other_form) != nullptr && form < 4; ++form) {
        context().commands.run(other_form, context());
        expect_whole(view);
      }
    }
  }
}

// From a million tokens, a third of them padding, to the cells of four; packed documents, too. What is drawn goes by the pixels.
TEST_F(Texts, AreWholeApartAndReadableHoweverFarTheLayoutIsZoomed) {
  constexpr int kVerticesMax = 60'000;
  const LayoutQuestion questions[] = {
      {"round_robin", 64, 1'000'000, 700'000}, {"balanced", 8, 1'000'000, 1'000'000, 4, 512}, {"thd", 4, 8 * 250, 8 * 240, 8}};
  start(Graphics::Mode::none, 1600, 900);
  for (const char* theme_name : {"dark", "light"}) {
    Options options = scene_options(data_scenes()[1], folder_.path());
    options.theme = theme_name;
    open(options);
    app().shell().show_only("layout");
    frames(3);
    auto& view = dynamic_cast<ViewLayout&>(*app().shell().view("layout"));
    for (const LayoutQuestion& question : questions) {
      context().commands.run("layout.fit", context());
      view.ask(question);
      for (int i = 0; i < 45; ++i) {
        if (i % 3 == 0) {
          for (const std::string& fault : faults_now())
            ADD_FAILURE() << question.layout << ", " << theme_name << ", " << shown_text(view.zoom()) << ": " << fault;
        }
        frames(1);
        EXPECT_LT(ImGui::GetDrawData()->TotalVtxCount, kVerticesMax) << question.layout << ", " << shown_text(view.zoom());
        context().commands.run("layout.zoom_in", context());
        context().commands.run("layout.right", context());
      }
      EXPECT_EQ(view.zoom().span(), static_cast<double>(kTokensShownMin)) << question.layout;
    }
  }
}

TEST_F(Texts, AreWholeApartAndReadableInEveryWorkspace) {
  ASSERT_EQ(workspaces().size(), 4u);
  start(Graphics::Mode::none, 1600, 900);
  for (const char* theme_name : {"dark", "light"}) {
    for (const WorkspaceEntry& entry : workspaces()) {
      Options options = scene_options(data_scenes()[2], folder_.path());
      options.theme = theme_name;
      options.view = entry.id;
      open(options);
      for (const std::string& fault : faults_now()) ADD_FAILURE() << entry.id << ", " << theme_name << ": " << fault;
    }
  }
}

}  // namespace
}  // namespace ringwright::gui
