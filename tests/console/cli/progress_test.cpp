#include <gtest/gtest.h>

#include <cmath>

#include "console/cli/run_progress.h"

namespace ringwright::cli {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;

wire::Event event_at(uint64_t sequence, double seconds, wire::Kind kind, int rank, nlohmann::json body) {
  wire::Event event;
  event.run = "r_00000001";
  event.kind = kind;
  event.rank = rank;
  event.node_sequence = sequence;
  event.time_unix_ns = 1'000 * kSecond_ns + static_cast<int64_t>(seconds * 1e9);
  event.body = std::move(body);
  return event;
}

wire::Event step_at(uint64_t sequence, double seconds, int64_t step, nlohmann::json loss, int rank = 0) {
  return event_at(sequence, seconds, wire::Kind::metric, rank,
                  {{"step", step}, {"tokens", step * 2000}, {"points", {{"train/loss", std::move(loss)}}}});
}

wire::Event named_at(uint64_t sequence, double seconds, nlohmann::json body) {
  return event_at(sequence, seconds, wire::Kind::event, -1, std::move(body));
}

TEST(RunProgress, CountsStepsLossRateAndTimeLeft) {
  RunProgress progress(50);
  EXPECT_EQ(progress.fraction(), 0);
  EXPECT_FALSE(progress.seconds_left());
  progress.add(step_at(1, 0, 1, 4.0));
  EXPECT_FALSE(progress.seconds_left());
  for (int64_t step = 2; step <= 10; ++step)
    progress.add(step_at(static_cast<uint64_t>(step), 2.0 * static_cast<double>(step - 1), step, 4.0 - 0.1 * static_cast<double>(step)));
  EXPECT_EQ(progress.step(), 10);
  EXPECT_DOUBLE_EQ(progress.fraction(), 0.2);
  EXPECT_DOUBLE_EQ(*progress.first_loss(), 4.0);
  EXPECT_DOUBLE_EQ(*progress.last_loss(), 3.0);
  EXPECT_DOUBLE_EQ(*progress.seconds_left(), 80.0);    // 40 steps of 2 s
  EXPECT_DOUBLE_EQ(*progress.tokens_per_s(), 1000.0);  // 2000 tokens in 2 s
  EXPECT_DOUBLE_EQ(*progress.mean_tokens_per_s(), 1000.0);
  EXPECT_DOUBLE_EQ(progress.elapsed_s(), 18.0);
}

TEST(RunProgress, AnEndThatIsNotRecordedIsMarked) {
  RunProgress progress(50);
  progress.add(step_at(7, 0, 1, 4.0));
  progress.add(named_at(0, 1, {{"name", "run.state"}, {"state", "failed"}, {"reason", "the disk"}, {"unrecorded", true}}));
  EXPECT_TRUE(progress.ended());
  EXPECT_TRUE(progress.unrecorded());
  EXPECT_EQ(progress.node_sequence(), 7u);
  progress.add(named_at(8, 2, {{"name", "run.state"}, {"state", "failed"}, {"reason", "the disk"}}));
  EXPECT_FALSE(progress.unrecorded());
}

TEST(RunProgress, TimeLeftGoesByTheLastSteps) {
  RunProgress progress(200);
  uint64_t sequence = 0;
  double seconds = 0;
  for (int64_t step = 1; step <= 100; ++step) progress.add(step_at(++sequence, seconds += step <= 50 ? 10.0 : 1.0, step, 1.0));
  EXPECT_DOUBLE_EQ(*progress.seconds_left(), 100.0);
}

TEST(RunProgress, IgnoresRepeatsOtherRanksAndWhatItDoesNotKnow) {
  RunProgress progress(0);
  progress.add(step_at(5, 0, 1, 4.0));
  progress.add(step_at(5, 9, 7, 1.0));
  progress.add(step_at(3, 9, 8, 1.0));
  progress.add(step_at(6, 1, 9, 1.0, 1));
  progress.add(event_at(7, 1, static_cast<wire::Kind>(99), 0, {{"step", 9}}));
  progress.add(named_at(8, 1, {{"name", "run.state"}, {"state", "dreaming"}}));
  progress.add(named_at(9, 1, {{"name", "checkpoint.saved"}}));
  progress.add(event_at(10, 1, wire::Kind::metric, 0, "no map"));
  EXPECT_EQ(progress.step(), 1);
  EXPECT_DOUBLE_EQ(*progress.last_loss(), 4.0);
  EXPECT_EQ(progress.fraction(), 0);
  EXPECT_FALSE(progress.ended());
  EXPECT_EQ(progress.node_sequence(), 10u);
}

TEST(RunProgress, KnowsHowItEnded) {
  RunProgress progress(50);
  progress.add(named_at(1, 0, {{"name", "run.state"}, {"state", "running"}, {"reason", ""}}));
  progress.add(named_at(2, 0, {{"name", "run.step_limit"}, {"steps", 20}}));
  progress.add(named_at(3, 1, {{"name", "checkpoint.saved"}, {"path", "/there/step_20"}, {"step", 20}, {"bytes", 5}}));
  EXPECT_EQ(progress.step_limit(), 20);
  EXPECT_FALSE(progress.ended());
  progress.add(named_at(
      4, 2,
      {{"name", "run.state"}, {"state", "failed"}, {"reason", "rank 1 was killed by signal 9"}, {"failed_rank", 1}, {"last_lines", {"one", "two"}}}));
  progress.add(named_at(
      5, 2,
      {{"name", "run.state"}, {"state", "failed"}, {"reason", "rank 1 was killed by signal 9"}, {"failed_rank", 1}, {"last_lines", {"one", "two"}}}));
  EXPECT_TRUE(progress.ended());
  EXPECT_EQ(progress.state(), history::RunState::failed);
  EXPECT_EQ(progress.reason(), "rank 1 was killed by signal 9");
  EXPECT_EQ(progress.failed_rank(), 1);
  EXPECT_EQ(progress.last_lines(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(progress.checkpoint(), "/there/step_20");
  EXPECT_DOUBLE_EQ(progress.elapsed_s(), 2.0);
}

TEST(RunProgress, ALossThatIsNotANumberIsShownAsOne) {
  RunProgress progress(2);
  progress.add(step_at(1, 0, 1, "NaN"));
  EXPECT_TRUE(std::isnan(*progress.first_loss()));
  progress.add(step_at(2, 1, 2, std::nan("")));
  EXPECT_TRUE(std::isnan(*progress.last_loss()));
}

TEST(ProgressBar, FillsFromNothingToAll) {
  EXPECT_EQ(progress_bar(0, 12), "[          ]");
  EXPECT_EQ(progress_bar(0.5, 12), "[====>     ]");
  EXPECT_EQ(progress_bar(1, 12), "[==========]");
  EXPECT_EQ(progress_bar(7, 12), "[==========]");
  EXPECT_EQ(progress_bar(-1, 12), "[          ]");
  EXPECT_EQ(progress_bar(std::nan(""), 4), "[  ]");
  EXPECT_EQ(progress_bar(0.5, 0), "[]");
}

}  // namespace
}  // namespace ringwright::cli
