// T41: whatever dies first, no process of the run is left, and the run has the right final state.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "shared/base/process_tree.h"
#include "tests/support/daemon_process.h"

namespace ringwright {
namespace {

using namespace test;
using history::RunState;

constexpr double kGraceAndFive_s = 0.3 + 0.3 + 5;

bool all_gone(const std::vector<pid_t>& pids) { return std::all_of(pids.begin(), pids.end(), gone); }

// Four workers in a collective: rank 3 hangs in it, the others would go on.
nlohmann::json in_a_collective() { return {{"3", {{"blocked", true}}}, {"all", nlohmann::json::object()}}; }

TEST(Faults, T41aStopFromAClient) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run = daemon.launch(4);
  const std::vector<pid_t> pids = daemon.wait_for_processes(run, 4);
  daemon.request("run.stop", {{"run", run}});
  const history::RunRecord record = daemon.wait_for_end(run, kGraceAndFive_s);
  EXPECT_EQ(record.state, RunState::stopped);
  EXPECT_EQ(record.reason, "on request");
  EXPECT_TRUE(all_gone(pids));
}

TEST(Faults, T41aStopInACollectiveNeedsSigtermOnly) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run = daemon.launch(4, in_a_collective());
  const std::vector<pid_t> pids = daemon.wait_for_processes(run, 4);
  daemon.request("run.stop", {{"run", run}});
  const history::RunRecord record = daemon.wait_for_end(run, kGraceAndFive_s);
  EXPECT_EQ(record.state, RunState::stopped);
  EXPECT_EQ(record.reason, "on request");
  EXPECT_TRUE(all_gone(pids));
}

TEST(Faults, T41bSigtermToTheDaemon) {
  const TemporaryFolder folder;
  DaemonProcess daemon(folder);
  const std::string run = daemon.launch(4, in_a_collective());
  const std::vector<pid_t> pids = daemon.wait_for_processes(run, 4);
  daemon.kill(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
  EXPECT_TRUE(all_gone(pids));
  EXPECT_EQ(daemon.record(run).state, RunState::stopped);
}

TEST(Faults, T41cSigkillToTheDaemon) {
  const TemporaryFolder folder;
  std::string run;
  std::vector<pid_t> pids;
  {
    DaemonProcess daemon(folder);
    run = daemon.launch(4, {{"3", {{"blocked", true}}}, {"2", {{"child", true}}}, {"all", {{"ignore_stop", true}}}});
    pids = daemon.wait_for_processes(run, 5);
    daemon.kill(SIGKILL);
    EXPECT_EQ(WTERMSIG(daemon.wait()), SIGKILL);
  }
  const DaemonProcess daemon(folder);  // at once: before the orphans have ended
  const history::RunRecord record = daemon.record(run);
  EXPECT_EQ(record.state, RunState::lost);
  EXPECT_NE(record.reason.find("daemon"), std::string::npos) << record.reason;
  EXPECT_TRUE(eventually([&] { return all_gone(pids); }, kGraceAndFive_s));
}

TEST(Faults, T41dSigkillToOneWorker) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run = daemon.launch(4, in_a_collective());
  const std::vector<pid_t> pids = daemon.wait_for_processes(run, 4);
  pid_t second = 0;
  for (const wire::Event& event : history::Reader(daemon.store()).run_events(run, 100))
    if (event.rank == 1 && event.body.value("name", "") == "test.started") second = event.body["pid"].get<pid_t>();
  ::kill(second, SIGKILL);
  const history::RunRecord record = daemon.wait_for_end(run, kGraceAndFive_s);
  EXPECT_EQ(record.state, RunState::failed);
  EXPECT_EQ(record.failed_rank, 1);
  EXPECT_NE(record.reason.find("rank 1 was killed by signal 9"), std::string::npos) << record.reason;
  EXPECT_TRUE(all_gone(pids));
}

