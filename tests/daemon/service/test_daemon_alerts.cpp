// Alerts through a real daemon: found, recorded in the run's own history, told to a command that cannot hold the daemon up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "daemon/service/disk_watch.h"
#include "tests/support/daemon_process.h"
#include "tests/support/error_of.h"

namespace ringwright::service {
namespace {

using test::eventually;
using testing::HasSubstr;

class Alerts : public testing::Test {
 protected:
  void configure(const std::string& alerts) { folder_.write("c/ringwright/daemon.yaml", "alerts:\n" + alerts); }
  std::string heard_file() const { return (folder_ / "heard").string(); }
  std::vector<nlohmann::json> heard() const {
    std::vector<nlohmann::json> all;
    std::ifstream stream(heard_file());
    for (std::string line; std::getline(stream, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  }
  static std::vector<std::string> kinds(const std::vector<history::AlertRecord>& alerts) {
    std::vector<std::string> result;
    for (const history::AlertRecord& alert : alerts) result.push_back(alert.kind + (alert.topic.empty() ? "" : ":" + alert.topic));
    std::sort(result.begin(), result.end());
    return result;
  }
  std::vector<history::AlertRecord> alerts(const test::DaemonProcess& daemon, const std::string& run) const {
    return history::Reader(daemon.store()).alerts(run);
  }
  std::string launch(const test::DaemonProcess& daemon, nlohmann::json script, nlohmann::json rules = nullptr,
                     const std::string& checkpoint_directory = "") {
    nlohmann::json recipe = test::small_recipe(1);
    if (!checkpoint_directory.empty()) recipe["checkpointing"] = {{"enabled", true}, {"checkpoint_dir", checkpoint_directory}, {"save_period", 10}};
    recipe["script"] = {{"all", std::move(script)}};
    if (!rules.is_null()) recipe["ringwright"] = {{"alerts", std::move(rules)}};
    return daemon.request("run.launch", {{"name", "scripted"}, {"recipe", recipe}, {"world_size", 1}, {"mesh", {{"cp", 1}}}}).at("run");
  }
  nlohmann::json test_result(const test::DaemonProcess& daemon) const {
    const nlohmann::json started = daemon.request("alert.test");
    nlohmann::json result;
    EXPECT_TRUE(eventually([&] { return (result = daemon.request("alert.result", {{"test", started.at("test")}})).value("done", false); }));
    return result;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Alerts, AreRecordedInTheRunAndToldOnce) {
  configure("  command: cat >> " + heard_file() + "\n  rules:\n    - {kind: finished}\n    - {kind: threshold, metric: train/loss, above: 0.3}\n");
  test::DaemonProcess daemon(folder_);
  const std::string run = launch(daemon, {{"metrics", 5}, {"exit_code", 0}});
  daemon.wait_for_end(run);
  EXPECT_TRUE(eventually([&] { return alerts(daemon, run).size() == 2; }));
  EXPECT_EQ(kinds(alerts(daemon, run)), (std::vector<std::string>{"finished", "threshold:train/loss"}));
  EXPECT_TRUE(eventually([&] { return heard().size() == 2; }));
  const nlohmann::json first = heard().at(0);
  EXPECT_EQ(first.at("alert").at("kind"), "threshold");
  EXPECT_EQ(first.at("alert").at("detail").at("value"), 1.0);
  EXPECT_EQ(first.at("run").at("id"), run);
  EXPECT_EQ(first.at("run").at("name"), "scripted");
  EXPECT_FALSE(first.at("node").get<std::string>().empty());
}

TEST_F(Alerts, ARecipesRulesComeOnTop) {
  configure("  rules: [{kind: failed}]\n");
  test::DaemonProcess daemon(folder_);
  const std::string run =
      launch(daemon, {{"metrics", 2}, {"exit_code", 3}}, nlohmann::json::array({{{"kind", "threshold"}, {"metric", "train/lr"}, {"below", 1}}}));
  daemon.wait_for_end(run);
  EXPECT_TRUE(eventually([&] { return alerts(daemon, run).size() == 2; }));
  EXPECT_EQ(kinds(alerts(daemon, run)), (std::vector<std::string>{"failed", "threshold:train/lr"}));
  const ErrorParts refused = test::error_of([&] { launch(daemon, {{"exit_code", 0}}, nlohmann::json::array({{{"kind", "fialed"}}})); });
  EXPECT_EQ(refused.code, "RW-ALERT-001");
  EXPECT_THAT(refused.where, HasSubstr("ringwright.alerts[0].kind"));
}

// A command that hangs holds nobody up, and what became of it stands in the run's history.
TEST_F(Alerts, ACommandThatHangsIsEndedAndRecorded) {
  configure("  command: [sleep, '600']\n  command_time_limit_s: 0.5\n  rules: [{kind: threshold, metric: train/loss, above: 0}]\n");
  test::DaemonProcess daemon(folder_);
  const std::string run = launch(daemon, {{"metrics", 3}, {"ignore_stop", true}});
  EXPECT_TRUE(eventually([&] { return !alerts(daemon, run).empty(); }));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(daemon.request("status").at("counters").at("alerts_raised"), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
  std::string what;
  EXPECT_TRUE(eventually([&] {
    for (const wire::Event& event : history::Reader(daemon.store()).run_events(run, 1000))
      if (event.body.value("name", "") == "alert.command_failed") what = event.body.value("what", "");
    return !what.empty();
  }));
  EXPECT_THAT(what, HasSubstr("was ended after 0.5 s"));
  EXPECT_EQ(daemon.request("status").at("counters").at("alert_command_failures"), 1);
}

TEST_F(Alerts, ATestSaysHowTheCommandDid) {
  configure("  command: cat >> " + heard_file() + "\n");
  {
    test::DaemonProcess daemon(folder_);
    EXPECT_TRUE(test_result(daemon).at("good").get<bool>());
    EXPECT_EQ(heard().at(0).at("alert").at("kind"), "test");
    EXPECT_EQ(test::error_of([&] { daemon.request("alert.result", {{"test", 99}}); }).code, "RW-ALERT-005");
  }
  configure("  command: 'echo who >&2; exit 7'\n");
  {
    test::DaemonProcess daemon(folder_);
    const nlohmann::json result = test_result(daemon);
    EXPECT_FALSE(result.at("good").get<bool>());
    EXPECT_THAT(result.at("what").get<std::string>(), HasSubstr("exited with code 7: who"));
  }
  configure("  rules: []\n");
  test::DaemonProcess daemon(folder_);
  EXPECT_EQ(test::error_of([&] { daemon.request("alert.test"); }).code, "RW-ALERT-003");
}

// A disk that is too small from the start; and a run that its daemon lost.
TEST_F(Alerts, DiskAndLostRuns) {
  configure("  rules: [{kind: disk, free_below: 100000 TiB}, {kind: failed}]\n");
  std::string run;
  {
    test::DaemonProcess daemon(folder_);
    run = launch(daemon, {{"ignore_stop", true}});
    EXPECT_TRUE(eventually([&] { return kinds(alerts(daemon, run)) == std::vector<std::string>{"disk:" + (folder_ / "s").string()}; }));
    daemon.kill(SIGKILL);
    daemon.wait();
  }
  test::DaemonProcess daemon(folder_);
  EXPECT_TRUE(eventually([&] { return alerts(daemon, run).size() == 2; }));
  EXPECT_THAT(kinds(alerts(daemon, run)), testing::Contains("failed"));
}

// Checkpoints may go to a disk of their own; a folder that is not made yet will lie on its parent's.
TEST_F(Alerts, TheDiskOfTheCheckpointsIsLookedAtToo) {
  const test::TemporaryFolder other("/dev/shm");
  const auto here = disk_room(folder_.path()), there = disk_room(other / "not/made/yet");
  ASSERT_TRUE(here && there);
  if (here->device == there->device) GTEST_SKIP() << "this machine has one disk for both";
  configure("  rules: [{kind: disk, free_below: 100000 TiB}]\n");
  test::DaemonProcess daemon(folder_);
  const std::string elsewhere = launch(daemon, {{"ignore_stop", true}}, nullptr, (other / "not/made/yet").string());
  const std::string beside = launch(daemon, {{"ignore_stop", true}}, nullptr, (folder_ / "checkpoints").string());
  const std::string state = "disk:" + (folder_ / "s").string();
  EXPECT_TRUE(eventually([&] { return kinds(alerts(daemon, elsewhere)) == std::vector{"disk:" + (other / "not/made/yet").string(), state}; }))
      << testing::PrintToString(kinds(alerts(daemon, elsewhere)));
  EXPECT_TRUE(eventually([&] { return kinds(alerts(daemon, beside)) == std::vector{state}; }));
}

}  // namespace
}  // namespace ringwright::service
