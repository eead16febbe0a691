// What the Metrics view shows, without the view: its list of plots, groups of runs, bands and files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "console/gui/data/metric_band.h"
#include "console/gui/data/metric_cards.h"
#include "console/gui/data/metric_csv.h"
#include "console/gui/data/reduced.h"
#include "console/gui/data/run_groups.h"

namespace ringwright::gui {
namespace {

using ::testing::ElementsAre;

gui::Run run_with(const std::vector<std::string>& metrics) {
  gui::Run run;
  for (const std::string& name : metrics) run.metrics[name] = std::make_shared<Series>();
  return run;
}

std::vector<std::string> names_of(const CardList& list) {
  std::vector<std::string> names;
  for (const MetricCard& card : list.cards) names.push_back(card.metric);
  return names;
}

TEST(MetricCards, FewStandInTheOrderThatTheUserGaveThem) {
  const gui::Run run = run_with({"perf/tokens_per_s", "train/grad_norm", "train/loss", "train/lr", "train/epoch"});
  const CardList list = metric_cards({{&run}, "", {}, {}});
  EXPECT_FALSE(list.has_heads);
  EXPECT_THAT(names_of(list), ElementsAre("train/loss", "train/grad_norm", "perf/tokens_per_s", "train/lr", "train/epoch")) << "the main ones first";
  EXPECT_THAT(names_of(metric_cards({{&run}, "", {}, {"train/epoch", "perf/tokens_per_s"}})),
              ElementsAre("train/epoch", "perf/tokens_per_s", "train/loss", "train/grad_norm", "train/lr"));
  EXPECT_THAT(names_of(metric_cards({{&run}, "train !lr", {"train/lr"}, {}})), ElementsAre("train/loss", "train/grad_norm", "train/epoch"));
  EXPECT_THAT(names_of(metric_cards({{&run}, "train", {"train/lr"}, {}})).front(), "train/lr") << "what is pinned comes first";
}

TEST(MetricCards, ManyStandInSections) {
  gui::Run run = run_with({"train/loss", "train/lr", "perf/mfu", "perf/step_ms", "rollout/length", "zeta/z", "lonely", "optim/skipped"});
  run.parts.unread_metrics["perf/long_s"].name = "perf/long_s";
  const CardList list = metric_cards({{&run}, "", {"zeta/z"}, {"train/lr"}});
  EXPECT_TRUE(list.has_heads);
  EXPECT_THAT(names_of(list), ElementsAre("zeta/z", "train/lr", "train/loss", "rollout/length", "perf/long_s", "perf/mfu", "perf/step_ms", "optim/skipped",
                                          "lonely"));
  EXPECT_EQ(list.cards[0].section, "pinned");
  EXPECT_EQ(list.cards[4].section, "perf");
  EXPECT_EQ(list.cards[4].unit, "s");
  EXPECT_EQ(list.cards[8].section, "");
}

TEST(MetricCards, UnitsAreReadFromTheEndOfANameAndNeverGuessed) {
  EXPECT_EQ(metric_unit("perf/tokens_per_s"), "tokens/s");
  EXPECT_EQ(metric_unit("perf/samples_per_s"), "1/s");
  EXPECT_EQ(metric_unit("perf/step_ms"), "ms");
  EXPECT_EQ(metric_unit("train/loss"), "");
  EXPECT_EQ(metric_unit("train/steps"), "");
}

TEST(MetricCards, AMovedCardTakesTheOthersPlace) {
  const gui::Run run = run_with({"train/loss", "train/grad_norm", "train/lr"});
  const CardList list = metric_cards({{&run}, "", {}, {}});
  ASSERT_THAT(names_of(list), ElementsAre("train/loss", "train/grad_norm", "train/lr"));
  EXPECT_THAT(moved_card(list, {"other/kept"}, "train/lr", "train/loss"), ElementsAre("train/lr", "train/loss", "train/grad_norm", "other/kept"));
  EXPECT_THAT(moved_card(list, {}, "train/loss", "train/lr"), ElementsAre("train/grad_norm", "train/lr", "train/loss"));
  EXPECT_THAT(moved_card(list, {"a"}, "train/none", "train/lr"), ElementsAre("a"));
}

TEST(RunGroups, ByTheValueOfAKeyNumbersBySize) {
  std::vector<gui::Run> runs(5);
  for (size_t i = 0; i < 4; ++i) runs[i].record.recipe = {{"policy", {{"lr", i % 2 == 0 ? 1e-3 : 2e-4}, {"name", "same"}}}};
  for (size_t i = 0; i < 5; ++i) runs[i].record.mesh = {{"cp", i < 3 ? 16 : 2}};
  const std::vector<const gui::Run*> all = {&runs[0], &runs[1], &runs[2], &runs[3], &runs[4]};
  const std::vector<RunGroup> by_rate = group_runs(all, "recipe.policy.lr");
  ASSERT_EQ(by_rate.size(), 3u);
  EXPECT_EQ(by_rate[0].value, "0.0002");
  EXPECT_THAT(by_rate[0].runs, ElementsAre(1, 3));
  EXPECT_THAT(by_rate[1].runs, ElementsAre(0, 2));
  EXPECT_EQ(by_rate[2].value, "-") << "the run without the key is last";
  const std::vector<RunGroup> by_mesh = group_runs(all, "mesh.cp");
  ASSERT_EQ(by_mesh.size(), 2u);
  EXPECT_EQ(by_mesh[0].value, "2");
  EXPECT_EQ(group_runs(all, "nothing known").size(), 1u);
  const std::vector<std::string> keys = differing_keys(all, 10);
  EXPECT_THAT(keys, ::testing::Contains("recipe.policy.lr"));
  EXPECT_THAT(keys, ::testing::Contains("mesh.cp"));
  EXPECT_EQ(differing_keys(all, 1).size(), 1u);
}

Decimated line_of(const std::vector<double>& x, const std::vector<double>& y) {
  Decimated line;
  line.x = x, line.y = y;
  return line;
}

TEST(Band, FromTheSmallestToTheLargestWithTheMean) {
  MetricBand band;
  band.begin(0, 10, 10);
  band.add(line_of({0, 10}, {0, 10}));
  band.add(line_of({0, 10}, {4, 4}));
  band.finish();
  ASSERT_EQ(band.x().size(), 10u);
  EXPECT_EQ(band.x()[2], 2.5);
  EXPECT_DOUBLE_EQ(band.low()[2], 2.5);
  EXPECT_DOUBLE_EQ(band.high()[2], 4);
  EXPECT_DOUBLE_EQ(band.mean()[2], 3.25);
  EXPECT_DOUBLE_EQ(band.low()[7], 4);
}

TEST(Band, T31T32ASpikeIsInItAndAGapIsNot) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  MetricBand band;
  band.begin(0, 100, 10);
  band.add(line_of({0, 35, 35.1, 35.2, 60, 61, 80, 90}, {1, 1, 99, 1, 1, kNaN, 1, 1}));
  band.finish();
  EXPECT_EQ(band.high()[3], 99);
  EXPECT_THAT(band.x(), ElementsAre(5, 15, 25, 35, 45, 55, 65, 85, 95)) << "no value between the break and the next point";
  band.begin(0, 100, 10);
  band.add(line_of({20, 30}, {1, 1}));
  band.finish();
  EXPECT_THAT(band.x(), ElementsAre(25, 35)) << "a line counts from its first to its last point";
}

TEST(Csv, OfOneRunAndOfSeveral) {
  Series series;
  series.append({1, 0.5, -1, 1, 0});
  series.append({2, std::numeric_limits<double>::quiet_NaN(), -1, 2, 0});
  const MetricCurve curve = curve_of("r_1", series);
  EXPECT_EQ(metric_csv("train/loss", {curve}), "step,train/loss\n1,0.5\n2,NaN\n");
  EXPECT_EQ(metric_csv("a,b", {curve, curve_of("r_2", {{7, 1e-9, -1, 0, 0}})}), "run,step,\"a,b\"\nr_1,1,0.5\nr_1,2,NaN\nr_2,7,1e-09\n");
}

TEST(ReducedAlignment, StepsAreCountedFromTheOriginAndSmoothingNeverCrossesAResume) {
  history::ColumnSums sums({1, 100}, 100);
  for (int64_t step = 1; step <= 100; ++step) {
    history::Bucket bucket;
    bucket.first_step = step;
    bucket.add(step, step < 50 ? 10.0 : -1.0);
    sums.add(bucket);
  }
  const history::Reduction reduction = sums.finish();
  const Decimated drawn = decimate(reduction, 50);
  EXPECT_EQ(drawn.x.front(), -49);
  EXPECT_EQ(drawn.x.back(), 50);
  ASSERT_FALSE(drawn.nonpositive_x.empty());
  EXPECT_EQ(drawn.nonpositive_x.front(), 0);
  EXPECT_EQ(drawn.y_positive_min, 10);
  const Decimated apart = smooth(reduction, 0.9, 50, {50}), together = smooth(reduction, 0.9, 50);
  EXPECT_NEAR(apart.y[49], -1, 1e-9);
  EXPECT_GT(together.y[49], 5);
}

}  // namespace
}  // namespace ringwright::gui