TEST(Faults, T41dExitCodeAndLastLinesAreKept) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run =
      daemon.launch(2, {{"1", {{"complain", "first\nno such file: x.bin\n"}, {"exit_code", 3}}}, {"all", nlohmann::json::object()}});
  const history::RunRecord record = daemon.wait_for_end(run, kGraceAndFive_s);
  EXPECT_EQ(record.state, RunState::failed);
  EXPECT_EQ(record.reason, "rank 1 exited with code 3: no such file: x.bin");
  nlohmann::json last_lines;
  for (const wire::Event& event : history::Reader(daemon.store()).run_events(run, 100))
    if (event.body.value("state", "") == "failed") last_lines = event.body["last_lines"];
  EXPECT_EQ(last_lines, (nlohmann::json{"first", "no such file: x.bin"}));
}

// Rank 1 is found dead first, but it only lost its group; rank 0 said why.
TEST(Faults, ReasonIsTheCauseAndNotItsConsequence) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run = daemon.launch(2, {{"0", {{"ignore_sigterm", true}, {"tell", {{"code", "RW-CKPT-005"}, {"what", "the disk is full"}}}}},
                                            {"1", {{"tell", {{"code", "RW-GROUP-004"}, {"what", "closed by peer"}}}, {"exit_code", 1}}}});
  const history::RunRecord record = daemon.wait_for_end(run, kGraceAndFive_s);
  EXPECT_EQ(record.state, RunState::failed);
  EXPECT_EQ(record.failed_rank, 0);
  EXPECT_EQ(record.reason, "rank 0 failed: the disk is full");
}

TEST(Faults, StoppedRunSaysThatItsCheckpointFailed) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run = daemon.launch(1, {{"all", {{"tell", {{"code", "RW-CKPT-005"}, {"what", "the disk is full"}}}}}});
  daemon.wait_for_processes(run, 1);
  daemon.request("run.stop", {{"run", run}});
  const history::RunRecord record = daemon.wait_for_end(run, kGraceAndFive_s);
  EXPECT_EQ(record.state, RunState::stopped);
  EXPECT_EQ(record.reason, "on request; rank 0 failed: the disk is full");
}

TEST(Faults, T41eWorkerThatIgnoresSigterm) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run = daemon.launch(4, {{"2", {{"ignore_sigterm", true}, {"ignore_stop", true}}}, {"all", nlohmann::json::object()}});
  const std::vector<pid_t> pids = daemon.wait_for_processes(run, 4);
  daemon.request("run.stop", {{"run", run}});
  const history::RunRecord record = daemon.wait_for_end(run, kGraceAndFive_s);
  EXPECT_EQ(record.state, RunState::stopped);
  EXPECT_EQ(record.reason, "forced");
  EXPECT_TRUE(all_gone(pids));
}

TEST(Faults, T41fWorkerWithChildren) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run = daemon.launch(2, {{"all", {{"child", true}}}});
  const std::vector<pid_t> pids = daemon.wait_for_processes(run, 4);
  EXPECT_EQ(pids.size(), 4u);
  daemon.request("run.stop", {{"run", run}});
  const history::RunRecord record = daemon.wait_for_end(run, kGraceAndFive_s);
  EXPECT_EQ(record.state, RunState::stopped);
  EXPECT_EQ(record.reason, "on request");
  EXPECT_TRUE(eventually([&] { return all_gone(pids); }, kGraceAndFive_s));
}

