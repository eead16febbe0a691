// The Metrics view under mouse and keyboard: plots are chosen, enlarged, zoomed, arranged, grouped, and taken along as files.
#include <gmock/gmock.h>

#include <fstream>

#include "console/gui/views/view_metrics.h"
#include "tests/console/gui/inspect/drawn_items.h"
#include "tests/console/gui/inspect/hands.h"
#include "tests/console/gui/inspect/words_test.h"

namespace ringwright::gui {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class MetricsView : public WordsTest {
 protected:
  void open_runs(int runs) {
    ImGui::ClearActiveID();
    ImGui::ClosePopupsOverWindow(nullptr, false);
    Options options = scene_options(data_scenes()[1], folder_.path());
    options.demo_runs = runs;
    options.view = "metrics";
    open(options);
    ASSERT_TRUE(eventually([&] { return !app().is_reading(); }));
    context().still = false;  // the pointer counts
    frames(4);
  }
  ViewMetrics& view() { return dynamic_cast<ViewMetrics&>(*app().shell().view("metrics")); }
  auto frame() {
    return [this] { frames(1); };
  }
  // Of the items with this label, in the order of the plots.
  std::vector<ImRect> places_of(const char* label) {
    std::vector<ImRect> places;
    const ItemRecording recording;
    frames(1);
    for (const DrawnItem& item : recording.items())
      if (recording.label_of(item.id) == label) places.push_back(item.place);
    return places;
  }
  ImRect area(size_t plot) { return places_of("###area").at(plot); }
  std::string metric(size_t plot) { return view().cards().cards.at(plot).metric; }
  void move_to(ImVec2 place) {
    ImGui::GetIO().AddMousePosEvent(place.x, place.y);
    frames(2);
  }
  void drag(ImVec2 from, ImVec2 to) {
    move_to(from);
    ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, true);
    frames(2);
    move_to({(from.x + to.x) / 2, (from.y + to.y) / 2});
    move_to(to);
    ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, false);
    frames(3);
  }
  void right_click(ImVec2 place) {
    move_to(place);
    ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Right, true);
    frames(1);
    ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Right, false);
    frames(2);
  }
  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const MetricCard& card : view().cards().cards) names.push_back(card.metric);
    return names;
  }
  // Answers the question that is open.
  void answer(const std::string& typed) {
    frames(3);
    ASSERT_TRUE(context().prompt.has_value());
    hands::type(typed, frame());
    hands::press(ImGuiKey_Enter, frame());
    frames(2);
  }
  std::string file_text(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

TEST_F(MetricsView, ArrowsGoFromPlotToPlotAndEnterShowsOneAlone) {
  open_runs(12);
  context().focus_view = "metrics";
  frames(3);
  hands::press(ImGuiKey_DownArrow, frame());
  hands::press(ImGuiKey_DownArrow, frame());
  for (int i = 0; i < 4 && view().selected().empty(); ++i) hands::press(ImGuiKey_DownArrow, frame());
  const std::string first = view().selected();
  ASSERT_NE(first, "");
  hands::press(ImGuiKey_RightArrow, frame());
  const std::string second = view().selected();
  EXPECT_NE(second, first);
  hands::press(ImGuiKey_Enter, frame());
  EXPECT_EQ(view().large(), second);
  EXPECT_EQ(places_of("###area").size(), 1u);
  hands::press(ImGuiKey_Escape, frame());
  EXPECT_EQ(view().large(), "");
  EXPECT_GT(places_of("###area").size(), 1u);
}

TEST_F(MetricsView, ADragZoomsAllPlotsAndADoubleClickShowsAllAgain) {
  open_runs(3);
  const auto [low, high] = view().x_range();
  const ImRect place = area(0);
  drag({place.Min.x + place.GetWidth() * 0.25F, place.GetCenter().y}, {place.Min.x + place.GetWidth() * 0.5F, place.GetCenter().y});
  EXPECT_NEAR(view().x_range().first, low + (high - low) * 0.25, (high - low) * 0.02);
  EXPECT_NEAR(view().x_range().second, low + (high - low) * 0.5, (high - low) * 0.02);
  EXPECT_THAT(words(), Contains("zoomed"));
  const double width = view().x_range().second - view().x_range().first;
  move_to(place.GetCenter());
  ImGui::GetIO().AddMouseWheelEvent(0, 1);
  frames(2);
  EXPECT_LT(view().x_range().second - view().x_range().first, width);
  hands::click(place.GetCenter(), frame());
  hands::click(place.GetCenter(), frame());
  frames(2);
  EXPECT_EQ(view().x_range(), std::pair(low, high));
}

TEST_F(MetricsView, AClickPinsAStepForEveryViewAndADragDoesNot) {
  open_runs(3);
  const ImRect place = area(0);
  hands::click(place.GetCenter(), frame());
  ASSERT_TRUE(context().selection.step.has_value());
  const int64_t step = *context().selection.step;
  EXPECT_NEAR(static_cast<double>(step), (view().x_range().first + view().x_range().second) / 2, 20);
  drag({place.Min.x + 30, place.GetCenter().y}, {place.Min.x + 90, place.GetCenter().y});
  EXPECT_EQ(*context().selection.step, step);
}

TEST_F(MetricsView, ACardThatIsDraggedOntoAnotherTakesItsPlace) {
  open_runs(3);
  const std::vector<std::string> before = names();
  ASSERT_GE(before.size(), 3u);
  const std::vector<ImRect> titles = places_of("###title");
  drag({titles[2].Min.x + 40, titles[2].GetCenter().y}, area(0).GetCenter());
  EXPECT_THAT(names(), ElementsAre(before[2], before[0], before[1], before[3]));
  EXPECT_EQ(view().large(), "") << "a drag is no click";
  hands::click({titles[0].Min.x + 40, titles[0].GetCenter().y}, frame());
  hands::click({titles[0].Min.x + 40, titles[0].GetCenter().y}, frame());
  EXPECT_EQ(view().selected(), before[2]);
  ASSERT_TRUE(context().commands.run("metrics.move_back", context()));
  frames(2);
  EXPECT_THAT(names(), ElementsAre(before[0], before[2], before[1], before[3]));
}

TEST_F(MetricsView, TheMenuSavesWhatTheCommandLineWouldPrint) {
  open_runs(1);
  right_click(area(0).GetCenter());
  EXPECT_EQ(view().selected(), metric(0));
  EXPECT_THAT(words(), Contains("Save as CSV..."));
  hands::click(place_of("Save as CSV"), frame());
  const std::filesystem::path file = folder_ / "curve.csv";
  answer(file.string());
  const std::string run = context().selection.run;
  EXPECT_EQ(context().cli_line, "ringwright runs metrics " + run + " -m " + metric(0) + " --csv > " + file.string());
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(file); }));
  const std::string text = file_text(file);
  const Series& series = *context().run()->metrics.at(metric(0));
  EXPECT_TRUE(text.starts_with("step," + metric(0) + "\n")) << text.substr(0, 60);
  EXPECT_EQ(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')), series.size() + 1);
}

