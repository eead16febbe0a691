#include "shared/alerts/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ringwright::alerts {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::HasSubstr;

class Watch : public testing::Test {
 protected:
  static Rule rule(Kind kind) {
    Rule rule;
    rule.kind = kind;
    return rule;
  }
  static wire::Event event(wire::Kind kind, json body, int rank = 0) {
    wire::Event event;
    event.run = "r_00000001";
    event.kind = kind;
    event.rank = rank;
    event.body = std::move(body);
    return event;
  }
  static wire::Event metric(int64_t step, const std::string& name, double value, int rank = 0) {
    json points;
    points[name] = value;
    return event(wire::Kind::metric, {{"step", step}, {"points", points}}, rank);
  }
  static wire::Event state(const std::string& state, const std::string& reason = "") {
    return event(wire::Kind::event, {{"name", "run.state"}, {"state", state}, {"reason", reason}}, -1);
  }
  static wire::Event span(int rank, int64_t step, const std::string& phase, int64_t milliseconds) {
    return event(wire::Kind::span,
                 {{"phase", phase}, {"step", step}, {"begin_ns", 1'000'000'000}, {"end_ns", 1'000'000'000 + milliseconds * 1'000'000}}, rank);
  }
  static std::vector<std::string> kinds(const std::vector<Alert>& alerts) {
    std::vector<std::string> result;
    for (const Alert& alert : alerts) result.push_back(alert.kind + (alert.topic.empty() ? "" : ":" + alert.topic));
    return result;
  }

  RunWatch::Clock::time_point start_ = RunWatch::Clock::time_point(seconds(1000));
};

TEST_F(Watch, TheEndOfARunIsTold) {
  RunWatch watch({rule(Kind::finished), rule(Kind::failed)}, 1);
  EXPECT_TRUE(watch.note(state("running"), start_).empty());
  watch.note(metric(7, "loss", 1), start_);
  const auto finished = watch.note(state("finished"), start_);
  ASSERT_EQ(kinds(finished), std::vector<std::string>{"finished"});
  EXPECT_EQ(finished[0].text, "finished at step 7");
  const auto failed = watch.note(state("failed", "rank 1 was killed by signal 9"), start_);
  ASSERT_EQ(kinds(failed), std::vector<std::string>{"failed"});
  EXPECT_THAT(failed[0].text, HasSubstr("rank 1 was killed"));
  EXPECT_EQ(kinds(watch.note(state("lost", "the daemon ended"), start_)), std::vector<std::string>{"failed"});
  EXPECT_TRUE(watch.note(state("stopped", "on request"), start_).empty());
}

TEST_F(Watch, ValuesThatAreNotFiniteAreFoundWhereTheyAreLookedFor) {
  Rule of_train = rule(Kind::nan);
  of_train.metric = "train/*";
  RunWatch watch({of_train}, 1);
  EXPECT_TRUE(watch.note(metric(1, "train/loss", 2.5), start_).empty());
  EXPECT_TRUE(watch.note(metric(1, "validation/loss", std::nan("")), start_).empty());
  const auto found = watch.note(metric(2, "train/loss", std::nan("")), start_);
  ASSERT_EQ(kinds(found), std::vector<std::string>{"nan:train/loss"});
  EXPECT_EQ(found[0].text, "train/loss is NaN at step 2");
  EXPECT_EQ(found[0].detail.at("value"), "NaN");
  EXPECT_EQ(kinds(watch.note(metric(3, "train/loss", std::numeric_limits<double>::infinity()), start_)), std::vector<std::string>{"nan:train/loss"});
}

TEST_F(Watch, AThresholdHoldsAfterSoManyStepsInARow) {
  Rule high = rule(Kind::threshold);
  high.metric = "train/grad_norm", high.above = 10, high.steps = 3;
  RunWatch watch({high}, 2);
  EXPECT_TRUE(watch.note(metric(1, "train/grad_norm", 11), start_).empty());
  EXPECT_TRUE(watch.note(metric(2, "train/grad_norm", 12), start_).empty());
  EXPECT_TRUE(watch.note(metric(2, "train/grad_norm", 12, 1), start_).empty()) << "another rank's values are its own";
  EXPECT_TRUE(watch.note(metric(3, "train/grad_norm", 9), start_).empty());
  for (int step = 4; step < 6; ++step) EXPECT_TRUE(watch.note(metric(step, "train/grad_norm", 20), start_).empty());
  const auto found = watch.note(metric(6, "train/grad_norm", 20), start_);
  ASSERT_EQ(kinds(found), std::vector<std::string>{"threshold:train/grad_norm"});
  EXPECT_THAT(found[0].text, HasSubstr("is 20, above 10, at step 6"));
}

TEST_F(Watch, AThresholdFromBelowAndNan) {
  Rule low = rule(Kind::threshold);
  low.metric = "perf/*", low.below = 100;
  RunWatch watch({low}, 1);
  EXPECT_TRUE(watch.note(metric(1, "perf/tokens_per_s", 100), start_).empty());
  EXPECT_TRUE(watch.note(metric(1, "perf/tokens_per_s", std::nan("")), start_).empty());
  EXPECT_EQ(kinds(watch.note(metric(2, "perf/tokens_per_s", 99), start_)).size(), 1u);
}

