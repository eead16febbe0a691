// `ringwright run` against the real daemon, with workers that do what the recipe's `script` says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <sstream>

#include "tests/console/cli/demo_folder.h"
#include "tests/support/eventually.h"
#include "tests/support/processes.h"

namespace ringwright::cli {
namespace {

using test::Outcome;
using test::Program;
using ::testing::HasSubstr;

class RunVerb : public DemoTest {
 protected:
  void SetUp() override {
    write_text(3000, [](int) { return "In the beginning"; });
    write_weights();
    const Outcome started =
        Program(folder_.path(), {"--worker", std::string(RINGWRIGHT_BINARY_DIR) + "/tests/scripted_worker", "--stop-grace-s", "5"}, "ringwrightd")
            .wait();
    ASSERT_EQ(started.exit_code, 0) << started.err;
  }
  void TearDown() override { EXPECT_EQ(ringwright({"daemon", "stop"}).exit_code, 0); }

  static std::vector<std::string> run_arguments(std::vector<std::string> more) {
    return DemoTest::run_arguments("demo-sft-cp2.yaml", std::move(more));
  }
};

TEST_F(RunVerb, FollowsARunToItsEndAndSumsItUp) {
  const Outcome outcome = ringwright(
      run_arguments({"--name", "trial", "++script.0.metrics=50", "++script.1.metrics=50", "++script.0.exit_code=0", "++script.1.exit_code=0"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* text : {"trial on 2 ranks (cp 2)", "step 50/50  loss 0.02", "finished", "50 of 50", "1 -> 0.02", "ringwright runs show r_"})
    EXPECT_THAT(outcome.out, HasSubstr(text));
  const nlohmann::json run = shown("trial");
  EXPECT_EQ(run.at("state"), "finished");
  EXPECT_EQ(run.at("last_step"), 50);
}

TEST_F(RunVerb, AFailedRunExitsWithOneAndSaysWhichRankAndWhy) {
  const Outcome outcome = ringwright(run_arguments({"--json", "++script.0.metrics=1", "++script.1.exit_code=7", "++script.1.complain=\"it broke\""}));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  std::istringstream lines(outcome.out);
  nlohmann::json last;
  for (std::string line; std::getline(lines, line);) last = nlohmann::json::parse(line);
  EXPECT_EQ(last.at("summary").at("state"), "failed");
  EXPECT_EQ(last.at("summary").at("failed_rank"), 1);
  EXPECT_THAT(last.at("summary").at("reason").get<std::string>(), HasSubstr("code 7"));
}

TEST_F(RunVerb, CtrlCStopsTheRun) {
  Program program(folder_.path(), run_arguments({"++script.0.metrics=5", "++script.1.metrics=5"}));
  ASSERT_TRUE(test::eventually([&] { return program.out().find("step 5/50") != std::string::npos; }, 60));
  ::kill(program.pid(), SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("stopped"));
  EXPECT_THAT(outcome.err, HasSubstr("once more kills"));
}

TEST_F(RunVerb, DaemonStatusShowsTheDevices) {
  ASSERT_EQ(ringwright({"daemon", "stop"}).exit_code, 0);
  const auto restart = [&](const std::string& library) {
    EXPECT_EQ(Program(folder_.path(), {"--nvml", library}, "ringwrightd").wait().exit_code, 0);
    Outcome status;
    const auto has_read = [&] { return (status = ringwright({"daemon", "status"})).out.find("nothing has been read yet") == std::string::npos; };
    EXPECT_TRUE(test::eventually(has_read));
    return status.out;
  };
  const std::string out = restart(std::string(RINGWRIGHT_BINARY_DIR) + "/tests/fake_nvml.so");
  for (const char* text : {"devices   2, driver 580.65.06", "Fake H100", "87 %", "61 GiB of 80 GiB", "655 W of 700 W", "64 °C",
                           "ECC 2 uncorrected; power cap, thermal slowdown", "none; no reading: throttling, ECC"})
    EXPECT_THAT(out, HasSubstr(text));
  EXPECT_EQ(json_of({"daemon", "status"})["devices"]["list"].size(), 2u);
  ASSERT_EQ(ringwright({"daemon", "stop"}).exit_code, 0);
  EXPECT_THAT(restart("/nowhere/libnvidia-ml.so.1"), HasSubstr("devices   no reading: NVML"));
}

// T36: a daemon that is stopped (SIGSTOP) accepts connections, for the system does, and says nothing. Whoever waits for it can leave.
class FrozenDaemon : public RunVerb {
 protected:
  void SetUp() override {
    RunVerb::SetUp();
    daemon_ = json_of({"daemon", "status"})["pid"].get<pid_t>();
  }
  void TearDown() override {
    ::kill(daemon_, SIGCONT);
    RunVerb::TearDown();
  }
  void freeze() const {
    ASSERT_EQ(::kill(daemon_, SIGSTOP), 0);
    ASSERT_TRUE(test::eventually([&] { return test::state_of(daemon_) == 'T'; }));
  }
  pid_t daemon_ = -1;
};

TEST_F(FrozenDaemon, T36ACommandEndsWithin2sAndSaysThatItsEffectIsNotKnown) {
  const std::string id = json_of(run_arguments({"--detach"}))["run"];
  ASSERT_TRUE(test::eventually([&] { return shown(id)["state"] == "running"; }, 60));
  freeze();
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{{"stop", id}, {"daemon", "status"}, {"daemon", "stop"}}) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = ringwright(command);
    EXPECT_EQ(outcome.exit_code, 4) << command[0] << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("does not answer")) << command[0];
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2)) << command[0];
  }
  EXPECT_EQ(shown(id)["state"], "running") << "what reads the history needs no daemon";
}