TEST_F(MetricsView, AFileThatCannotBeWrittenIsToldAndAPictureNeedsPixels) {
  open_runs(1);
  hands::click(area(0).GetCenter(), frame());
  ASSERT_TRUE(context().commands.run("metrics.save_csv", context()));
  answer("/proc/nothing/here.csv");
  EXPECT_TRUE(eventually([&] {
    return std::any_of(context().toasts.begin(), context().toasts.end(), [](const Toast& toast) { return toast.notice.text.find("RW-GUI-030") != std::string::npos; });
  }));
  ASSERT_TRUE(context().commands.run("metrics.save_png", context()));
  answer((folder_ / "plot.png").string());
  frames(5);
  EXPECT_THAT(context().toasts.back().notice.text, HasSubstr("RW-GUI-031"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "plot.png"));
}

TEST_F(MetricsView, RunsAreGroupedByAKeyOfTheirSettings) {
  open_runs(12);
  view().group_by("mesh.cp");
  view().set_bands(ViewMetrics::Bands::runs);
  frames(2);
  ASSERT_GE(view().groups().size(), 2u);
  const RunGroup& group = view().groups().front();
  EXPECT_THAT(words(), Contains(HasSubstr(group.value + "  " + std::to_string(group.runs.size()) + " run")));
  ASSERT_TRUE(context().commands.run("metrics.ungroup", context()));
  frames(2);
  EXPECT_TRUE(view().groups().empty());
  ASSERT_TRUE(context().commands.run("metrics.group", context()));
  answer("recipe.policy.dtensor_cfg.context_parallel_size");
  EXPECT_GE(view().groups().size(), 2u);
}

