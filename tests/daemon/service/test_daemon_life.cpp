// Starting, ending, refusing.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>

#include "shared/base/error.h"
#include "tests/support/daemon_process.h"
#include "tests/support/program.h"

namespace ringwright {
namespace {

using namespace test;
using history::RunState;

std::string output_of(const std::string& command, int& status) {
  std::string text;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  char bytes[256];
  while (pipe && std::fgets(bytes, sizeof bytes, pipe)) text += bytes;
  status = pipe ? ::pclose(pipe) : -1;
  return text;
}

std::string daemon_command(const TemporaryFolder& folder) {
  return std::string(RINGWRIGHT_BINARY_DIR "/ringwrightd") + " --store " + (folder.path() / "s" / "history.db").string() + " --runtime-dir " +
         (folder.path() / "r").string() + " ";
}

ErrorParts refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.parts();
  }
  return {};
}

TEST(Daemon, SaysWhoItIs) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const nlohmann::json hello = daemon.request("hello");
  EXPECT_EQ(hello["pid"], daemon.pid());
  EXPECT_EQ(hello["store"], daemon.store().string());
  EXPECT_EQ(hello["active_runs"], 0);
  EXPECT_TRUE(daemon.request("status")["counters"].contains("ledger_full"));
}

TEST(Daemon, SecondOneIsRefusedAndNamesTheFirst) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  for (const char* mode : {"--foreground", ""}) {
    int status = 0;
    const std::string text = output_of(daemon_command(folder) + mode, status);
    EXPECT_EQ(WEXITSTATUS(status), 1) << text;
    EXPECT_NE(text.find("RW-DAEMON-002"), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(daemon.pid())), std::string::npos) << text;
  }
  EXPECT_EQ(daemon.request("hello")["pid"], daemon.pid());
}

TEST(Daemon, GoesIntoTheBackgroundAndEndsWhenAsked) {
  const TemporaryFolder folder;
  int status = -1;
  const std::string text = output_of(daemon_command(folder), status);
  ASSERT_EQ(status, 0) << text;
  wire::ControlClient client(wire::endpoints_in(folder.path() / "r"));
  const pid_t pid = client.request("hello")["pid"].get<pid_t>();  // it answers as soon as the first process has ended
  EXPECT_NE(::getsid(pid), ::getsid(0));
  client.request("daemon.stop", {{"drain", false}});
  EXPECT_TRUE(eventually([&] { return gone(pid); }));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "s" / "ringwrightd.log"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "r" / "control.sock"));
}

TEST(Daemon, BadInputIsOneErrorAndItsCode) {
  const TemporaryFolder folder;
  int status = 0;
  std::string text = output_of(daemon_command(folder) + "--foreground --control tcp://0.0.0.0:7777", status);
  EXPECT_EQ(WEXITSTATUS(status), 3) << text;
  EXPECT_NE(text.find("RW-DAEMON-013"), std::string::npos) << text;
  text = output_of(daemon_command(folder) + "--orphan-grace-s soon", status);
  EXPECT_EQ(WEXITSTATUS(status), 2) << text;
  std::filesystem::create_directories(folder.path() / "s");
  std::ofstream(folder.path() / "s" / "history.db")
      << "this is no database, and it is long enough to be looked at as one............................";
  text = output_of(daemon_command(folder) + "--foreground", status);
  EXPECT_EQ(WEXITSTATUS(status), 6) << text;
}

// A service manager hears when it may be asked, and when it ends.
TEST(Daemon, TellsAServiceManagerThatItIsReadyAndThatItStops) {
  const TemporaryFolder folder;
  const std::string path = folder / "notify";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  const int manager = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(manager, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const timeval patience{20, 0};
  ASSERT_EQ(::setsockopt(manager, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  const auto heard = [&] {
    char bytes[64] = {};
    const ssize_t length = ::recv(manager, bytes, sizeof bytes, 0);
    return std::string(bytes, length > 0 ? static_cast<size_t>(length) : 0);
  };
  Environment variables = clean_environment(folder.path());
  variables["NOTIFY_SOCKET"] = path;
  Program daemon(folder.path(), {"--foreground"}, "ringwrightd", variables);
  EXPECT_EQ(heard(), "READY=1");
  wire::ControlClient client(wire::endpoints_in(folder / "ringwright"));
  const nlohmann::json status = client.request("status");
  EXPECT_EQ(status["pid"], daemon.pid()) << "ready: it answers";
  EXPECT_EQ(status["orphan_grace_s"], 30) << "nobody has set it";
  ::kill(daemon.pid(), SIGTERM);
  EXPECT_EQ(heard(), "STOPPING=1");
  EXPECT_EQ(daemon.wait().exit_code, 0);
  ::close(manager);
}

// A folder for sockets that will not do is found before a history is made.
TEST(Daemon, AFolderForSocketsThatWillNotDoIsRefusedAndNothingIsMade) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "open");
  std::filesystem::permissions(folder / "open", std::filesystem::perms(0755));
  const std::pair<std::string, const char*> cases[] = {{folder / std::string(100, 'r'), "RW-PATH-002"}, {folder / "open", "RW-PATH-001"}};
  for (const auto& [place, code] : cases) {
    const Outcome outcome =
        Program(folder.path(), {"--foreground", "--store", folder / "s" / "history.db", "--runtime-dir", place}, "ringwrightd").wait();
    EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
    EXPECT_NE(outcome.err.find(code), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "s"));
    EXPECT_TRUE(std::filesystem::is_empty(folder / "open"));
  }
}

