// The Prepare workspace: one recipe, shown by several views, changed by each.
#include <gmock/gmock.h>
#include <imgui_internal.h>

#include <fstream>

#include "console/gui/views/view_guards.h"
#include "console/gui/views/view_launch.h"
#include "console/gui/views/view_layout.h"
#include "console/gui/views/view_mesh.h"
#include "tests/console/gui/console_fixture.h"

namespace ringwright::gui {
namespace {

class Prepare : public ConsoleTest {
 public:
  static Prepare& self() { return static_cast<Prepare&>(ConsoleTest::self()); }

  // A copy of a sample, with its parents.
  std::filesystem::path sample(const std::string& name) const {
    std::filesystem::copy(std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / "assets/recipes", folder_.path() / "recipes",
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::skip_existing);
    return folder_.path() / "recipes" / name;
  }
  void open_sample(const std::string& name, const std::string& view = "prepare") {
    Options options = demo_options(3, view);
    options.recipe = sample(name);
    open(options);
    ASSERT_TRUE(eventually([&] { return context().recipe.is_open() && context().recipe.is_idle(); }));
    frames(2);
  }
  std::string text() { return context().recipe.document().text(); }
  void settle() {
    EXPECT_TRUE(eventually([&] { return context().recipe.is_idle(); }));
    frames(2);
  }
  template <class V>
  V& view(const char* id) {
    return dynamic_cast<V&>(*app().shell().view(id));
  }
};

TEST_F(Prepare, ADemonstrationStartsNoRuns) {
  open_sample("demo-sft-cp2.yaml");
  ASSERT_EQ(context().recipe.guards(support_matrix::Target::ringwright).first_refused(), nullptr);
  EXPECT_THAT(context().commands.refusal("recipe.launch", context()).value_or(""), ::testing::StartsWith("a demonstration starts no runs"));
  EXPECT_FALSE(context().commands.run("recipe.launch", context()));
  EXPECT_FALSE(context().recipe.is_launching());
}

TEST_F(Prepare, SuggestionsAreOfTheRecipeThatIsShown) {
  open_sample("demo-sft-cp2.yaml");
  ASSERT_TRUE(context().commands.run("mesh.suggest", context()));
  ASSERT_TRUE(eventually([&] { return !view<ViewMesh>("mesh").suggestions().empty(); }));
  std::filesystem::copy_file(sample("demo-sft-cp2.yaml"), folder_.path() / "recipes/other.yaml");
  context().recipe.open(folder_.path() / "recipes/other.yaml");
  settle();
  ASSERT_EQ(context().recipe.document().file().filename(), "other.yaml");
  EXPECT_TRUE(view<ViewMesh>("mesh").suggestions().empty());

  ASSERT_TRUE(context().commands.run("mesh.suggest", context()));
  context().recipe.open(sample("demo-sft-cp2.yaml"));  // before they have come
  settle();
  EXPECT_TRUE(view<ViewMesh>("mesh").suggestions().empty());
}

TEST_F(Prepare, ARecipeIsReadCheckedAndShownByAllViews) {
  open_sample("demo-sft-cp2.yaml");
  ASSERT_NE(context().recipe.loaded(), nullptr);
  EXPECT_GT(context().recipe.guards().counts[static_cast<size_t>(GuardState::passed)], 100);
  EXPECT_EQ(context().recipe.guards().first_refused(), nullptr);
  ASSERT_TRUE(view<ViewMesh>("mesh").plan());
  EXPECT_EQ(view<ViewMesh>("mesh").plan()->value("cp"), 2);
  EXPECT_EQ(view<ViewLaunch>("launch").editor().text(), text());
}

TEST_F(Prepare, TheLayoutIsOfTheRecipesBatchUntilNumbersAreTyped) {
  open_sample("demo-sft-cp2.yaml");
  EXPECT_EQ(view<ViewLayout>("layout").origin_text(), "of the recipe");
  EXPECT_EQ(view<ViewLayout>("layout").question(), (LayoutQuestion{"round_robin", 2, 512, 512, 1, 16}));
  context().recipe.set_key("policy.max_total_sequence_length", "1024", EditOrigin::form);
  settle();
  EXPECT_EQ(view<ViewLayout>("layout").question().tokens, 1024);
  drive([](ImGuiTestContext* engine) {
    engine->SetRef("//###view.layout");
    engine->ItemInputValue("###layout.batch", 4096);
    engine->Yield(2);
    IM_CHECK_STR_EQ(self().view<ViewLayout>("layout").origin_text().c_str(), "typed");
    IM_CHECK_EQ(self().view<ViewLayout>("layout").question().tokens, 4096);
  });
  context().recipe.set_key("policy.max_total_sequence_length", "768", EditOrigin::form);
  settle();
  EXPECT_EQ(view<ViewLayout>("layout").question().tokens, 4096);
  EXPECT_TRUE(context().commands.run("layout.from_recipe", context()));
  frames(2);
  EXPECT_EQ(view<ViewLayout>("layout").origin_text(), "of the recipe");
  EXPECT_EQ(view<ViewLayout>("layout").question().tokens, 768);
}

TEST_F(Prepare, TheMeshChangesTheTextAndUndoTakesItBack) {
  open_sample("demo-sft-cp2.yaml");
  const std::string before = text();
  drive([](ImGuiTestContext* engine) {
    engine->SetRef("//###view.mesh");
    engine->ItemClick("**/cp/###mesh.smaller");
  });
  settle();
  EXPECT_THAT(text(), ::testing::HasSubstr("context_parallel_size: 1"));
  EXPECT_THAT(context().cli_line, ::testing::HasSubstr("ringwright recipe set"));
  EXPECT_EQ(context().recipe.document().steps().back().key, "policy.dtensor_cfg.context_parallel_size");
  EXPECT_TRUE(context().commands.run("recipe.undo", context()));
  frames(2);
  EXPECT_EQ(text(), before);
}

TEST_F(Prepare, TypingChangesTheDocumentAndTheGuardsFollow) {
  open_sample("demo-sft-cp2.yaml", "launch");
  drive([](ImGuiTestContext* engine) {
    engine->WindowFocus("//###view.launch");
    self().context().recipe.jump_to_key("cluster.gpus_per_node", true);
    engine->Yield(4);
    engine->KeyPress(ImGuiKey_End);
    engine->KeyPress(ImGuiKey_Backspace);
    engine->KeyChars("3");
    engine->Yield(3);
  });
  EXPECT_THAT(text(), ::testing::HasSubstr("gpus_per_node: 3"));
  settle();
  EXPECT_EQ(view<ViewLaunch>("launch").marks().empty(), false) << "three ranks make no mesh of cp 2";
  EXPECT_NE(context().recipe.guards().first_refused(), nullptr);
}

TEST_F(Prepare, GuardsAreWalkedByKeysAndATargetIsChosen) {
  open_sample("demo-sft-cp2.yaml", "guards");
  drive([](ImGuiTestContext* engine) {
    engine->WindowFocus("//###view.guards");
    engine->KeyPress(ImGuiKey_3);  // the first target has nothing to say about a sample
    engine->Yield(2);
    IM_CHECK(self().context().recipe.target() == support_matrix::Target::automodel_0_4);
    engine->KeyPress(ImGuiKey_J);
    engine->Yield(2);
    IM_CHECK(!self().view<ViewGuards>("guards").current().empty());
  });
}

TEST_F(Prepare, ATextThatDoesNotLoadKeepsTheLastGoodValuesAndSaysTheLine) {
  open_sample("demo-sft-cp2.yaml");
  context().recipe.change_text(text() + "broken: [1, 2\n", EditOrigin::typing);
  settle();
  ASSERT_TRUE(context().recipe.checked()->fault);
  ASSERT_NE(context().recipe.loaded(), nullptr);
  EXPECT_GT(context().recipe.guards().counts[static_cast<size_t>(GuardState::passed)], 100) << "of the text before";
  EXPECT_TRUE(context().commands.refusal("recipe.launch", context()).has_value());
}

TEST_F(Prepare, SavingWritesTheFileUnlessSomebodyElseDid) {
  open_sample("demo-sft-cp2.yaml");
  const std::filesystem::path file = context().recipe.document().file();
  context().recipe.set_key("cluster.gpus_per_node", "4", EditOrigin::form);
  settle();
  ASSERT_TRUE(context().commands.run("recipe.save", context()));
  settle();
  EXPECT_FALSE(context().recipe.document().is_dirty());
  std::ifstream stream(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), text());
  std::ofstream(file, std::ios::app) << "# somebody else\n";
  context().recipe.set_key("cluster.gpus_per_node", "2", EditOrigin::form);
  settle();
  EXPECT_TRUE(context().commands.run("recipe.save", context()));
  settle();
  EXPECT_TRUE(context().recipe.document().is_dirty());
  EXPECT_THAT(context().toasts.back().notice.text, ::testing::HasSubstr("RW-RECIPE-042"));
}

TEST_F(Prepare, ReadingTheFileAgainAsksBeforeEditsGo) {
  open_sample("demo-sft-cp2.yaml");
  const std::string as_saved = text();
  context().recipe.change_text(as_saved + "# mine\n", EditOrigin::typing);
  settle();
  ASSERT_TRUE(context().commands.run("recipe.reload", context()));
  settle();
  EXPECT_NE(text(), as_saved) << "nothing happens before the answer";
  ASSERT_TRUE(context().confirmation);
  context().confirmation->act(context());
  settle();
  EXPECT_EQ(text(), as_saved);
  EXPECT_TRUE(context().commands.run("recipe.undo", context()));
  EXPECT_EQ(text(), as_saved + "# mine\n");
}

}  // namespace
}  // namespace ringwright::gui
