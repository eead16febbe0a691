// What the views of Watch, Compare and Investigate say, worked out from a run's records.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "console/gui/data/alert_rows.h"
#include "console/gui/data/reduced.h"
#include "console/gui/data/run_columns.h"
#include "console/gui/data/run_difference.h"
#include "console/gui/data/run_search.h"
#include "console/gui/data/sample_text.h"
#include "console/gui/data/timeline.h"

namespace ringwright::gui {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

// Ranks 0 to 3 compute `forward_ms` each, and wait until the slowest is done where `say_waits`.
std::deque<history::SpanRecord> step_of(const std::vector<int64_t>& forward_ms, bool say_waits) {
  std::deque<history::SpanRecord> spans;
  const int64_t longest = *std::max_element(forward_ms.begin(), forward_ms.end());
  for (size_t rank = 0; rank < forward_ms.size(); ++rank) {
    spans.push_back({static_cast<int>(rank), 1, "forward", 0, forward_ms[rank] * kMillisecond});
    if (say_waits && forward_ms[rank] < longest)
      spans.push_back({static_cast<int>(rank), 1, "ring wait", forward_ms[rank] * kMillisecond, longest * kMillisecond});
  }
  return spans;
}

TEST(TimelineOf, NamesTheSlowRankAndHowLongTheOthersWaited) {
  for (const bool say_waits : {true, false}) {
    const Timeline timeline = make_timeline(step_of({310, 310, 520, 310}, say_waits));
    const RangeStatistics all = statistics(timeline, timeline.whole);
    EXPECT_EQ(straggler_sentence(all), "3 ranks waited 630 ms in all for rank 2 (forward 520 ms against 310 ms)") << say_waits;
  }
}

TEST(TimelineOf, NobodyIsBlamedForLessThanAFewPercentOrAlone) {
  const Timeline even = make_timeline(step_of({310, 312, 315}, false));
  EXPECT_EQ(straggler_sentence(statistics(even, even.whole)), "");
  const Timeline alone = make_timeline(step_of({310}, false));
  EXPECT_EQ(straggler_sentence(statistics(alone, alone.whole)), "");
}

TEST(TimelineOf, ARangeCutsItsSpans) {
  const Timeline timeline = make_timeline(step_of({100, 200}, true));
  const RangeStatistics half = statistics(timeline, {50 * kMillisecond, 150 * kMillisecond});
  ASSERT_EQ(half.phases.size(), 2u);
  EXPECT_EQ(half.phases[0].phase, "forward");
  EXPECT_EQ(half.phases[0].total_ns, 150 * kMillisecond);
  EXPECT_EQ(half.phases[1].total_ns, 50 * kMillisecond);
}

TEST(TimelineOf, T33ASpanThatEndsBeforeItBeginsIsLeftOut) { EXPECT_TRUE(make_timeline({{0, 1, "forward", 10, 5}}).lanes.empty()); }

history::RunRecord record(const std::string& id, history::RunState state) {
  history::RunRecord run;
  run.id = run.name = id;
  run.state = state;
  run.created_unix_ns = 1;
  return run;
}

TEST(Alerts, OpenOnesComeFirstAndTheSameTroubleLaterIsOpenAgain) {
  State state;
  state.apply(
      RunsRead{{record("r_a", history::RunState::running), record("r_b", history::RunState::lost), record("r_c", history::RunState::finished)}});
  const auto alert = [](const char* kind, int64_t at) { return history::AlertRecord{kind, "", "text", nlohmann::json::object(), 1, at, at}; };
  state.apply(AlertsRead{"r_a", {alert("nan", 50), alert("stall", 90)}});
  state.apply(AlertsRead{"r_c", {alert("finished", 99)}});
  nlohmann::json acknowledged = {{"r_a|nan|", 50}};
  std::vector<AlertRow> rows = alert_rows(state, acknowledged);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].alert.kind, "lost") << "a run that was lost needs somebody, though nobody could raise an alert";
  EXPECT_EQ(rows[1].alert.kind, "stall");
  EXPECT_TRUE(rows[2].acknowledged);
  EXPECT_TRUE(rows[3].acknowledged);
  state.apply(
      wire::Event{"r_a", wire::Kind::event, -1, 0, 7, 120, {{"name", "alert"}, {"kind", "nan"}, {"topic", ""}, {"text", "again"}, {"times", 2}}});
  rows = alert_rows(state, acknowledged);
  EXPECT_EQ(rows[0].alert.kind, "nan");
  EXPECT_FALSE(rows[0].acknowledged);
  EXPECT_EQ(rows[0].alert.count, 3);
}

TEST(Search, PlainWordsAreNoQuery) {
  EXPECT_TRUE(is_word_search("llama cp4 !failed"));
  EXPECT_FALSE(is_word_search("mesh.cp >= 2"));
  EXPECT_FALSE(is_word_search("not archived"));
  EXPECT_EQ(error_column({"RW-QUERY-001", "what", "column 12 of the query", "", ""}), 12u);
  EXPECT_EQ(error_column({"RW-STORE-001", "what", "history.db", "", ""}), std::nullopt);
}

