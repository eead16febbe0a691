#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "console/gui/data/log_filter.h"
#include "console/gui/data/run_text.h"
#include "console/gui/data/source.h"

namespace ringwright::gui {
namespace {

history::RunRecord record(const std::string& id, const std::string& name, int64_t created) {
  history::RunRecord run;
  run.id = id;
  run.name = name;
  run.created_unix_ns = created;
  run.state = history::RunState::running;
  return run;
}

wire::Event metric(const std::string& run, int64_t step, double loss, uint64_t sequence) {
  return {run, wire::Kind::metric, 0, sequence, sequence, step * 1000, {{"step", step}, {"tokens", step * 10}, {"points", {{"train/loss", loss}}}}};
}

TEST(State, LiveEventsAndStoredRecordsGiveTheSameSeries) {
  State live, late;
  live.apply(RunsRead{{record("r_1", "a", 1)}});
  live.mark_reading("r_1");
  live.apply(DetailsRead{"r_1", {}, {}});
  for (int64_t step = 1; step <= 20; ++step) live.apply(metric("r_1", step, 1.0 / static_cast<double>(step), static_cast<uint64_t>(step)));

  late.apply(RunsRead{{record("r_1", "a", 1)}});
  late.mark_reading("r_1");
  auto stored = std::make_shared<Series>();
  for (int64_t step = 1; step <= 12; ++step) stored->append({step, 1.0 / static_cast<double>(step), step * 10, step * 1000, 0});
  // The stream overlaps with what was read, before and after.
  for (int64_t step = 10; step <= 15; ++step) late.apply(metric("r_1", step, 1.0 / static_cast<double>(step), static_cast<uint64_t>(step)));
  late.apply(DetailsRead{"r_1", {{"train/loss", stored}}, {}});
  for (int64_t step = 14; step <= 20; ++step) late.apply(metric("r_1", step, 1.0 / static_cast<double>(step), static_cast<uint64_t>(step)));

  const Series &a = *live.find("r_1")->metrics.at("train/loss"), &b = *late.find("r_1")->metrics.at("train/loss");
  ASSERT_EQ(a.size(), 20u);
  ASSERT_EQ(b.size(), 20u);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(a.step(i), b.step(i));
    EXPECT_EQ(a.value(i), b.value(i));
  }
  EXPECT_EQ(late.find("r_1")->record.last_step, 20);
}

TEST(State, ARunsStateFollowsItsEvents) {
  State state;
  state.apply(RunsRead{{record("r_1", "a", 1)}});
  state.apply(
      wire::Event{"r_1", wire::Kind::event, -1, 0, 7, 99, {{"name", "run.state"}, {"state", "failed"}, {"reason", "rank 1 was killed by signal 9"}}});
  const history::RunRecord& run = state.find("r_1")->record;
  EXPECT_EQ(run.state, history::RunState::failed);
  EXPECT_EQ(run.reason, "rank 1 was killed by signal 9");
  EXPECT_EQ(run.ended_unix_ns, 99);
  state.apply(wire::Event{"r_1", wire::Kind::event, -1, 0, 8, 99, {{"name", "run.state"}, {"state", "dreaming"}}});
  EXPECT_EQ(run.state, history::RunState::failed) << "a state of a later version is not guessed at";
}

TEST(State, EventsOfUnknownRunsAndKindsAreCountedNotTaken) {
  State state;
  state.apply(RunsRead{{record("r_1", "a", 1)}});
  state.apply(metric("r_2", 1, 1, 1));
  state.apply(wire::Event{"r_1", static_cast<wire::Kind>(77), 0, 1, 2, 1, {}});
  EXPECT_EQ(state.events_skipped(), 2u);
}

TEST(State, NaNIsTheLatestValue) {
  State state;
  state.apply(RunsRead{{record("r_1", "a", 1)}});
  state.apply(metric("r_1", 1, 0.5, 1));
  state.apply(metric("r_1", 2, std::nan(""), 2));
  EXPECT_TRUE(std::isnan(latest_value(*state.find("r_1"), "loss").value()));
}

TEST(State, LogLinesAreBoundedAndCounted) {
  State state;
  state.apply(RunsRead{{record("r_1", "a", 1)}});
  DetailsRead read{"r_1", {}, {}, {}};
  for (uint64_t i = 1; i <= kLogLinesMax; ++i) read.logs.push_back({i, 1, 0, "info", "line " + std::to_string(i)});
  state.apply(std::move(read));
  for (uint64_t i = kLogLinesMax + 1; i <= kLogLinesMax + 5; ++i) {
    state.apply(wire::Event{"r_1", wire::Kind::log, 0, i, i, 1, {{"level", "info"}, {"text", "line " + std::to_string(i)}}});
  }
  EXPECT_EQ(state.find("r_1")->logs.size(), kLogLinesMax);
  EXPECT_EQ(state.find("r_1")->log_lines_dropped, 5u);
  EXPECT_EQ(state.find("r_1")->logs.front().text, "line 6");
}

history::MetricSummary summary_of(const std::string& name) {
  history::MetricSummary summary;
  summary.name = name;
  summary.finite = 10;
  summary.minimum = 1, summary.maximum = 5, summary.mean = 2;
  summary.first_step = 1, summary.last_step = 10, summary.last = 3, summary.last_time_unix_ns = 10'000;
  return summary;
}

TEST(State, ASeriesTooLongToBeReadHasSumsThatFollowAndNoTail) {
  State state;
  state.apply(RunsRead{{record("r_1", "a", 1)}});
  state.mark_reading("r_1");
  state.apply(metric("r_1", 10, 3, 1));   // the sums hold it
  state.apply(metric("r_1", 11, 13, 2));  // while the file is read
  DetailsRead read{"r_1", {}, {}, {}};
  read.parts.unread_metrics["train/loss"] = summary_of("train/loss");
  state.apply(std::move(read));
  const gui::Run& run = *state.find("r_1");
  const auto sums = [&]() -> const history::MetricSummary& { return run.parts.unread_metrics.at("train/loss"); };
  EXPECT_FALSE(run.metrics.contains("train/loss")) << "a tail would look like the whole";
  EXPECT_EQ(sums().finite, 11);
  EXPECT_EQ(sums().maximum, 13);
  EXPECT_EQ(sums().mean, 3);
  state.apply(metric("r_1", 12, 0.5, 3));
  state.apply(metric("r_1", 13, std::nan(""), 4));
  EXPECT_FALSE(run.metrics.contains("train/loss"));
  EXPECT_EQ(sums().minimum, 0.5);
  EXPECT_EQ(sums().finite, 12);
  EXPECT_EQ(sums().nans, 1);
  EXPECT_EQ(sums().last_step, 13);
  EXPECT_TRUE(std::isnan(sums().last));

  state.apply(wire::Event{"r_1", wire::Kind::metric, 0, 5, 5, 20'000, {{"step", 12}, {"points", {{"train/loss", 0.25}}}}});
  EXPECT_EQ(sums().minimum, 0.25) << "a step that was computed again";
  EXPECT_EQ(sums().finite, 12);
  EXPECT_EQ(sums().last_step, 13);

  DetailsRead again{"r_1", {}, {}, {}};
  again.parts.unread_metrics["train/loss"] = summary_of("train/loss");
  state.apply(std::move(again));
  EXPECT_EQ(sums().last_step, 13) << "what was read before these points came is older";
}

wire::Event named(const std::string& name, int64_t time, nlohmann::json body) {
  body["name"] = name;
  return {"r_1", wire::Kind::event, -1, 0, static_cast<uint64_t>(time), time, std::move(body)};
}

TEST(State, WhatHappensWhileDetailsAreReadStays) {
  State state;
  state.apply(RunsRead{{record("r_1", "a", 1)}});
  state.mark_reading("r_1");
  state.apply(named("alert", 50, {{"kind", "nan"}, {"topic", "train/loss"}, {"text", "new"}}));
  state.apply(named("alert", 60, {{"kind", "stall"}, {"topic", ""}, {"text", "known already"}}));
  state.apply(named("checkpoint.saved", 55, {{"step", 200}, {"path", "b"}}));
  state.apply(named("run.segment", 56, {{"segment", 2}, {"step", 150}}));
  DetailsRead read{"r_1", {}, {}, {}};
  const nlohmann::json none = nlohmann::json::object();
  read.parts.alerts = {{"stall", "", "known already", none, 4, 10, 60}, {"disk", "", "old", none, 1, 5, 5}};
  read.parts.checkpoints = {{100, "a", 1, 40}};
  read.parts.segments = {{1, std::nullopt, 1}};
  state.apply(std::move(read));
  const RunParts& parts = state.find("r_1")->parts;
  ASSERT_EQ(parts.alerts.size(), 3u);
  EXPECT_EQ(parts.alerts[0].kind, "stall") << "newest first";
  EXPECT_EQ(parts.alerts[0].count, 4);
  EXPECT_EQ(parts.alerts[1].text, "new");
  EXPECT_EQ(parts.alerts[2].kind, "disk");
  ASSERT_EQ(parts.checkpoints.size(), 2u);
  EXPECT_EQ(parts.checkpoints[1].step, 200);
  ASSERT_EQ(parts.segments.size(), 2u);
  EXPECT_EQ(parts.segments[1].first_step, 151);
}

TEST(State, SpansHaveAVersionOfTheirOwn) {
  State state;
  state.apply(RunsRead{{record("r_1", "a", 1)}});
  const gui::Run& run = *state.find("r_1");
  uint64_t seen = run.spans_version;
  const auto changed = [&] {
    const bool differs = seen != run.spans_version;
    seen = run.spans_version;
    return differs;
  };
  state.apply(metric("r_1", 1, 2.0, 1));
  EXPECT_FALSE(changed()) << "a timeline is not made anew for each metric";
  state.apply(wire::Event{"r_1", wire::Kind::span, 0, 2, 2, 2'000, {{"phase", "forward"}, {"step", 1}, {"begin_ns", 1}, {"end_ns", 2}}});
  EXPECT_TRUE(changed());
  state.apply(DetailsRead{"r_1", {}, {}, {}});
  EXPECT_TRUE(changed());
}

TEST(State, ACheckpointThatWasDeletedDoesNotComeBack) {
  State state;
  state.apply(RunsRead{{record("r_1", "a", 1)}});
  DetailsRead read{"r_1", {}, {}, {}};
  read.parts.checkpoints = {{100, "a", 1, 40}, {200, "b", 1, 50}};
  state.apply(read);
  read.parts.checkpoints = {{200, "b", 1, 50}};
  state.apply(read);
  EXPECT_EQ(state.find("r_1")->parts.checkpoints.size(), 1u);
}

TEST(LogFilterTest, TheNewestLinesAreLookedAtFirst) {
  gui::Run run;
  run.record.id = "r_1";
  for (uint64_t i = 0; i < 100; ++i) run.logs.push_back({i, 0, 0, "info", i % 10 == 0 ? "checkpoint" : "step"});
  LogFilter filter;
  filter.set_pattern("checkpoint");
  EXPECT_EQ(filter.lines(run, 25), (std::vector<size_t>{80, 90}));
  EXPECT_TRUE(filter.is_looking());
  run.logs.push_back({100, 0, 0, "info", "checkpoint"});
  EXPECT_EQ(filter.lines(run, 25), (std::vector<size_t>{60, 70, 80, 90, 100})) << "a new line comes before the older ones";
  EXPECT_EQ(filter.lines(run, 1000).size(), 11u);
  EXPECT_FALSE(filter.is_looking());
}

TEST(LogFilterTest, PatternsLevelsRanksAndTheirOpposite) {
  gui::Run run;
  run.record.id = "r_1";
  run.logs = {{1, 0, 0, "info", "step 1 loss 2.0"}, {2, 0, 1, "warn", "waited 180 ms"}, {3, 0, -1, "error", "Loss is NaN"}};
  LogFilter filter;
  EXPECT_EQ(filter.lines(run).size(), 3u);
  filter.set_pattern("loss");
  EXPECT_EQ(filter.lines(run), (std::vector<size_t>{0, 2})) << "case is ignored";
  filter.set_pattern("!loss");
  EXPECT_EQ(filter.lines(run), (std::vector<size_t>{1}));
  filter.set_pattern("!loss(");
  EXPECT_FALSE(filter.error().empty());
  EXPECT_EQ(filter.lines(run), (std::vector<size_t>{1})) << "the last good pattern stays";
  filter.set_pattern("");
  filter.set_levels(1U << 3);
  EXPECT_EQ(filter.lines(run), (std::vector<size_t>{2}));
  filter.set_levels(0xF);
  filter.set_rank(1);
  EXPECT_EQ(filter.lines(run), (std::vector<size_t>{1}));
  run.logs.push_back({4, 0, 1, "info", "more"});
  run.logs.pop_front();
  run.log_lines_dropped = 1;
  EXPECT_EQ(filter.lines(run), (std::vector<size_t>{0, 2})) << "positions move when the oldest line goes";
}

gui::Run run_with_lines(const std::vector<std::string>& levels) {
  gui::Run run;
  run.record.id = "r_1";
  for (size_t i = 0; i < levels.size(); ++i) run.logs.push_back({i + 1, static_cast<int64_t>(i) * 10, 0, levels[i], "line"});
  return run;
}

TEST(LogFilterTest, AMomentIsReachedOnceItsLinesHaveBeenLookedAt) {
  const gui::Run run = run_with_lines(std::vector<std::string>(100, "info"));
  LogFilter filter;
  filter.lines(run, 25);  // those from line 75, at 750
  EXPECT_FALSE(filter.has_looked_from(run, 300));
  EXPECT_TRUE(filter.has_looked_from(run, 800));
  filter.lines(run, 100);
  EXPECT_TRUE(filter.has_looked_from(run, 300));
  EXPECT_TRUE(filter.has_looked_from(run, -5)) << "before the first line";
}

TEST(LogFilterTest, TheLineOfAMoment) {
  const gui::Run run = run_with_lines({"info", "info", "info"});
  EXPECT_EQ(place_of_moment(run, {0, 2}, 10), 1u);
  EXPECT_EQ(place_of_moment(run, {0, 2}, 99), 1u) << "the last one";
  EXPECT_EQ(place_of_moment(run, {}, 10), std::nullopt);
}

TEST(LogFilterTest, ErrorsAreGoneThroughThoughOldLinesGoAndNewOnesCome) {
  gui::Run run = run_with_lines({"info", "error", "info", "error", "info", "error"});
  const auto go = [&](const std::vector<size_t>& shown, std::optional<uint64_t> from, int direction) -> std::optional<uint64_t> {
    const auto place = place_of_error(run, shown, from, direction);
    return place ? std::optional(line_number(run, shown[*place])) : std::nullopt;
  };
  const std::vector<size_t> all = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(go(all, std::nullopt, 1), 1u);
  EXPECT_EQ(go(all, std::nullopt, -1), 5u);
  EXPECT_EQ(go(all, 1, 1), 3u);
  EXPECT_EQ(go(all, 1, -1), std::nullopt);
  EXPECT_EQ(go(all, 5, 1), std::nullopt);
  EXPECT_EQ(go({0, 2, 4}, 1, 1), std::nullopt);
  EXPECT_EQ(go({}, std::nullopt, -1), std::nullopt);
  run.logs.pop_front(), run.logs.pop_front();
  run.log_lines_dropped = 2;
  run.logs.push_back({7, 60, 0, "error", "line"});
  EXPECT_EQ(go({0, 1, 2, 3, 4}, 3, 1), 5u) << "the line that was jumped to keeps its number";
  EXPECT_EQ(go({0, 1, 2, 3, 4}, 1, 1), 3u) << "and may be gone";
  EXPECT_EQ(go({0, 1, 2, 3, 4}, 5, -1), 3u);
}

TEST(RunText, WordsAndTheirOpposite) {
  EXPECT_TRUE(matches_words("Demo-SFT r_1 running cp2", "demo cp2"));
  EXPECT_FALSE(matches_words("Demo-SFT r_1 running cp2", "demo !running"));
  EXPECT_TRUE(matches_words("a##b", "##"));
}

TEST(UpdateQueueTest, AClosedQueueFreesAProducerThatWaits) {
  UpdateQueue queue;
  for (size_t i = 0; i < UpdateQueue::kUpdatesMax; ++i) ASSERT_TRUE(queue.push(Notice{}));
  std::thread producer([&] { EXPECT_FALSE(queue.push(Notice{})); });
  while (queue.full_count() == 0) std::this_thread::yield();
  queue.close();
  producer.join();
}

TEST(UpdateQueueTest, WakesTheWindowOnceForAllThatItHasNotTaken) {
  int wakes = 0;
  UpdateQueue queue([&] { ++wakes; });
  for (int i = 0; i < 3; ++i) queue.push(Notice{});
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(queue.take(2).size(), 2u);
  queue.push(Notice{});
  EXPECT_EQ(wakes, 1) << "one was left, so the window is awake";
  queue.take(10);
  queue.push(Notice{});
  EXPECT_EQ(wakes, 2);
  queue.close();
  queue.push(Notice{});
  EXPECT_EQ(wakes, 2);
}

TEST(Demo, IsTheSameAtEachStart) {
  const auto loss = [] {
    UpdateQueue queue;
    const auto source = make_demo_source(queue, 12, false);
    State state;
    for (Update& update : queue.take(1000)) state.apply(std::move(update));
    std::vector<double> values;
    for (const auto& run : state.runs()) {
      if (const auto value = latest_value(*run, "loss"); value && std::isfinite(*value)) values.push_back(*value);
    }
    return values;
  };
  EXPECT_EQ(loss(), loss());
  EXPECT_EQ(loss().size(), 10u);
}

TEST(Demo, StartsNoRunsAndSaysSo) {
  UpdateQueue queue;
  EXPECT_NE(make_demo_source(queue, 1, false)->why_no_launch(), "");
}

}  // namespace
}  // namespace ringwright::gui
