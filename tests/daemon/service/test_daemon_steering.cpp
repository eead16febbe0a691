// A run that is steered while it goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>

#include "tests/support/daemon_process.h"
#include "tests/support/error_of.h"

namespace ringwright {
namespace {

using namespace test;
using history::RunState;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kWho = "somebody@here, a test";

class SteeredDaemon : public ::testing::Test {
 protected:
  std::string launch_two() { return running(daemon_.launch(2, nlohmann::json::object(), {{"recipe", recipe()}})); }
  std::string running(const std::string& run) {
    EXPECT_TRUE(eventually([&] { return daemon_.record(run).state == RunState::running; }));
    return run;
  }
  static nlohmann::json recipe() {
    nlohmann::json recipe = small_recipe(2);
    recipe["checkpointing"] = {{"enabled", true}, {"save_period", 5}};
    return recipe;
  }
  nlohmann::json ask(const std::string& op, const std::string& run, nlohmann::json more = nlohmann::json::object()) {
    more["run"] = run;
    more["who"] = kWho;
    return daemon_.request(op, more);
  }
  ErrorParts refused(const std::string& op, const std::string& run, nlohmann::json more = nlohmann::json::object()) {
    return error_of([&] { ask(op, run, more); });
  }
  bool becomes(const std::string& run, RunState state) {
    return eventually([&] { return daemon_.record(run).state == state; });
  }
  // What was asked of the run, and by whom; oldest first.
  std::vector<std::string> asked(const std::string& run) {
    std::vector<std::string> actions;
    const auto events = history::Reader(daemon_.store()).run_events(run, 1000);
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if (event->body.value("name", "") != "run.steering") continue;
      EXPECT_EQ(event->body["who"], kWho);
      EXPECT_GT(event->time_unix_ns, 0);
      actions.push_back(event->body["action"]);
    }
    return actions;
  }

  const TemporaryFolder folder_;
  const DaemonProcess daemon_{folder_};
};

TEST_F(SteeredDaemon, APausedRunShowsAsSuchAndGoesOn) {
  const std::string run = launch_two();
  const int64_t started = daemon_.record(run).started_unix_ns;
  EXPECT_EQ(ask("run.pause", run)["state"], "running") << "until its step is over";
  ASSERT_TRUE(becomes(run, RunState::paused));
  EXPECT_EQ(daemon_.record(run).reason, "after step 5");
  EXPECT_EQ(daemon_.request("snapshot")["runs"][0]["state"], "paused");
  ask("run.checkpoint", run);
  EXPECT_TRUE(eventually([&] { return history::Reader(daemon_.store()).checkpoints(run).size() == 1; }));
  ask("run.resume", run);
  ASSERT_TRUE(becomes(run, RunState::running));
  EXPECT_EQ(daemon_.record(run).started_unix_ns, started) << "it starts once";
  ask("run.set", run, {{"key", "optimizer.lr"}, {"value", 1e-4}});
  ask("run.stop", run);
  EXPECT_EQ(daemon_.wait_for_end(run).state, RunState::stopped);
  EXPECT_THAT(asked(run), ElementsAre("pause", "checkpoint", "resume", "set", "stop"));
}

TEST_F(SteeredDaemon, APausedRunCanBeStoppedKilledAndLost) {
  const std::string stopped = launch_two(), killed = launch_two(), failed = launch_two();
  for (const std::string& run : {stopped, killed, failed}) {
    ask("run.pause", run);
    ASSERT_TRUE(becomes(run, RunState::paused));
  }
  ask("run.stop", stopped);
  ask("run.stop", killed, {{"mode", "now"}});
  ::kill(daemon_.wait_for_processes(failed, 2).front(), SIGKILL);
  EXPECT_EQ(daemon_.wait_for_end(stopped).state, RunState::stopped);
  EXPECT_EQ(daemon_.wait_for_end(killed).reason, "forced");
  EXPECT_EQ(daemon_.wait_for_end(failed).state, RunState::failed);
  EXPECT_THAT(asked(killed), ElementsAre("pause", "stop-now"));
}

TEST_F(SteeredDaemon, StopAfterCheckpointWaitsForIt) {
  const std::string run = daemon_.launch(1, nlohmann::json::object(), {{"recipe", recipe()}});
  running(run);
  ask("run.stop", run, {{"mode", "after-checkpoint"}});
  const history::RunRecord record = daemon_.wait_for_end(run);
  EXPECT_EQ(record.state, RunState::stopped);
  EXPECT_EQ(record.reason, "on request, with a checkpoint after step 5");
  EXPECT_THAT(asked(run), ElementsAre("stop-after-checkpoint"));
}

TEST_F(SteeredDaemon, RefusalsSayWhyAndLeaveNoEvent) {
  const std::string over = daemon_.launch(1, {{"all", {{"exit_code", 0}}}});
  daemon_.wait_for_end(over);
  EXPECT_THAT(refused("run.pause", over).what, HasSubstr("it is over (finished)"));
  EXPECT_EQ(refused("run.resume", over).exit_code, ExitCode::refused);
  const std::string plain = running(daemon_.launch(1));
  EXPECT_THAT(refused("run.stop", plain, {{"mode", "after-checkpoint"}}).what, HasSubstr("saves none before its end"));
  EXPECT_EQ(refused("run.set", plain, {{"key", "optimizer.lr"}, {"value", -1}}).code, "RW-STEER-002");
  EXPECT_EQ(refused("run.set", plain, {{"key", "sft.seed"}, {"value", 1}}).code, "RW-STEER-001");
  EXPECT_EQ(refused("run.pause", "r_ffffffff").code, "RW-STORE-011");
  EXPECT_EQ(refused("run.stop", plain, {{"mode", "soon"}}).code, "RW-WIRE-006");
  EXPECT_THAT(asked(plain), ElementsAre());
  EXPECT_THAT(asked(over), ElementsAre());
}

TEST_F(SteeredDaemon, ARelaunchIsInTheHistoryOfBoth) {
  const std::string first = daemon_.launch(1, {{"all", {{"exit_code", 0}}}});
  daemon_.wait_for_end(first);
  const std::string again = daemon_.launch(1, {{"all", {{"exit_code", 0}}}}, {{"relaunch_of", first}, {"who", kWho}});
  daemon_.wait_for_end(again);
  for (const std::string& run : {first, again}) EXPECT_TRUE(eventually([&] { return asked(run) == std::vector<std::string>{"relaunch"}; })) << run;
}

TEST(SteeredTalker, KeepsItsPaceAndItsPauses) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.worker = "test_talk_worker";
  const DaemonProcess daemon(folder, options);
  const nlohmann::json plan = {{"workers", 1}, {"points", 1'000'000}, {"names", 3}, {"steps_per_s", 200.0}, {"spans", true}, {"sample_every", 2}};
  const std::string run = daemon.request("run.launch", {{"talk", plan}}).at("run");
  const auto step = [&] { return daemon.record(run).last_step; };
  ASSERT_TRUE(eventually([&] { return step() > 3; }));
  daemon.request("run.pause", {{"run", run}});
  ASSERT_TRUE(eventually([&] { return daemon.record(run).state == RunState::paused; }));
  const int64_t paused_at = step();
  EXPECT_EQ(daemon.record(run).reason, "after step " + std::to_string(paused_at));
  EXPECT_EQ(error_of([&] { daemon.request("run.checkpoint", {{"run", run}}); }).code, "RW-STEER-010");
  EXPECT_EQ(step(), paused_at);
  daemon.request("run.resume", {{"run", run}});
  EXPECT_TRUE(eventually([&] { return step() > paused_at; }));
  daemon.request("run.stop", {{"run", run}});
  EXPECT_EQ(daemon.wait_for_end(run).state, RunState::stopped);
  const history::Reader reader(daemon.store());
  EXPECT_THAT(reader.metric_names(run), ElementsAre("talk/0", "talk/1", "talk/2"));
  EXPECT_FALSE(reader.spans(run, 1, 1).empty());
  EXPECT_FALSE(reader.samples(run, 10).empty());
}