TEST_F(FrozenDaemon, T36WhoeverFollowsARunCanLeave) {
  Program program(folder_.path(), run_arguments({"++script.0.metrics=5", "++script.1.metrics=5"}));
  ASSERT_TRUE(test::eventually([&] { return program.out().find("step 5/50") != std::string::npos; }, 60));
  freeze();
  ::kill(program.pid(), SIGINT);
  ASSERT_TRUE(test::eventually([&] { return program.err().find("does not answer") != std::string::npos; })) << program.err();
  const auto left = std::chrono::steady_clock::now();
  ::kill(program.pid(), SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_LT(std::chrono::steady_clock::now() - left, std::chrono::seconds(2));
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("run.stop` is not known"));
}

TEST_F(RunVerb, DetachPrintsTheIdAndStopStopsIt) {
  const Outcome detached = ringwright(run_arguments({"--detach", "++script.0.metrics=5", "++script.1.metrics=5"}));
  EXPECT_EQ(detached.exit_code, 0) << detached.err;
  ASSERT_TRUE(detached.out.starts_with("r_"));
  const std::string id = detached.out.substr(0, detached.out.find('\n'));
  EXPECT_EQ(ringwright({"stop", id, "--json"}).exit_code, 0);
  EXPECT_EQ(ringwright({"logs", id, "-f"}).exit_code, 0);  // ends with the run
  EXPECT_EQ(shown(id).at("state"), "stopped");
}

TEST_F(RunVerb, AHangupLeavesTheRunToTheDaemon) {
  Program program(folder_.path(), run_arguments({"--name", "left", "++script.0.metrics=5", "++script.1.metrics=5"}));
  ASSERT_TRUE(test::eventually([&] { return program.out().find("step 5/50") != std::string::npos; }, 60));
  ::kill(program.pid(), SIGHUP);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 128 + SIGHUP) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("goes on"));
  EXPECT_EQ(shown("left")["state"], "running");
  EXPECT_EQ(json_of({"stop", "left"})["state"], "stopping") << "nobody had asked it to stop";
}

TEST_F(RunVerb, AHistoryDeletedUnderARunIsNoSuccess) {
  Program program(folder_.path(), run_arguments({"++script.0.metrics=5", "++script.1.metrics=5"}));
  ASSERT_TRUE(test::eventually([&] { return program.out().find("step 5/50") != std::string::npos; }, 60));
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove((folder_.path() / "ringwright/history.db").string() + end);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("history is not being written"));
  EXPECT_THAT(outcome.err, HasSubstr("RW-CLI-047"));
  EXPECT_THAT(outcome.out, HasSubstr("(not recorded): the history cannot record it any more"));
}

TEST_F(RunVerb, NamesThatWouldHideARunAreRefused) {
  for (const char* name : {"last", "r_74fb"}) {
    const Outcome outcome = ringwright(run_arguments({"--name", name}));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("RW-STORE-016"));
  }
}