// Also a process with a session of its own, which no signal to the worker's group reaches, and what is below it.
TEST(Faults, T41fWhateverAWorkerHasStartedEndsWithIt) {
  struct End {
    const char* name;
    std::function<void(DaemonProcess&, const std::string&, pid_t)> act;
    bool daemon_ends;
  };
  const End ends[] = {
      {"stop", [](DaemonProcess& daemon, const std::string& run, pid_t) { daemon.request("run.stop", {{"run", run}}); }, false},
      {"SIGKILL to a worker", [](DaemonProcess&, const std::string&, pid_t worker) { ::kill(worker, SIGKILL); }, false},
      {"SIGTERM to the daemon", [](DaemonProcess& daemon, const std::string&, pid_t) { daemon.kill(SIGTERM); }, true},
      {"SIGKILL to the daemon", [](DaemonProcess& daemon, const std::string&, pid_t) { daemon.kill(SIGKILL); }, true},
  };
  for (const End& end : ends) {
    SCOPED_TRACE(end.name);
    const TemporaryFolder folder;
    DaemonProcess daemon(folder);
    const std::string run = daemon.launch(2, {{"all", {{"stray", true}}}});
    std::vector<pid_t> pids = daemon.wait_for_processes(run, 4);
    ASSERT_EQ(pids.size(), 4u);
    for (const size_t stray : {size_t{1}, size_t{3}})
      for (const pid_t below : running_descendants(list_processes(), pids[stray])) pids.push_back(below);
    end.act(daemon, run, pids[0]);
    if (end.daemon_ends)
      daemon.wait();
    else
      daemon.wait_for_end(run, kGraceAndFive_s);
    EXPECT_TRUE(eventually([&] { return all_gone(pids); }, kGraceAndFive_s));
  }
}

// One run's end is no other run's: the strays of a worker that lives are left alone.
TEST(Faults, AStrayOfALivingWorkerLivesOn) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string stays = daemon.launch(1, {{"all", {{"stray", true}}}});
  const std::vector<pid_t> pids = daemon.wait_for_processes(stays, 2);
  const std::string ends = daemon.launch(1, {{"all", {{"exit_code", 0}}}});
  EXPECT_EQ(daemon.wait_for_end(ends).state, RunState::finished);
  EXPECT_FALSE(eventually([&] { return gone(pids[0]) || gone(pids[1]); }, 0.3));
  daemon.request("run.stop", {{"run", stays}});
  EXPECT_EQ(daemon.wait_for_end(stays).state, RunState::stopped);
  EXPECT_TRUE(eventually([&] { return all_gone(pids); }));
}

TEST(Faults, ForceDoesNotWait) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.more = {"--stop-grace-s", "60"};
  const DaemonProcess daemon(folder, options);
  const std::string run = daemon.launch(2, {{"all", {{"blocked", true}, {"ignore_sigterm", true}}}});
  const std::vector<pid_t> pids = daemon.wait_for_processes(run, 2);
  daemon.request("run.stop", {{"run", run}});
  EXPECT_EQ(daemon.record(run).state, RunState::stopping);
  daemon.request("run.stop", {{"run", run}, {"force", true}});
  const history::RunRecord record = daemon.wait_for_end(run, 10);
  EXPECT_EQ(record.state, RunState::stopped);
  EXPECT_EQ(record.reason, "forced");
  EXPECT_TRUE(all_gone(pids));
}

TEST(Faults, GraceZeroEndsOrphansAtOnce) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.more = {"--orphan-grace-s", "0"};
  DaemonProcess daemon(folder, options);
  const std::string run = daemon.launch(2, {{"all", {{"blocked", true}}}});
  const std::vector<pid_t> pids = daemon.wait_for_processes(run, 2);
  daemon.kill(SIGKILL);
  daemon.wait();
  EXPECT_TRUE(eventually([&] { return all_gone(pids); }, 5));
}

// A stopped daemon is silent, but it is not gone.
TEST(Faults, FrozenDaemonMakesNoOrphans) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.more = {"--orphan-grace-s", "0"};
  const DaemonProcess daemon(folder, options);
  const std::string run = daemon.launch(1);
  const std::vector<pid_t> pids = daemon.wait_for_processes(run, 1);
  daemon.kill(SIGSTOP);
  EXPECT_FALSE(eventually([&] { return gone(pids[0]); }, 4)) << "more than the 3 s of silence that make a worker look";
  daemon.kill(SIGCONT);
  EXPECT_EQ(daemon.request("run.stop", {{"run", run}})["state"], "stopping");
  EXPECT_EQ(daemon.wait_for_end(run).state, RunState::stopped);
}

}  // namespace
}  // namespace ringwright
