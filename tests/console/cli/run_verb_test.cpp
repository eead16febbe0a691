// `ringwright run` against the real daemon, with workers that do what the recipe's `script` says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/console/cli/program.h"
#include "tests/shared/history/temporary_store.h"

namespace ringwright::cli {
namespace {

using history::testing::TemporaryFolder;
using testing::call;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::Program;

class RunVerb : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path cache = folder_.path() / "ringwright";
    std::filesystem::create_directories(cache / "data");
    std::filesystem::create_directories(cache / "models");
    std::filesystem::permissions(cache, std::filesystem::perms::owner_all);
    std::filesystem::copy(std::string(RINGWRIGHT_SOURCE_DIR) + "/assets/models/demo", cache / "models" / "demo",
                          std::filesystem::copy_options::recursive);
    std::ofstream text(cache / "data" / "kjv.txt");
    for (int i = 0; i < 3000; ++i) text << "In the beginning\n";
    const Outcome started =
        Program(folder_.path(), {"--worker", std::string(RINGWRIGHT_BINARY_DIR) + "/tests/scripted_worker", "--stop-grace-s", "5"}, "ringwrightd")
            .wait();
    ASSERT_EQ(started.exit_code, 0) << started.err;
  }
  void TearDown() override { EXPECT_EQ(ringwright({"daemon", "stop"}).exit_code, 0); }

  static std::vector<std::string> run_arguments(std::vector<std::string> more) {
    more.insert(more.begin(), {"run", std::string(RINGWRIGHT_SOURCE_DIR) + "/assets/recipes/demo-sft-cp2.yaml"});
    return more;
  }
  Outcome ringwright(std::vector<std::string> arguments) { return call(folder_.path(), std::move(arguments)); }

  TemporaryFolder folder_;
};

TEST_F(RunVerb, FollowsARunToItsEndAndSumsItUp) {
  const Outcome outcome = ringwright(
      run_arguments({"--name", "trial", "++script.0.metrics=50", "++script.1.metrics=50", "++script.0.exit_code=0", "++script.1.exit_code=0"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* text : {"trial on 2 ranks (cp 2)", "step 50/50  loss 0.02", "finished", "50 of 50", "1 -> 0.02", "ringwright runs show r_"})
    EXPECT_THAT(outcome.out, HasSubstr(text));
  const nlohmann::json run = nlohmann::json::parse(ringwright({"runs", "show", "trial", "--json"}).out);
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
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (program.out().find("step 5/50") == std::string::npos && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ::kill(program.pid(), SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("stopped"));
  EXPECT_THAT(outcome.err, HasSubstr("once more kills"));
}

TEST_F(RunVerb, DetachPrintsTheIdAndStopStopsIt) {
  const Outcome detached = ringwright(run_arguments({"--detach", "++script.0.metrics=5", "++script.1.metrics=5"}));
  EXPECT_EQ(detached.exit_code, 0) << detached.err;
  ASSERT_TRUE(detached.out.starts_with("r_"));
  const std::string id = detached.out.substr(0, detached.out.find('\n'));
  EXPECT_EQ(ringwright({"stop", id, "--json"}).exit_code, 0);
  EXPECT_EQ(ringwright({"logs", id, "-f"}).exit_code, 0);  // ends with the run
  EXPECT_EQ(nlohmann::json::parse(ringwright({"runs", "show", id, "--json"}).out).at("state"), "stopped");
}

TEST_F(RunVerb, RefusesAnotherStoreThanTheRunningDaemons) {
  const Outcome outcome = ringwright(run_arguments({"--store", (folder_.path() / "other.db").string()}));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("RW-CLI-021"));
}

TEST_F(RunVerb, RefusesWhatCannotRunBeforeAnythingStarts) {
  const Outcome outcome = ringwright(run_arguments({"policy.dtensor_cfg.context_parallel_size=3"}));
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_TRUE(nlohmann::json::parse(ringwright({"runs", "list", "--json"}).out).empty());
}

}  // namespace
}  // namespace ringwright::cli
