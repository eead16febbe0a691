// Steering real training: what is asked for between two steps, and what becomes of the losses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "shared/history/store.h"
#include "tests/console/cli/small_run.h"

namespace ringwright::cli {
namespace {

using test::Outcome;
using ::testing::Contains;
using ::testing::HasSubstr;

class SteeringVerbs : public SmallRunTest {
 protected:
  // Runs without end unless `more` says otherwise; its id.
  std::string start(const std::string& recipe, const std::string& name, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--detach", "--name", name});
    const Outcome outcome = run(recipe, std::move(more));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out.substr(0, outcome.out.find('\n'));
  }
  bool becomes(const std::string& run, const std::string& state) {
    return eventually([&] { return shown(run).value("state", "") == state; });
  }
  void steer(std::vector<std::string> arguments) {
    const Outcome outcome = ringwright(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  // The events of this name, oldest first.
  std::vector<nlohmann::json> steering(const std::string& run, const std::string& name) {
    std::vector<nlohmann::json> found;
    const nlohmann::json record = shown(run);
    for (const nlohmann::json& entry : record.at("steering"))
      if (entry["name"] == name) found.push_back(entry);
    return found;
  }
  std::vector<double> values(const std::string& run, const std::string& metric) {
    std::vector<double> numbers;
    for (const nlohmann::json& point : points_of(run, metric)) numbers.push_back(point["value"].get<double>());
    return numbers;
  }
};

TEST_F(SteeringVerbs, APauseChangesNothingThatIsTrained) {
  const std::string paused = start("demo-sft-cp2.yaml", "paused", {"policy.train_global_batch_size=16"});
  wait_for_step(paused, 3);
  steer({"pause", paused});
  ASSERT_TRUE(becomes(paused, "paused"));
  const int at = shown(paused)["last_step"];
  EXPECT_EQ(shown(paused)["reason"], "after step " + std::to_string(at));
  steer({"checkpoint", paused});
  ASSERT_TRUE(eventually([&] { return shown(paused)["checkpoints"].size() == 1; }));
  EXPECT_EQ(shown(paused)["checkpoints"][0]["step"], at);
  EXPECT_EQ(shown(paused)["last_step"], at) << "it does not go on";
  steer({"resume", paused});
  wait_for_step(paused, at + 3);
  steer({"stop", paused});
  ASSERT_TRUE(becomes(paused, "stopped"));
  const Outcome whole =
      run("demo-sft-cp2.yaml", {"policy.train_global_batch_size=16", "--name", "whole", "sft.max_num_steps=" + std::to_string(at + 3)});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  const std::vector<double> a = values("whole", "train/loss"), b = values(paused, "train/loss");
  ASSERT_GE(b.size(), a.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], b[i]) << "step " << i + 1;
  std::vector<std::string> asked;
  for (const nlohmann::json& entry : steering(paused, "run.steering")) {
    asked.push_back(entry["action"]);
    EXPECT_THAT(entry["who"].get<std::string>(), HasSubstr(", ringwright "));
  }
  EXPECT_EQ(asked, (std::vector<std::string>{"pause", "checkpoint", "resume", "stop"}));
  EXPECT_THAT(ringwright({"runs", "show", paused}).out, HasSubstr("asked: pause"));
}

// The rate is the old one up to one step, and the new one from the next on.
// losses.
TEST_F(SteeringVerbs, ASettingHoldsFromOneStepOnOnAllRanks) {
  const std::string run = start("demo-sft-cp2.yaml", "set", {"policy.train_global_batch_size=16", "~policy.scheduler"});
  wait_for_step(run, 2);
  steer({"set", run, "optimizer.weight_decay=0.5"});
  steer({"set", run, "optimizer.lr=0.0003"});
  ASSERT_TRUE(eventually([&] { return steering(run, "run.setting").size() == 2; }));
  nlohmann::json changed;
  for (const nlohmann::json& each : steering(run, "run.setting"))
    if (each["key"] == "optimizer.lr") changed = each;
  EXPECT_EQ(changed["value"], 0.0003);
  EXPECT_EQ(changed["previous"], 0.001);
  const auto step = changed["step"].get<size_t>();
  wait_for_step(run, static_cast<int>(step) + 3);
  steer({"stop", run});
  ASSERT_TRUE(becomes(run, "stopped"));
  const std::vector<double> rates = values(run, "train/lr"), losses = values(run, "train/loss");
  for (size_t i = 0; i < rates.size(); ++i) EXPECT_EQ(rates[i], i < step ? 0.001 : 0.0003) << "step " << i + 1;
  for (const double loss : losses) EXPECT_TRUE(std::isfinite(loss));
}

TEST_F(SteeringVerbs, StopAfterCheckpointStopsWithOne) {
  const std::string run =
      start("demo-sft-cp2.yaml", "saved", {"policy.train_global_batch_size=16", "checkpointing.enabled=true", "checkpointing.save_period=4"});
  wait_for_step(run, 1);
  steer({"stop", "--after-checkpoint", run});
  ASSERT_TRUE(becomes(run, "stopped"));
  const nlohmann::json record = shown(run);
  EXPECT_EQ(record["last_step"].get<int>() % 4, 0);
  EXPECT_EQ(record["checkpoints"].back()["step"], record["last_step"]);
  EXPECT_THAT(record["reason"].get<std::string>(), HasSubstr("with a checkpoint after step"));
}

TEST_F(SteeringVerbs, RefusalsSayWhy) {
  ASSERT_EQ(ringwright({"daemon", "start"}).exit_code, 0);
  const std::string run = start("demo-sft-cp1.yaml", "short", {"sft.max_num_steps=1", "checkpointing.enabled=false"});
  ASSERT_TRUE(becomes(run, "finished"));
  const auto refused = [&](std::vector<std::string> arguments, int exit_code, const std::string& why) {
    const Outcome outcome = ringwright(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr(why));
  };
  refused({"pause", run}, 3, "cannot be paused: it is over (finished)");
  refused({"checkpoint", run}, 3, "it is over (finished)");
  refused({"set", run, "optimizer.lr=-1"}, 2, "optimizer.lr cannot be -1");
  refused({"set", run, "policy.model_name=x"}, 2, "cannot be changed while a run is going on");
  refused({"stop", run, "--now", "--after-checkpoint"}, 2, "--after-checkpoint");
  refused({"relaunch", run, "sft.max_num_stepz=3"}, 2, "sft.max_num_stepz");
}

TEST_F(SteeringVerbs, ARelaunchRepeatsTheRunWithOtherValues) {
  ASSERT_EQ(ringwright({"daemon", "start"}).exit_code, 0);
  const Outcome first = run("demo-sft-cp1.yaml", {"--name", "first", "sft.max_num_steps=3"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Outcome again = ringwright({"relaunch", "first", "sft.max_num_steps=4", "--name", "again"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  std::vector<double> a = values("first", "train/loss"), b = values("again", "train/loss");
  ASSERT_EQ(b.size(), 4u);
  b.pop_back();
  EXPECT_EQ(a, b);
  EXPECT_THAT(shown("again")["overrides"].dump(), HasSubstr("sft.max_num_steps=4"));
  const nlohmann::json of = steering("again", "run.steering").at(0);
  EXPECT_EQ(of["action"], "relaunch");
  EXPECT_EQ(of["of"], shown("first")["id"]);
  EXPECT_EQ(steering("first", "run.steering").at(0)["as"], shown("again")["id"]);
}

}  // namespace
}  // namespace ringwright::cli