// A recorded run, sent once more, is the same run.
TEST(SteeredTalker, SendsARecordedRun) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.worker = "test_talk_worker";
  const DaemonProcess daemon(folder, options);
  const nlohmann::json plan = {{"workers", 2}, {"points", 4000}, {"names", 1500}, {"nan_every", 3}, {"spike_every", 2}, {"log_every", 1}};
  const std::string first = daemon.request("run.launch", {{"talk", plan}}).at("run");
  ASSERT_EQ(daemon.wait_for_end(first).state, RunState::finished);
  const nlohmann::json replay = {{"workers", 2}, {"from", daemon.store().string()}, {"from_run", first}};
  const std::string again = daemon.request("run.launch", {{"talk", replay}}).at("run");
  ASSERT_EQ(daemon.wait_for_end(again).state, RunState::finished);
  const history::Reader reader(daemon.store());
  const std::vector<std::string> names = reader.metric_names(first);
  EXPECT_EQ(names.size(), 1500u);
  EXPECT_EQ(reader.metric_names(again), names);
  for (const std::string& name : names)
    for (const int rank : {0, 1}) {
      const auto a = reader.metric(first, name, rank), b = reader.metric(again, name, rank);
      ASSERT_EQ(a.size(), b.size()) << name;
      for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(a[i].step, b[i].step);
        ASSERT_TRUE(a[i].value == b[i].value || (std::isnan(a[i].value) && std::isnan(b[i].value))) << name << " " << a[i].value << " " << b[i].value;
      }
    }
  const std::string missing = daemon.request("run.launch", {{"talk", {{"workers", 1}, {"from", (folder / "gone").string()}}}}).at("run");
  const history::RunRecord failed = daemon.wait_for_end(missing);
  EXPECT_EQ(failed.state, RunState::failed);
  EXPECT_THAT(failed.reason, HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace ringwright