TEST_F(MetricsView, ThePlotsSelectIsReadyInQuery) {
  open_runs(1);
  hands::click(area(0).GetCenter(), frame());
  ASSERT_TRUE(context().commands.run("metrics.query", context()));
  EXPECT_THAT(context().cli_line, HasSubstr("ringwright sql 'SELECT run, rank, step, value FROM metric"));
  EXPECT_THAT(context().query_wanted, HasSubstr("name = '" + metric(0) + "' AND run IN ('" + context().selection.run + "')"));
  frames(4);
  EXPECT_EQ(context().query_wanted, "") << "Query has taken it";
}

TEST_F(MetricsView, AnAlertIsWrittenToTheOpenRecipe) {
  open_runs(1);
  hands::click(area(0).GetCenter(), frame());
  EXPECT_EQ(context().commands.refusal("metrics.alert", context()), "alerts stand in a recipe: open one first");
  const std::filesystem::path file = folder_ / "small.yaml";
  std::ofstream(file) << "policy:\n  model_name: tiny\nringwright:\n  alerts:\n    - {kind: failed}\n";
  context().recipe.open(file);
  ASSERT_TRUE(eventually([&] { return context().recipe.is_idle() && context().recipe.loaded() != nullptr; }));
  ASSERT_TRUE(context().commands.run("metrics.alert", context()));
  answer("2.5");
  EXPECT_THAT(context().cli_line, HasSubstr("threshold"));
  ASSERT_TRUE(eventually([&] { return context().recipe.document().text().find("threshold") != std::string::npos; }))
      << (context().toasts.empty() ? std::string() : context().toasts.back().notice.text + "; " + context().toasts.back().notice.action);
  EXPECT_THAT(context().recipe.document().text(), ::testing::AllOf(HasSubstr("failed"), HasSubstr("2.5"), HasSubstr(metric(0))));
}

TEST_F(MetricsView, ManyMetricsStandUnderHeadsThatFold) {
  open_runs(1);
  const auto run = context().run();
  for (const char* name : {"rollout/length", "rollout/reward", "optim/skipped", "timing/step_ms"}) run->metrics[name] = run->metrics.begin()->second;
  frames(2);
  ASSERT_TRUE(view().cards().has_heads);
  EXPECT_THAT(words(), Contains("rollout"));
  EXPECT_THAT(words(), Contains("rollout/reward"));
  hands::click(place_of("rollout"), frame());
  EXPECT_THAT(words(), Not(Contains("rollout/reward")));
  EXPECT_THAT(words(), Contains("rollout"));
}

TEST_F(MetricsView, StepsCanBeCountedFromAResume) {
  open_runs(1);
  const auto run = context().run();
  run->parts.segments = {{1, 0, 0}, {2, 400, 0}, {3, 900, 0}};
  view().set_x_axis(XAxis::since_resume);
  frames(3);
  const Series& series = *run->metrics.at(metric(0));
  EXPECT_EQ(view().x_range().first, static_cast<double>(series.step(0)) - 900);
  EXPECT_GT(view().x_range().second, static_cast<double>(series.step(series.size() - 1)) - 900);
  hands::click(area(0).GetCenter(), frame());
  const double middle = (view().x_range().first + view().x_range().second) / 2;
  EXPECT_NEAR(static_cast<double>(*context().selection.step), middle + 900, 20) << "the step that is selected is the run's own";
}

TEST_F(MetricsView, SmoothingIsTypedAndBounded) {
  open_runs(1);
  const std::vector<ImRect> fields = places_of("###metrics.smoothing");
  ASSERT_EQ(fields.size(), 1u);
  hands::click(fields[0].GetCenter(), frame());
  hands::press(ImGuiMod_Ctrl | ImGuiKey_A, frame());
  hands::type("7", frame());
  hands::press(ImGuiKey_Enter, frame());
  EXPECT_EQ(view().smoothing(), 0.999);
}

}  // namespace
}  // namespace ringwright::gui
