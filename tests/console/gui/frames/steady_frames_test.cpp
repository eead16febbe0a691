// A frame that shows what the frame before showed asks for no memory: an operator's console stands open all day.
#include <gtest/gtest.h>

#include "console/gui/views/view_layout.h"
#include "console/gui/views/view_metrics.h"
#include "tests/bench/console/allocations.h"
#include "tests/bench/console/stage.h"

namespace ringwright::gui {
namespace {

constexpr int kWarmFrames = 60, kFrames = 20;

int64_t asked_in(bench::Stage& stage) {
  stage.frames(kWarmFrames);
  return stage.time(kFrames).allocations;
}

class SteadyFrames : public ::testing::TestWithParam<const char*> {};

TEST_P(SteadyFrames, AskForNoMemory) {
  bench::count_imgui_allocations();
  bench::Stage stage(GetParam());
  EXPECT_EQ(asked_in(stage), 0);
}
INSTANTIATE_TEST_SUITE_P(Views, SteadyFrames, ::testing::Values("metrics", "layout", "logs"),
                         [](const auto& info) { return std::string(info.param); });

TEST(SteadyPlots, OfManyRunsWithBandsAndGroupsAskForNoMemory) {
  bench::count_imgui_allocations();
  bench::Stage stage("metrics");
  stage.frames(4);
  auto& view = stage.view<ViewMetrics>("metrics");
  RunsRead read;
  for (int i = 0; i < 12; ++i) {
    history::RunRecord record = stage.context().state.runs().front()->record;
    record.id = "r_0000000" + std::string(1, static_cast<char>('a' + i));
    record.name = "a run with a name that is longer than a short string " + std::to_string(i);
    record.mesh = {{"cp", i % 3}};
    read.runs.push_back(record);
  }
  const std::vector<history::RunRecord> records = read.runs;
  stage.context().state.apply(std::move(read));
  for (const history::RunRecord& record : records) {
    DetailsRead details{record.id, {}, {}, {}};
    const auto series = std::make_shared<Series>();
    for (int64_t step = 1; step <= 3000; ++step) series->append({step, static_cast<double>((step * 7919) % 101), step, step, 0});
    details.metrics["train/a_metric_with_a_long_name"] = details.metrics["train/loss"] = series;
    stage.context().state.apply(std::move(details));
    stage.context().selection.shown.insert(record.id);
  }
  view.set_bands(ViewMetrics::Bands::runs);
  EXPECT_EQ(asked_in(stage), 0);
  view.group_by("mesh.cp");
  EXPECT_EQ(asked_in(stage), 0);
  EXPECT_EQ(view.groups().size(), 3u);
  view.group_by("");
  view.set_x_axis(XAxis::elapsed);
  EXPECT_EQ(asked_in(stage), 0);
}

}  // namespace
}  // namespace ringwright::gui
