// Nothing that was acknowledged is lost.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <set>

#include "shared/base/error.h"
#include "tests/deep_tier.h"
#include "tests/support/daemon_process.h"

namespace ringwright {
namespace {

using namespace test;
using history::RunState;

bool has_event(const DaemonProcess& daemon, const std::string& run, const std::string& name) {
  for (const wire::Event& event : history::Reader(daemon.store()).run_events(run, 1000))
    if (event.body.value("name", "") == name) return true;
  return false;
}

TEST(Store, KilledDaemonLosesNothingThatItAcknowledged) {
  const TemporaryFolder folder;
  std::string run;
  {
    DaemonProcess daemon(folder);
    run = daemon.launch(2, {{"all", {{"metrics", 2000}, {"ignore_stop", true}}}});
    ASSERT_TRUE(eventually([&] { return has_event(daemon, run, "test.acknowledged"); }));
    daemon.kill(SIGKILL);
    daemon.wait();
  }
  const DaemonProcess daemon(folder);
  const history::Reader reader(daemon.store());
  EXPECT_EQ(reader.run(run).state, RunState::lost);
  for (const int rank : {0, 1}) {
    const std::vector<history::MetricPoint> points = reader.metric(run, "train/loss", rank);
    ASSERT_EQ(points.size(), 2000u) << "rank " << rank;
    EXPECT_EQ(points.back().step, 2000);
    EXPECT_DOUBLE_EQ(points.back().value, 1.0 / 2000);
  }
}

TEST(Store, TalkersLoseNoPoint) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.worker = "test_talk_worker";
  const DaemonProcess daemon(folder, options);
  const uint64_t points_per_worker = test::by_tier<uint64_t>(10'000, 2'500'000);
  const std::string run = daemon.talk(4, points_per_worker);
  EXPECT_EQ(daemon.wait_for_end(run, test::by_tier(60, 600)).state, RunState::finished);
  const history::Reader reader(daemon.store());
  size_t points = 0;
  for (int rank = 0; rank < 4; ++rank)
    for (const std::string& name : reader.metric_names(run)) points += reader.metric(run, name, rank).size();
  EXPECT_EQ(points, 4 * points_per_worker);
}

// The daemon's files may not grow: like a full disk. It says so, goes on answering, and takes up its work when there is room again.
TEST(Store, FullDiskIsLivedThrough) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.worker = "test_talk_worker";
  options.file_bytes_max = 1 << 20;
  const DaemonProcess daemon(folder, options);
  const std::string run = daemon.talk(2, 60'000);
  ASSERT_TRUE(eventually([&] { return !daemon.request("status")["store_error"].is_null(); }, 60));
  const nlohmann::json status = daemon.request("status");
  EXPECT_EQ(status["store_error"]["code"], "RW-STORE-004") << status["store_error"].dump();
  EXPECT_EQ(status["active_runs"], 1);
  try {
    daemon.talk(1, 1);
    FAIL() << "a run was started that cannot be recorded";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::store);
  }
  const rlimit room{RLIM_INFINITY, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(daemon.pid(), RLIMIT_FSIZE, &room, nullptr), 0);
  EXPECT_EQ(daemon.wait_for_end(run, 60).state, RunState::finished);
  const history::Reader reader(daemon.store());
  size_t points = 0;
  for (int rank = 0; rank < 2; ++rank)
    for (const std::string& name : reader.metric_names(run)) points += reader.metric(run, name, rank).size();
  EXPECT_EQ(points, 120'000u);
  EXPECT_TRUE(daemon.request("status")["store_error"].is_null());
}

// A run whose worker dies while the disk is full is still supervised, and its state is recorded later.
TEST(Store, StateIsRecordedWhenThereIsRoomAgain) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.file_bytes_max = 1 << 20;
  const DaemonProcess daemon(folder, options);
  const std::string run = daemon.launch(2, {{"0", {{"metrics", 100'000}}}, {"all", nlohmann::json::object()}});
  // By the system's word: the store may be full before both workers' first events are in it.
  std::vector<pid_t> pids;
  ASSERT_TRUE(eventually([&] { return (pids = worker_processes(run)).size() == 2; }));
  ASSERT_TRUE(eventually([&] { return !daemon.request("status")["store_error"].is_null(); }, 60));
  daemon.request("run.stop", {{"run", run}, {"force", true}});
  EXPECT_TRUE(eventually([&] { return gone(pids[0]) && gone(pids[1]) && daemon.request("hello")["active_runs"] == 0; }));
  const rlimit room{RLIM_INFINITY, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(daemon.pid(), RLIMIT_FSIZE, &room, nullptr), 0);
  const history::RunRecord record = daemon.wait_for_end(run);
  EXPECT_EQ(record.state, RunState::stopped);
  EXPECT_EQ(record.reason, "forced");
}

// The end state that a client can be told, as `status` has it.
nlohmann::json unrecorded_state(const DaemonProcess& daemon, const std::string& run) {
  const nlohmann::json status = daemon.request("status");
  for (const nlohmann::json& state : status["unrecorded"])
    if (state["run"] == run) return state;
  return nlohmann::json::object();
}

// Without taking its status away.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

TEST(Store, AnEndThatIsNotRecordedYetIsToldAndKeepsAnIdleDaemon) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.file_bytes_max = 1 << 20;
  options.more.push_back("--exit-when-idle");
  DaemonProcess daemon(folder, options);
  const std::string run = daemon.launch(1, {{"0", {{"metrics", 100'000}}}});
  ASSERT_TRUE(eventually([&] { return !daemon.request("status")["store_error"].is_null(); }, 60));
  daemon.request("run.stop", {{"run", run}, {"force", true}});
  ASSERT_TRUE(eventually([&] { return unrecorded_state(daemon, run).value("state", "") == "stopped"; }));
  EXPECT_EQ(unrecorded_state(daemon, run)["reason"], "forced");
  EXPECT_EQ(daemon.request("run.stop", {{"run", run}})["state"], "stopped");
  EXPECT_FALSE(eventually([&] { return has_ended(daemon.pid()); }, 3)) << "it ended idle";
  const rlimit room{RLIM_INFINITY, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(daemon.pid(), RLIMIT_FSIZE, &room, nullptr), 0);
  EXPECT_EQ(daemon.wait(), 0) << "with everything recorded it ends by itself";
  EXPECT_EQ(daemon.record(run).state, RunState::stopped);
}

TEST(Store, ADaemonThatIsToldToEndEndsWithAFullDisk) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.file_bytes_max = 1 << 20;
  DaemonProcess daemon(folder, options);
  daemon.launch(1, {{"0", {{"metrics", 100'000}}}});
  ASSERT_TRUE(eventually([&] { return !daemon.request("status")["store_error"].is_null(); }, 60));
  daemon.kill(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
}

// Nobody would find what it records: it is not trained for hours in vain.
TEST(Store, ADeletedHistoryFailsTheRunAndSaysWhy) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run = daemon.launch(2, {{"all", {{"metrics", 5}}}});
  const std::vector<pid_t> pids = daemon.wait_for_processes(run, 2);
  for (const char* end : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(daemon.store().string() + end);
  ASSERT_TRUE(eventually([&] { return unrecorded_state(daemon, run).value("state", "") == "failed"; })) << daemon.request("status").dump();
  EXPECT_NE(unrecorded_state(daemon, run)["reason"].get<std::string>().find("deleted"), std::string::npos);
  EXPECT_TRUE(gone(pids[0]) && gone(pids[1]));
  EXPECT_EQ(daemon.request("status")["store_error"]["code"], "RW-STORE-015");
}

}  // namespace
}  // namespace ringwright
