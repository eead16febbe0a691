// Watch, Compare and Investigate as an operator works them: queries, alerts, tags, pins, what lies behind and before.
#include <gmock/gmock.h>
#include <imgui_internal.h>

#include <set>
#include <string>

#include "console/gui/views/view_runs.h"
#include "console/gui/views/view_timeline.h"
#include "tests/console/gui/console_fixture.h"

namespace ringwright::gui {
namespace {

class Operator : public ConsoleTest {
 public:
  static Operator& self() { return static_cast<Operator&>(ConsoleTest::self()); }
  ViewRuns& runs() { return dynamic_cast<ViewRuns&>(*app().shell().view("runs")); }
  std::string id_of(int index) { return context().state.runs().at(static_cast<size_t>(index))->record.id; }
};

// The table that was drawn last in a window whose name has this part, or null.
ImGuiTable* table_in(const std::string& window) {
  ImGuiContext& imgui = *ImGui::GetCurrentContext();
  for (int i = 0; i < imgui.Tables.GetMapSize(); ++i) {
    ImGuiTable* table = imgui.Tables.TryGetMapData(i);
    if (table == nullptr || table->OuterWindow == nullptr || table->LastFrameActive < imgui.FrameCount - 1) continue;
    if (std::string_view(table->OuterWindow->Name).find(window) != std::string_view::npos) return table;
  }
  return nullptr;
}

std::vector<std::string> column_names(const ImGuiTable& table) {
  std::vector<std::string> names;
  for (int i = 0; i < table.ColumnsCount; ++i) names.emplace_back(ImGui::TableGetColumnName(&table, i));
  return names;
}

int row_count(const ImGuiTable& table) { return table.CurrentRow; }  // the first is that of the heads

TEST_F(Operator, AQueryFindsRunsAndAWrongOneKeepsTheLastGoodResult) {
  open(demo_options(12));
  runs().set_filter("mesh.cp >= 4");
  ASSERT_TRUE(eventually([&] { return runs().listed().size() < 12; }));
  const size_t good = runs().listed().size();
  EXPECT_GT(good, 0u);
  for (const auto& run : runs().listed()) EXPECT_GE(run->record.mesh["cp"].get<int>(), 4);
  EXPECT_EQ(context().cli_line, "ringwright runs list 'mesh.cp >= 4'");
  runs().set_filter("mesh.cp >= ");
  ASSERT_TRUE(eventually([&] { return runs().query_error().has_value(); }));
  frames(2);
  EXPECT_EQ(runs().query_error()->code, "RW-QUERY-001");
  EXPECT_EQ(runs().listed().size(), good);
  runs().set_filter("");
  ASSERT_TRUE(eventually([&] { return runs().listed().size() == 12; }));
}

TEST_F(Operator, AQueryThatIsAskedAgainLeavesTheLineOfTheLastActionAlone) {
  open(demo_options(12));
  runs().set_filter("mesh.cp >= 1");
  ASSERT_TRUE(eventually([&] { return context().cli_line.find("mesh.cp >= 1") != std::string::npos; }));
  context().cli_line = "what was done since";
  const double start_s = ImGui::GetTime();
  ASSERT_TRUE(eventually([&] {
    context().state.apply(AlertsRead{id_of(0), {}});  // a run has changed
    return ImGui::GetTime() > start_s + 2.5 && !app().is_reading();
  }));
  EXPECT_EQ(context().cli_line, "what was done since");
}

TEST_F(Operator, ARunThatIsSelectedBeforeItIsKnownIsReadOnceItIs) {
  open(demo_options(3));
  context().select("r_0000abcd");
  frames(2);
  EXPECT_EQ(context().run(), nullptr);
  history::RunRecord record = context().state.runs().front()->record;
  record.id = "r_0000abcd";
  context().state.apply(RunsRead{{record}});
  frames(1);
  ASSERT_NE(context().run(), nullptr);
  EXPECT_NE(context().run()->details, Loading::absent);
}

TEST_F(Operator, NGoesFromAlertToAlertAndKAcknowledges) {
  open(demo_options(12));
  drive([](ImGuiTestContext* engine) {
    Context& context = self().context();
    const int open = context.alerts.open_count();
    IM_CHECK_GT(open, 1);
    engine->KeyPress(ImGuiKey_N);
    engine->Yield(2);
    const std::string first = context.alerts.current();
    IM_CHECK(!first.empty());
    IM_CHECK_STR_EQ(context.selection.run.c_str(), first.substr(0, first.find('|')).c_str());
    engine->KeyPress(ImGuiKey_N);
    engine->Yield(2);
    IM_CHECK(context.alerts.current() != first);
    context.focus_view = "alerts";
    engine->Yield(3);
    engine->KeyPress(ImGuiKey_K);
    engine->Yield(2);
    IM_CHECK_EQ(context.alerts.open_count(), open - 1);
    IM_CHECK(context.alerts.rows().back().acknowledged);
    engine->KeyPress(ImGuiKey_Enter);
    engine->Yield(3);
    IM_CHECK_STR_EQ(context.focused_view.c_str(), "logs");
  });
}

TEST_F(Operator, AltLeftGoesBackToWhatWasSelected) {
  open(demo_options(6));
  const std::string start = context().selection.run;
  context().select(id_of(3));
  frames(2);
  context().select(id_of(4));
  frames(2);
  ASSERT_TRUE(context().commands.run("selection.back", context()));
  EXPECT_EQ(context().selection.run, id_of(3));
  frames(2);
  context().commands.run("selection.back", context());
  frames(2);
  EXPECT_EQ(context().selection.run, start);
  context().commands.run("selection.forward", context());
  frames(2);
  EXPECT_EQ(context().selection.run, id_of(3));
  context().select(id_of(5));  // a new way forgets the old one ahead
  frames(2);
  context().commands.run("selection.forward", context());
  EXPECT_EQ(context().selection.run, id_of(5));
}

TEST_F(Operator, APinnedViewIgnoresTheSelectionAndSaysSo) {
  open(demo_options(12, "timeline"));
  auto& timeline = dynamic_cast<ViewTimeline&>(*app().shell().view("timeline"));
  const auto two_ranks = context().selection.run;
  ASSERT_EQ(timeline.timeline().lanes.size(), 2u);
  context().pin_toggled = "timeline";
  frames(2);
  for (const auto& run : context().state.runs())
    if (run->record.world_size == 8) context().select(run->record.id);
  frames(4);
  EXPECT_NE(context().selection.run, two_ranks);
  EXPECT_EQ(timeline.timeline().lanes.size(), 2u);
  EXPECT_THAT(std::string(ImGui::FindWindowByName("Timeline###view.timeline")->Name), ::testing::HasSubstr("pinned: demo-sft-cp2"));
  context().pin_toggled = "timeline";
  frames(4);
  EXPECT_EQ(timeline.timeline().lanes.size(), 8u);
  EXPECT_THAT(straggler_sentence(timeline.statistics_shown()), ::testing::HasSubstr("for rank 7"));
}

TEST_F(Operator, ATagIsWrittenAndUndoneFromItsToast) {
  open(demo_options(6));
  drive([](ImGuiTestContext* engine) {
    self().context().commands.run("runs.tag", self().context());
    engine->Yield(2);
    engine->ItemInputValue("//$FOCUSED/###prompt.text", "night");
    engine->Yield(2);
  });
  const auto has_tag = [&] {
    const std::vector<std::string> tags = context().run()->record.tags;
    return std::count(tags.begin(), tags.end(), "night") == 1;
  };
  EXPECT_TRUE(eventually(has_tag));
  EXPECT_THAT(context().cli_line, ::testing::MatchesRegex("ringwright runs tag r_[0-9a-f]+ night"));
  ASSERT_TRUE(eventually([&] { return context().undoable() != nullptr; }));
  ASSERT_TRUE(context().commands.run("toast.undo", context()));
  EXPECT_TRUE(eventually([&] { return !has_tag(); }));
}

TEST_F(Operator, DeletingSeveralWantsTheirCountTyped) {
  open(demo_options(12));
  for (const auto& run : context().state.runs())
    if (run->record.state == history::RunState::finished && context().selection.chosen.size() < 2) context().selection.chosen.insert(run->record.id);
  drive([](ImGuiTestContext* engine) {
    Context& context = self().context();
    context.commands.run("runs.delete", context);
    engine->Yield(2);
    IM_CHECK_EQ(context.confirmation->count_to_type, 2);
    engine->ItemInputValue("//$FOCUSED/###confirm.count", "2");
    engine->Yield(2);
    engine->ItemClick("//$FOCUSED/###confirm");
    engine->Yield(2);
  });
  EXPECT_TRUE(eventually([&] { return context().state.runs().size() == 10; }));
}

TEST_F(Operator, ReadOnlyTakesAwayWhatChangesRuns) {
  Options options = demo_options(3);
  options.read_only = true;
  open(options);
  for (const char* id : {"runs.stop", "runs.kill", "runs.pause", "runs.checkpoint", "runs.tag", "runs.note", "runs.archive", "runs.delete"})
    EXPECT_THAT(context().commands.refusal(id, context()).value_or(""), ::testing::HasSubstr("--read-only")) << id;
}

TEST_F(Operator, ACardOfTheHistoryAnswersSql) {
  open(demo_options(4, "query"));
  drive([](ImGuiTestContext* engine) {
    engine->SetRef("//###view.query");
    engine->ItemClick("###query.example.1");
    engine->Yield(2);
    engine->ItemClick("###query.run");
    engine->Yield(2);
  });
  EXPECT_THAT(context().cli_line, ::testing::StartsWith("ringwright sql 'SELECT state, count(*)"));
  ASSERT_TRUE(eventually([&] { return table_in("###query.answer") != nullptr; }));
  frames(2);
  EXPECT_THAT(column_names(*table_in("###query.answer")), ::testing::ElementsAre("state", "runs", "steps"));
  std::set<history::RunState> states;
  for (const auto& run : context().state.runs()) states.insert(run->record.state);
  EXPECT_EQ(row_count(*table_in("###query.answer")), static_cast<int>(states.size()));
}

TEST_F(Operator, AColumnOfAnySettingIsKept) {
  open(demo_options(4));
  context().kept["run_columns"] = {"recipe.policy.model_name", "train/loss.min"};
  EXPECT_TRUE(eventually([&] { return !app().is_reading(); }));
  frames(3);
  ASSERT_NE(table_in("###view.runs"), nullptr);
  EXPECT_THAT(column_names(*table_in("###view.runs")), ::testing::IsSupersetOf({"recipe.policy.model_name", "train/loss.min"}));
  EXPECT_EQ(row_count(*table_in("###view.runs")), 4);
  drive([](ImGuiTestContext* engine) {
    self().context().commands.run("runs.columns", self().context());
    engine->Yield(2);
    engine->ItemInputValue("//$FOCUSED/###runs.columns.filter", "mesh.cp");
    engine->Yield(2);
    engine->SetRef(engine->WindowInfo("//$FOCUSED/###runs.columns.list").ID);
    engine->ItemClick("mesh.cp/###column");
    engine->Yield(2);
    IM_CHECK_EQ(self().context().kept["run_columns"].size(), 3u);
  });
  EXPECT_THAT(column_names(*table_in("###view.runs")), ::testing::Contains("mesh.cp"));
}

TEST_F(Operator, AViewThatTheWorkspaceDoesNotHaveOpensAsATab) {
  open(demo_options(3, "prepare"));
  EXPECT_FALSE(window_is_sound("Alerts###view.alerts") && ImGui::FindWindowByName("Alerts###view.alerts")->Active);
  ASSERT_TRUE(context().commands.run("view.alerts", context()));
  frames(4);
  EXPECT_TRUE(ImGui::FindWindowByName("Alerts###view.alerts")->Active);
}

}  // namespace
}  // namespace ringwright::gui