TEST_F(Watch, AStallIsTimeWithoutANewStepWhileTheRunIsRunning) {
  Rule stall = rule(Kind::stall);
  stall.after_s = 60;
  RunWatch watch({stall}, 1);
  EXPECT_TRUE(watch.tick(start_ + seconds(500)).empty()) << "it does not run yet";
  watch.note(state("running"), start_);
  EXPECT_TRUE(watch.tick(start_ + seconds(59)).empty());
  EXPECT_EQ(watch.tick(start_ + seconds(60)).size(), 1u);
  watch.note(metric(1, "loss", 1), start_ + seconds(70));
  EXPECT_TRUE(watch.tick(start_ + seconds(129)).empty());
  watch.note(metric(1, "loss", 1), start_ + seconds(129));  // the same step again is no progress
  const auto found = watch.tick(start_ + seconds(131));
  ASSERT_EQ(kinds(found), std::vector<std::string>{"stall"});
  EXPECT_THAT(found[0].text, HasSubstr("(last step 1)"));
  watch.note(state("stopping"), start_ + seconds(132));
  EXPECT_TRUE(watch.tick(start_ + seconds(500)).empty());
}

TEST_F(Watch, ARankThatIsSlowForManyStepsIsAStraggler) {
  Rule slow = rule(Kind::straggler);
  slow.ratio = 1.5, slow.steps = 3;
  RunWatch watch({slow}, 4);
  std::vector<std::string> found;
  const auto step = [&](int64_t number, int slow_rank) {
    for (int rank = 0; rank < 4; ++rank) {
      for (const Alert& alert : watch.note(span(rank, number, "forward", rank == slow_rank ? 90 : 50), start_)) found.push_back(alert.topic);
      watch.note(span(rank, number, "backward", rank == slow_rank ? 190 : 100), start_);
      watch.note(span(rank, number, "reduce", rank == slow_rank ? 1 : 500), start_);  // in which the others wait for it
    }
  };
  for (int64_t number = 1; number <= 3; ++number) step(number, 2);
  step(4, -1);  // step 3 is over now
  EXPECT_EQ(found, std::vector<std::string>{"rank 2"});
  found.clear();
  for (int64_t number = 5; number <= 20; ++number) step(number, number % 4);  // each is slow in turn
  EXPECT_TRUE(found.empty());
}

TEST_F(Watch, BodiesThatAreNoneOfOursDoNoHarm) {
  RunWatch watch({rule(Kind::nan), rule(Kind::failed), rule(Kind::straggler), rule(Kind::threshold)}, 2);
  for (const wire::Kind kind : {wire::Kind::metric, wire::Kind::event, wire::Kind::span, static_cast<wire::Kind>(77)})
    for (const json& body : {json(), json::array({1}), json::object(), json{{"points", 3}}, json{{"points", {{"a", json::array()}}}, {"step", "x"}},
                             json{{"name", 3}}, json{{"phase", 1}, {"step", 1}, {"begin_ns", "x"}}})
      EXPECT_TRUE(watch.note(event(kind, body), start_).empty()) << body;
}

// A rank that never ends its steps does not make the others' pile up.
TEST_F(Watch, WhatIsKeptIsBounded) {
  RunWatch watch({rule(Kind::straggler)}, 3);
  for (int64_t step = 0; step < 10'000; ++step)
    for (int rank = 0; rank < 2; ++rank) EXPECT_TRUE(watch.note(span(rank, step, "forward", 5), start_).empty());
}

TEST_F(Watch, WhatAWorkersGuardFindsIsAnAlert) {
  const wire::Event found = event(wire::Kind::event,
                                  {{"name", "guard.running"},
                                   {"code", "RW-GUARD-503"},
                                   {"scope", "rank without targets"},
                                   {"reason", "none of its tokens is trained on"},
                                   {"fix", "look at the masks"},
                                   {"step", 7}},
                                  3);
  RunWatch watch({rule(Kind::guard)}, 4);
  const auto alerts = watch.note(found, start_);
  ASSERT_EQ(kinds(alerts), std::vector<std::string>{"guard:RW-GUARD-503"});
  EXPECT_EQ(alerts[0].text, "RW-GUARD-503 rank without targets: none of its tokens is trained on");
  EXPECT_EQ(alerts[0].detail, json({{"code", "RW-GUARD-503"}, {"fix", "look at the masks"}, {"step", 7}}));
  EXPECT_TRUE(RunWatch({rule(Kind::failed)}, 4).note(found, start_).empty());
}

// A stream with rollouts (of a talk-only worker, so far) carries what RW-GUARD-502 asks about.
TEST_F(Watch, AGapBetweenGenerationAndTrainingIsAnAlert) {
  RunWatch watch({rule(Kind::guard), rule(Kind::nan)}, 1);
  EXPECT_TRUE(watch.note(metric(1, "train/token_mult_prob_error", 1.02), start_).empty());
  const auto alerts = watch.note(metric(2, "train/token_mult_prob_error", 1.4), start_);
  ASSERT_EQ(kinds(alerts), std::vector<std::string>{"guard:RW-GUARD-502"});
  EXPECT_THAT(alerts[0].text, HasSubstr("step 2"));
  EXPECT_TRUE(RunWatch({rule(Kind::nan)}, 1).note(metric(2, "train/token_mult_prob_error", 1.4), start_).empty());
}

}  // namespace
}  // namespace ringwright::alerts