// Its sockets are elsewhere: the history's lock knows it.
TEST_F(RunVerb, DaemonStopFindsTheDaemonByItsHistory) {
  const pid_t daemon = json_of({"daemon", "status"})["pid"].get<pid_t>();
  test::Environment variables = test::clean_environment(folder_.path());
  std::filesystem::create_directory(folder_ / "elsewhere");
  variables["XDG_RUNTIME_DIR"] = (folder_ / "elsewhere").string();
  const Outcome refused = Program(folder_.path(), {"daemon", "start"}, "ringwright", variables).wait();
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_THAT(refused.err, HasSubstr("kill " + std::to_string(daemon)));
  const Outcome outcome = Program(folder_.path(), {"daemon", "stop"}, "ringwright", variables).wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(std::to_string(daemon)));
  EXPECT_TRUE(test::gone(daemon));
  EXPECT_EQ(ringwright({"daemon", "start"}).exit_code, 0);
}

TEST_F(RunVerb, RunsOfAKilledDaemonAreShownAsLost) {
  const std::string id = json_of(run_arguments({"--detach", "++script.0.metrics=5", "++script.1.metrics=5"}))["run"];
  ASSERT_TRUE(test::eventually([&] { return shown(id)["state"] == "running"; }, 60));
  const pid_t daemon = json_of({"daemon", "status"})["pid"].get<pid_t>();
  ::kill(daemon, SIGKILL);
  ASSERT_TRUE(test::eventually([&] { return test::gone(daemon); }));
  for (const pid_t worker : test::worker_processes(id)) ::kill(worker, SIGKILL);
  ASSERT_TRUE(test::eventually([&] { return shown(id)["state"] == "lost"; })) << "its last thread may hold the history for a moment";
  const nlohmann::json lost = shown(id);
  EXPECT_GE(lost["ended_unix_ns"], lost["started_unix_ns"]);
  EXPECT_EQ(json_of({"runs", "list", "--state", "running"}).size(), 0u);
  EXPECT_EQ(json_of({"runs", "list", "--state", "lost"}).size(), 1u);
  EXPECT_EQ(ringwright({"logs", id, "-f"}).exit_code, 0) << "there is nothing to wait for";
  ASSERT_EQ(ringwright({"daemon", "start"}).exit_code, 0);
  EXPECT_EQ(shown(id)["ended_unix_ns"], lost["ended_unix_ns"]) << "not the time of the restart";
}

TEST_F(RunVerb, RefusesAnotherStoreThanTheRunningDaemons) {
  const Outcome outcome = ringwright(run_arguments({"--store", (folder_.path() / "other.db").string()}));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("RW-CLI-021"));
}

// A daemon that ends with its last run lingers for a moment; another history does not have to wait for it.
TEST_F(RunVerb, AnIdleDaemonGivesWayToAnotherStore) {
  EXPECT_EQ(ringwright({"daemon", "stop"}).exit_code, 0);
  const std::string worker = std::string(RINGWRIGHT_BINARY_DIR) + "/tests/scripted_worker";
  ASSERT_EQ(Program(folder_.path(), {"--worker", worker, "--exit-when-idle"}, "ringwrightd").wait().exit_code, 0);
  const std::string other = (folder_.path() / "other.db").string();
  const Outcome outcome = ringwright(run_arguments({"--detach", "--store", other}));
  EXPECT_THAT(outcome.err, ::testing::Not(HasSubstr("RW-CLI-021")));
  EXPECT_EQ(json_of({"daemon", "status"}).at("store"), other);
}

TEST_F(RunVerb, RefusesAModelWithoutWeightsAndTooLittleData) {
  const Outcome batch = ringwright(run_arguments({"policy.train_global_batch_size=1000000"}));
  EXPECT_EQ(batch.exit_code, 3) << batch.err;
  EXPECT_THAT(batch.err, HasSubstr("RW-GUARD-215"));
  std::filesystem::remove(model() / "model.safetensors");
  const Outcome weights = ringwright(run_arguments({}));
  EXPECT_EQ(weights.exit_code, 3) << weights.err;
  EXPECT_THAT(weights.err, HasSubstr("RW-CKPT-003"));
  EXPECT_TRUE(json_of({"runs", "list"}).empty());
}

TEST_F(RunVerb, RefusesWhatCannotRunBeforeAnythingStarts) {
  const Outcome outcome = ringwright(run_arguments({"policy.dtensor_cfg.context_parallel_size=3"}));
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_TRUE(json_of({"runs", "list"}).empty());
}

}  // namespace
}  // namespace ringwright::cli