TEST(Search, OffersTheFieldsThatContinueTheLastWord) {
  State state;
  history::RunRecord run = record("r_a", history::RunState::running);
  run.recipe = {{"policy", {{"model_name", "m"}}}};
  run.mesh = {{"cp", 2}};
  state.apply(RunsRead{{run}});
  state.apply(LatestRead{"r_a", {{"train/loss", {1, 2.0, 0, 0, 0}}}});
  const std::vector<QueryField> fields = query_fields(state);
  const auto names = [&](const char* text) {
    std::vector<std::string> found;
    for (const QueryField& each : completions(fields, text, 4)) found.push_back(each.name);
    return found;
  };
  EXPECT_THAT(names("state = failed and mesh.c"), ::testing::ElementsAre("mesh.cp"));
  EXPECT_THAT(names("model"), ::testing::Contains("recipe.policy.model_name"));
  EXPECT_THAT(names("train/lo"), ::testing::ElementsAre("train/loss.last", "train/loss.min", "train/loss.max"));
  EXPECT_EQ(complete("archived = false and mes", {"mesh.cp", "", ""}), "archived = false and mesh.cp ");
}

TEST(Columns, AnySettingAndAMetricsExtremes) {
  gui::Run run;
  run.record.recipe = {{"policy", {{"lr", 3e-4}}}};
  run.record.mesh = {{"cp", 4}};
  const auto series = std::make_shared<Series>();
  for (const double value : {3.0, 1.0, std::numeric_limits<double>::quiet_NaN(), 2.0})
    series->append({static_cast<int64_t>(series->size()) + 1, value, 0, 0, 0});
  run.metrics["train/loss"] = series;
  const auto none = [](const std::string&, const std::string&) -> const history::MetricSummary* { return nullptr; };
  const auto shown = [&](const char* name) { return column_text(column_value(run, *read_column(name), none)); };
  EXPECT_EQ(shown("recipe.policy.lr"), "0.0003");
  EXPECT_EQ(shown("mesh.cp"), "4");
  EXPECT_EQ(shown("train/loss.min"), "1");
  EXPECT_EQ(shown("train/loss.max"), "3");
  EXPECT_EQ(shown("train/kl.min"), "-");
  EXPECT_EQ(shown("recipe.policy.none"), "-");
  EXPECT_FALSE(read_column("loss").has_value());
}

TEST(Difference, OnlyWhatDiffersAndTheFingerprintLast) {
  history::RunRecord a = record("r_a", history::RunState::finished), b = a;
  a.recipe = {{"policy", {{"lr", 1}, {"seed", 7}}}};
  b.recipe = {{"policy", {{"lr", 2}, {"seed", 7}}}};
  a.fingerprint = {{"node", "one"}};
  b.fingerprint = {{"node", "two"}};
  const RunDifference difference = compare_runs({a, b});
  EXPECT_EQ(difference.differing, 2u);
  EXPECT_EQ(difference.fingerprint_differing, 1u);
  EXPECT_EQ(difference.rows.back().key, "fingerprint.node");
  const auto lr = std::find_if(difference.rows.begin(), difference.rows.end(), [](const auto& row) { return row.key == "recipe.policy.lr"; });
  ASSERT_NE(lr, difference.rows.end());
  EXPECT_TRUE(lr->differs);
  EXPECT_EQ(setting_text(lr->values[1]), "2");
}

TEST(Samples, BytesThatAreNoTextAreShownAsWhatTheyAre) {
  EXPECT_EQ(visible_bytes("a\xE2\x96"), "a<E2 96>");
  EXPECT_EQ(visible_bytes("\x01ok\n\xC3\xA9"), "<01>ok\n\xC3\xA9");
  EXPECT_EQ(visible_bytes("\xED\xA0\x80"), "<ED A0 80>") << "a surrogate is no character";
}

history::Reduction reduced(const std::vector<double>& values, size_t pixels) {
  history::ColumnSums sums({1, static_cast<int64_t>(values.size())}, pixels);
  for (size_t i = 0; i < values.size(); ++i) {
    history::Bucket bucket;
    bucket.first_step = static_cast<int64_t>(i) + 1;
    bucket.add(bucket.first_step, values[i]);
    sums.add(bucket);
  }
  return sums.finish();
}

TEST(Reduced, T31ASpikeOfOnePointIsSeenAndNaNIsCounted) {
  std::vector<double> values(10'000, 1.0);
  values[4321] = 99;
  values[7000] = std::numeric_limits<double>::quiet_NaN();
  const Decimated drawn = decimate(reduced(values, 300));
  EXPECT_EQ(drawn.y_max, 99);
  EXPECT_LE(drawn.x.size(), 4 * 300u);
  EXPECT_EQ(drawn.x[static_cast<size_t>(std::max_element(drawn.y.begin(), drawn.y.end()) - drawn.y.begin())], 4322);
  ASSERT_EQ(drawn.marks.size(), 1u);
  EXPECT_EQ(drawn.marks[0].x, 7001);
  EXPECT_EQ(drawn.nonfinite_in_view, 1u);
}

TEST(Reduced, SmoothingOfColumnsIsCloseToSmoothingOfPoints) {
  std::vector<double> values;
  for (int i = 0; i < 20'000; ++i) values.push_back(std::sin(i / 900.0) + (i % 7) * 0.01);
  constexpr double kWeight = 0.99;
  const Decimated drawn = smooth(reduced(values, 800), kWeight);
  double mean = 0, correction = 0;
  for (const double value : values) mean = kWeight * mean + (1 - kWeight) * value, correction = kWeight * correction + (1 - kWeight);
  EXPECT_NEAR(drawn.y.back(), mean / correction, 0.02);
}

}  // namespace
}  // namespace ringwright::gui
