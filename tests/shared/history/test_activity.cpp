// Rollouts, teachers and alignment as samples and spans tell of them.
#include <gmock/gmock.h>

#include <deque>
#include <limits>

#include "shared/history/activity.h"

namespace ringwright::history {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kMillisecond = 1'000'000;

const Activity& rollout() { return *activity_named("rollout"); }
const Activity& teacher() { return *activity_named("teacher"); }
const Activity& alignment() { return *activity_named("alignment"); }

std::vector<SampleRecord> samples() {
  return {{10, 0, {{"step", 10}, {"prompt", "a"}, {"reply", "b"}, {"reward", 0.5}}},
          {10, 1, {{"step", 10}, {"kind", "teacher"}, {"prompt", "a"}, {"reply", "b"}, {"reward", 1}, {"kl", 0.25}, {"length", 3}}},
          {10, 2, {{"step", 10}, {"kind", "teacher"}, {"prompt", "c"}, {"entropy", 1.5}, {"note", "short"}}},
          {20, 0, {{"step", 20}, {"kind", "rollout"}, {"prompt", "d"}, {"reply", "e"}}},
          {30, 0, {{"step", 30}, {"prompt", "of a validation"}, {"reply", "without a reward"}}},
          {30, 1, {{"step", 30}, {"kind", 7}, {"reply", "its kind is no text"}, {"reward", "nor is its reward a number"}}}};
}

TEST(Activities, SamplesGoByTheirKindAndARewardedReplyIsARollout) {
  const auto all = samples();
  EXPECT_THAT(samples_at(all, 15, &rollout()), ElementsAre(0u));
  EXPECT_THAT(samples_at(all, std::nullopt, &rollout()), ElementsAre(3u));
  EXPECT_THAT(samples_at(all, 1000, &teacher()), ElementsAre(1u, 2u));
  EXPECT_THAT(samples_at(all, std::nullopt, &alignment()), IsEmpty());
  EXPECT_THAT(samples_at(all, std::nullopt), ElementsAre(4u, 5u)) << "of whatever they are";
  EXPECT_EQ(activity_named("rollouts"), nullptr);
}

TEST(Activities, TheStepAtOrBeforeTheWantedOneIsShownElseTheOldest) {
  const auto all = samples();
  EXPECT_THAT(samples_at(all, 29), ElementsAre(3u));
  EXPECT_THAT(samples_at(all, 1), ElementsAre(0u, 1u, 2u)) << "there is none before: the first";
  EXPECT_THAT(samples_at(all, 1, &teacher()), ElementsAre(1u, 2u));
  EXPECT_THAT(sample_steps(all), ElementsAre(10, 20, 30));
  EXPECT_THAT(sample_steps(all, &rollout()), ElementsAre(10, 20));
  EXPECT_THAT(samples_at(std::deque<SampleRecord>{}, 1), IsEmpty());
}

TEST(Activities, FieldsAreThoseThatTheSamplesHave) {
  const auto all = samples();
  EXPECT_THAT(number_fields(all, {1, 2}), ElementsAre("reward", "length", "entropy", "kl"));
  EXPECT_THAT(number_fields(all, {3}), IsEmpty());
  EXPECT_THAT(text_fields(all[2]), ElementsAre("prompt", "note"));
  EXPECT_EQ(sample_field(all[1], "kl"), "0.25");
  EXPECT_EQ(sample_field(all[1], "none"), "");
  SampleRecord many{1, 0, nlohmann::json::object()};
  for (char name = 'a'; name < 'k'; ++name) many.body[std::string(1, name)] = 1;
  EXPECT_EQ(number_fields(std::vector{many}, {0}).size(), kNumberFieldsMax);
}

TEST(Activities, ARangeIsOfTheSamplesThatHaveTheField) {
  std::deque<SampleRecord> all;
  for (const double reward : {0.25, 1.0, std::numeric_limits<double>::quiet_NaN()}) all.push_back({1, 0, {{"reward", reward}}});
  all.push_back({1, 0, {{"reply", "none"}}});
  const FieldRange range = field_range(all, {0, 1, 2, 3}, "reward");
  EXPECT_EQ(range.count, 2u);
  EXPECT_EQ(range.mean, 0.625);
  EXPECT_EQ(range.minimum, 0.25);
  EXPECT_EQ(range.maximum, 1.0);
  EXPECT_EQ(field_range(all, {3}, "reward").count, 0u);
}

TEST(Activities, SpansAddUpByPhaseAndNameTheSlowestRank) {
  const std::vector<SpanRecord> spans = {
      {0, 1, "teacher forward", 0, 10 * kMillisecond},
      {0, 2, "forward", 0, 40 * kMillisecond},
      {0, 2, "teacher forward", 40 * kMillisecond, 50 * kMillisecond},
      {0, 2, "teacher forward", 50 * kMillisecond, 60 * kMillisecond},
      {1, 2, "teacher forward", 0, 40 * kMillisecond},
  };
  const auto newest = phases_at(spans, std::nullopt, &teacher());
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->step, 2);
  ASSERT_EQ(newest->phases.size(), 1u);
  const PhaseTime& phase = newest->phases.front();
  EXPECT_EQ(phase.phase, "teacher forward");
  EXPECT_EQ(phase.ranks, 2);
  EXPECT_EQ(phase.mean_ns, 30 * kMillisecond);
  EXPECT_EQ(phase.longest_ns, 40 * kMillisecond);
  EXPECT_EQ(phase.longest_rank, 1);
  EXPECT_DOUBLE_EQ(phase.share, 0.6);
  EXPECT_EQ(phases_at(spans, 1, &teacher())->step, 1);
  EXPECT_FALSE(phases_at(spans, 2, &rollout()));
  const auto all = phases_at(spans, 2);
  ASSERT_EQ(all->phases.size(), 2u);
  EXPECT_EQ(all->phases.front().phase, "forward") << "in the order in which they come";
}

TEST(Activities, T33ASpanThatEndsBeforeItBeginsCountsAsNone) {
  const std::deque<SpanRecord> spans = {{0, 1, "generation", 0, 5}, {0, 2, "generation", 9, 5}};
  EXPECT_EQ(phases_at(spans, std::nullopt, &rollout())->step, 1);
  EXPECT_FALSE(phases_at(std::deque<SpanRecord>{spans[1]}, std::nullopt));
}

}  // namespace
}  // namespace ringwright::history
