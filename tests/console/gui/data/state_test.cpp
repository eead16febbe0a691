#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "console/gui/data/log_filter.h"
#include "console/gui/data/ring_steps.h"
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

TEST(RunText, WordsAndTheirOpposite) {
  EXPECT_TRUE(matches_words("Demo-SFT r_1 running cp2", "demo cp2"));
  EXPECT_FALSE(matches_words("Demo-SFT r_1 running cp2", "demo !running"));
  EXPECT_TRUE(matches_words("a##b", "##"));
}

TEST(RunText, T33AnEndBeforeTheStartIsUnknownNotNegative) {
  history::RunRecord run;
  run.started_unix_ns = 300'000'000'000;
  run.ended_unix_ns = 10'000'000'000;
  EXPECT_EQ(elapsed_s(run, 0), std::nullopt);
  run.ended_unix_ns = 310'000'000'000;
  EXPECT_EQ(elapsed_s(run, 0), 10);
}

TEST(UpdateQueueTest, AClosedQueueFreesAProducerThatWaits) {
  UpdateQueue queue;
  for (size_t i = 0; i < UpdateQueue::kUpdatesMax; ++i) ASSERT_TRUE(queue.push(Notice{}));
  std::thread producer([&] { EXPECT_FALSE(queue.push(Notice{})); });
  while (queue.full_count() == 0) std::this_thread::yield();
  queue.close();
  producer.join();
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

TEST(LayoutPictureTest, HeadTailOfOneSequenceIsEven) {
  const LayoutPicture picture = picture_layout({"round_robin", 4, 16'384, 16'384});
  ASSERT_EQ(picture.blocks.size(), 8u);
  for (const LayoutRank& rank : picture.ranks) {
    EXPECT_NEAR(rank.of_mean, 1, 1e-3);
    EXPECT_EQ(rank.tokens, 4096);
  }
  EXPECT_EQ(describe_position(picture, 12'450), "rank 1, slot 2,210 (tail), global 12,450");
  const LayoutPicture contiguous = picture_layout({"contiguous", 4, 16'384, 16'384});
  EXPECT_NEAR(contiguous.ranks[3].of_mean, 1.75, 1e-3);
  EXPECT_EQ(moved_tokens(picture, contiguous), (std::vector<std::pair<int64_t, int64_t>>{{2048, 10'240}, {12'288, 16'384}}));
}

TEST(LayoutPictureTest, PaddingOfBatchAndLayoutAreCountedApart) {
  const LayoutPicture picture = picture_layout({"round_robin", 4, 1001, 900});
  EXPECT_EQ(picture.padded_length, 1008);
  EXPECT_EQ(picture.layout_padding(), 7);
  int64_t batch = 0, layout = 0, tokens = 0;
  for (const LayoutRank& rank : picture.ranks) batch += rank.batch_padding, layout += rank.layout_padding, tokens += rank.tokens;
  EXPECT_EQ(batch, 101);
  EXPECT_EQ(layout, 7);
  EXPECT_EQ(tokens, 900);
}

TEST(RingSteps, TheStepsOfARankAddUpToItsCausalWork) {
  for (const char* name : {"round_robin", "contiguous"}) {
    const LayoutPicture picture = picture_layout({name, 4, 16'384, 15'650});
    std::vector<int64_t> sums(4);
    for (int step = 0; step < 4; ++step) {
      for (const RingStepRow& row : ring_step_rows(picture, step)) sums[static_cast<size_t>(row.rank)] += row.work;
    }
    for (size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(sums[rank], picture.ranks[rank].causal_work) << name << " rank " << rank;
  }
}

}  // namespace
}  // namespace ringwright::gui