TEST(Daemon, UnknownOperationsNameTheNearest) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const ErrorParts parts = refusal_of([&] { daemon.request("run.lounch"); });
  EXPECT_EQ(parts.code, "RW-WIRE-006");
  EXPECT_NE(parts.what.find("run.launch"), std::string::npos);
  EXPECT_EQ(refusal_of([&] { daemon.request("run.stop", {{"run", "r_ffffffff"}}); }).exit_code, ExitCode::usage);
}

TEST(Daemon, MissingWorkerProgramIsOneErrorAndNoRun) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.worker = "no_such_worker";
  const DaemonProcess daemon(folder, options);
  EXPECT_EQ(refusal_of([&] { daemon.launch(1); }).code, "RW-DAEMON-021");
  EXPECT_TRUE(daemon.request("run.list")["runs"].empty());
}

TEST(Daemon, DimsThatDoNotMultiplyAreRefusedBeforeAnythingStarts) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const ErrorParts parts = refusal_of([&] { daemon.request("run.launch", {{"world_size", 8}, {"mesh", {{"dp_shard", 3}, {"tp", 2}, {"cp", 2}}}}); });
  EXPECT_EQ(parts.exit_code, ExitCode::refused);
  EXPECT_TRUE(daemon.request("run.list")["runs"].empty());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "s" / "runs"));
}

// The same guards as `ringwright check`, for clients that did not ask.
TEST(Daemon, GuardsStandInTheWay) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  nlohmann::json recipe = small_recipe(1);
  recipe["cluster"]["gpus_per_node"] = 2;
  recipe["policy"]["dtensor_cfg"]["tensor_parallel_size"] = 2;
  const ErrorParts parts = refusal_of([&] { daemon.request("run.launch", {{"recipe", recipe}, {"world_size", 2}, {"mesh", {{"tp", 2}}}}); });
  EXPECT_EQ(parts.exit_code, ExitCode::refused);
  EXPECT_TRUE(parts.code.starts_with("RW-GUARD-")) << describe(parts);
  EXPECT_TRUE(daemon.request("run.list")["runs"].empty());
}

TEST(Daemon, RunFinishesAndKeepsWhatItsWorkersSaid) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run = daemon.launch(2, {{"all", {{"metrics", 3}, {"print", "out of me\n"}, {"complain", "beware"}, {"exit_code", 0}}}});
  const history::RunRecord record = daemon.wait_for_end(run);
  EXPECT_EQ(record.state, RunState::finished) << record.reason;
  EXPECT_GT(record.started_unix_ns, 0);
  EXPECT_GE(record.ended_unix_ns, record.started_unix_ns);
  const history::Reader reader(daemon.store());
  EXPECT_EQ(reader.metric(run, "train/loss").size(), 3u);
  std::multiset<std::string> lines;
  for (const history::LogLine& line : reader.logs(run, 0, 100, false)) lines.insert(line.level + " " + std::to_string(line.rank) + " " + line.text);
  for (const char* line : {"info 0 out of me", "info 1 out of me", "warn 0 beware", "warn 1 beware"}) EXPECT_EQ(lines.count(line), 1u) << line;
  std::ifstream log(folder.path() / "s" / "runs" / run / "rank1.log");
  EXPECT_NE(std::string(std::istreambuf_iterator<char>(log), {}).find("out of me\n"), std::string::npos);
}

// T40: two runs at once, each with a port of its own that its rank 0 listens on.
TEST(Daemon, T40TwoRunsAtOnceOnOneNode) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string first = daemon.launch(2), second = daemon.launch(2);
  daemon.wait_for_processes(first, 2);
  daemon.wait_for_processes(second, 2);
  std::set<int> ports;
  for (const std::string& run : {first, second})
    for (const wire::Event& event : history::Reader(daemon.store()).run_events(run, 100))
      if (event.body.value("name", "") == "test.started" && event.rank == 0) ports.insert(event.body["port"].get<int>());
  EXPECT_EQ(ports.size(), 2u);
  EXPECT_FALSE(ports.contains(0)) << "rank 0 did not get a socket that listens";
  EXPECT_EQ(daemon.request("snapshot")["runs"].size(), 2u);
  daemon.request("run.stop", {{"run", first}});
  EXPECT_EQ(daemon.wait_for_end(first).state, RunState::stopped);
  EXPECT_EQ(daemon.record(second).state, RunState::running) << "the other run was touched";
  daemon.request("run.stop", {{"run", second}});
  EXPECT_EQ(daemon.wait_for_end(second).state, RunState::stopped);
}

