// Which runs may be asked what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/service/steering.h"
#include "tests/support/error_of.h"

namespace ringwright::service {
namespace {

using history::RunState;
using test::error_code;
using test::refusal;
using ::testing::HasSubstr;

SteeringRequest request_of(const std::string& op, nlohmann::json more = nlohmann::json::object()) {
  more["op"] = op;
  return read_steering_request(more);
}

SteeredRun training(RunState state = RunState::running) { return {"r_1", state, "sft", true, true}; }

TEST(Steering, ARunThatTakesStepsMayBeAskedAnything) {
  for (const RunState state : {RunState::running, RunState::paused})
    for (const auto& request :
         {request_of("run.pause"), request_of("run.resume"), request_of("run.checkpoint"), request_of("run.stop", {{"mode", "after-checkpoint"}}),
          request_of("run.set", {{"key", "optimizer.lr"}, {"value", 1e-4}})})
      EXPECT_EQ(refusal([&] { require_steerable(request, training(state)); }).code, "");
}

TEST(Steering, RefusalsSayWhy) {
  struct Row {
    SteeringRequest request;
    SteeredRun run;
    const char* why;
  };
  const SteeringRequest set_period = request_of("run.set", {{"key", "checkpointing.save_period"}, {"value", 5}});
  const Row rows[] = {
      {request_of("run.pause"), training(RunState::finished), "cannot be paused: it is over (finished)"},
      {request_of("run.resume"), training(RunState::lost), "cannot be resumed: it is over (lost)"},
      {request_of("run.pause"), training(RunState::stopping), "stopping already"},
      {request_of("run.checkpoint"), training(RunState::starting), "not ready yet"},
      {request_of("run.checkpoint"), {"r_1", RunState::running, "talk", false, false}, "algorithm talk takes no training steps"},
      {request_of("run.pause"), {"r_1", RunState::running, "probe", false, false}, "algorithm probe takes no training steps"},
      {request_of("run.stop"), {"r_1", RunState::running, "sft", true, false}, "saves none before its end"},
      {set_period, {"r_1", RunState::running, "sft", false, false}, "saves no checkpoints"},
  };
  for (const Row& row : rows) {
    const ErrorParts parts = refusal([&] { require_steerable(row.request, row.run); });
    EXPECT_EQ(parts.code, "RW-STEER-010");
    EXPECT_THAT(parts.what, HasSubstr(row.why));
    EXPECT_FALSE(parts.action.empty());
  }
  EXPECT_EQ(refusal([&] { require_steerable(request_of("run.pause"), {"r_1", RunState::running, "talk", false, false}); }).code, "");
}

TEST(Steering, RequestsAreReadWithTheirBounds) {
  EXPECT_EQ(error_code([] { request_of("run.launch"); }), "RW-WIRE-006");
  EXPECT_EQ(error_code([] { request_of("run.set", {{"key", "optimizer.lr"}, {"value", "much"}}); }), "RW-WIRE-006");
  EXPECT_EQ(error_code([] { request_of("run.set", {{"key", "optimizer.lr"}}); }), "RW-WIRE-006");
  EXPECT_EQ(error_code([] { request_of("run.set", {{"key", "optimizer.lr"}, {"value", 0}}); }), "RW-STEER-002");
  EXPECT_EQ(error_code([] { request_of("run.set", {{"key", "policy.model_name"}, {"value", 1}}); }), "RW-STEER-001");
  const SteeringRequest set = request_of("run.set", {{"key", "policy.optimizer.kwargs.lr"}, {"value", 2e-4}, {"who", "x@y"}});
  EXPECT_EQ(message_to_worker(set), (nlohmann::json{{"op", "set"}, {"key", "optimizer.lr"}, {"value", 2e-4}}));
  EXPECT_EQ(steering_event(set),
            (nlohmann::json{{"name", "run.steering"}, {"action", "set"}, {"who", "x@y"}, {"key", "optimizer.lr"}, {"value", 2e-4}}));
  EXPECT_EQ(message_to_worker(request_of("run.stop")), (nlohmann::json{{"op", "stop"}, {"after", "checkpoint"}}));
  EXPECT_EQ(message_to_worker(request_of("run.pause")), (nlohmann::json{{"op", "pause"}}));
}

TEST(Steering, WhoAsksIsOneLineOfBoundedLength) {
  EXPECT_EQ(who_asks({{"who", "a\nb\x1b[31m"}}), "ab[31m");
  EXPECT_EQ(who_asks({{"who", 7}}), "an unnamed client");
  EXPECT_EQ(who_asks(nlohmann::json::object()), "an unnamed client");
  EXPECT_LE(who_asks({{"who", std::string(5000, 'x')}}).size(), 200u);
}

}  // namespace
}  // namespace ringwright::service