// T40: an explicit port that is taken is refused at once; after kill -9 it can be had again within 5 s.
TEST(Daemon, T40ExplicitPortTakenAndRestartAfterKill) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string first = daemon.launch(1);
  const std::vector<pid_t> processes = daemon.wait_for_processes(first, 1);
  int port = 0;
  for (const wire::Event& event : history::Reader(daemon.store()).run_events(first, 100))
    if (event.body.value("name", "") == "test.started") port = event.body["port"].get<int>();
  const ErrorParts parts = refusal_of([&] { daemon.launch(1, nlohmann::json::object(), {{"port", port}}); });
  EXPECT_EQ(parts.code, "RW-DAEMON-020");
  EXPECT_NE(parts.what.find(std::to_string(processes[0])), std::string::npos) << parts.what;
  ::kill(processes[0], SIGKILL);
  std::string again;
  EXPECT_TRUE(eventually([&] { return refusal_of([&] { again = daemon.launch(1, nlohmann::json::object(), {{"port", port}}); }).code.empty(); }, 5));
  daemon.wait_for_processes(again, 1);
}

TEST(Daemon, EndsWithItsLastRunWhereItWasToldTo) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.more.push_back("--exit-when-idle");
  DaemonProcess daemon(folder, options);
  const std::string run = daemon.launch(1, {{"all", {{"exit_code", 0}}}});
  EXPECT_EQ(daemon.wait(), 0);
  EXPECT_EQ(daemon.record(run).state, RunState::finished);
}

// As a session manager does when the last session ends.
TEST(Daemon, DeletedRuntimeDirectoryIsMadeAgain) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string before = daemon.launch(1, {{"0", {{"metrics", 5}}}});
  ASSERT_TRUE(eventually([&] { return daemon.record(before).state == RunState::running; }));
  std::filesystem::remove_all(folder / "r");
  ASSERT_TRUE(eventually([&] { return !refusal_of([&] { daemon.request("hello"); }).code.starts_with("RW-"); }));
  EXPECT_EQ(daemon.request("hello")["active_runs"], 1);
  const std::string after = daemon.launch(1, {{"0", {{"metrics", 5}, {"exit_code", 0}}}});
  EXPECT_EQ(daemon.wait_for_end(after).state, RunState::finished) << "its worker finds the daemon";
  const EventLog events(daemon.endpoints());
  EXPECT_TRUE(eventually([&] { return events.count() > 0; }));
  Program second(folder.path(), {"--foreground", "--store", daemon.store().string(), "--runtime-dir", (folder / "r").string()}, "ringwrightd");
  EXPECT_NE(second.wait().exit_code, 0) << "a second daemon has no place here";
  daemon.request("run.stop", {{"run", before}});
  EXPECT_EQ(daemon.wait_for_end(before).state, RunState::stopped) << "the worker from before hears of it";
}

TEST(Daemon, FewOpenFilesAreNamedAndLeaveNothing) {
  const TemporaryFolder folder;
  for (const char* mode : {"", "--foreground"})
    for (const char* limit : {"16", "20", "32"}) {
      int status = 0;
      const std::string text = output_of("ulimit -n " + std::string(limit) + "; " + daemon_command(folder) + mode, status);
      EXPECT_EQ(WEXITSTATUS(status), 3) << text;
      EXPECT_NE(text.find("RLIMIT_NOFILE"), std::string::npos) << text;
      EXPECT_FALSE(std::filesystem::exists(folder / "r" / "workers.sock"));
    }
}

TEST(Daemon, ALogThatCannotBeWrittenIsAnErrorOfTheStore) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "s" / "ringwrightd.log");
  int status = 0;
  const std::string text = output_of(daemon_command(folder), status);
  EXPECT_EQ(WEXITSTATUS(status), 6) << text;
  EXPECT_NE(text.find("--store FILE"), std::string::npos) << text;
}

TEST(Daemon, DrainWaitsForTheRuns) {
  const TemporaryFolder folder;
  DaemonProcess daemon(folder);
  const std::string run = daemon.launch(1);
  daemon.wait_for_processes(run, 1);
  daemon.request("daemon.stop", {{"drain", true}});
  EXPECT_EQ(refusal_of([&] { daemon.launch(1); }).code, "RW-DAEMON-033");
  EXPECT_EQ(daemon.record(run).state, RunState::running);
  daemon.request("run.stop", {{"run", run}});
  EXPECT_EQ(daemon.wait(), 0);
  EXPECT_EQ(daemon.record(run).state, RunState::stopped);
}

}  // namespace
}  // namespace ringwright
