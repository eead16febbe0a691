// What clients see of a running daemon.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/deep_tier.h"
#include "tests/support/daemon_process.h"

namespace ringwright {
namespace {

// Of a daemon whose console takes nothing. Under a sanitizer each byte has shadows.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kResidentMibMax = 600;
#else
constexpr int kResidentMibMax = 150;
#endif

using namespace test;
using history::RunState;

void expect_each_once_in_order(const std::vector<wire::Event>& events) {
  for (size_t i = 0; i < events.size(); ++i) ASSERT_EQ(events[i].node_sequence, i + 1);
}

// T34: a client that connects at any moment sees everything exactly once.
TEST(Events, T34NothingIsLostOnConnecting) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const EventLog early(daemon.endpoints());
  const std::string run = daemon.launch(2, {{"all", {{"metrics", 300}, {"exit_code", 0}}}});
  const EventLog late(daemon.endpoints());
  EXPECT_EQ(daemon.wait_for_end(run).state, RunState::finished);
  const EventLog after(daemon.endpoints());
  ASSERT_TRUE(eventually([&] { return daemon.request("hello")["node_sequence"] == history::Reader(daemon.store()).node_sequence(); }));
  const uint64_t last = history::Reader(daemon.store()).node_sequence();
  for (const EventLog* log : {&early, &late, &after}) {
    ASSERT_TRUE(eventually([&] { return log->count() >= last; })) << log->count() << " of " << last;
    expect_each_once_in_order(log->events());
  }
}

// T35: a console that is stalled while 10,000 (deep tier: 100,032) messages pass: none is lost in the end, the daemon's memory stays bounded, the run
// is not held up.
TEST(Events, T35StalledConsoleLosesNothingAndHoldsNobodyUp) {
  const TemporaryFolder folder;
  DaemonOptions options;
  options.worker = "test_talk_worker";
  const DaemonProcess daemon(folder, options);
  EventLog console(daemon.endpoints());
  ASSERT_TRUE(eventually([&] { return console.status().connection == wire::EventStream::Connection::connected; }));
  std::string run;
  {
    const std::lock_guard stalled(console.gate);
    run = daemon.talk(2, test::by_tier<uint64_t>(160'000, 1'600'512));  // 32 points a message, two workers
    EXPECT_EQ(daemon.wait_for_end(run, 100).state, RunState::finished) << "the run waits for the console";
    EXPECT_LT(memory_mib(daemon.pid(), "VmRSS"), kResidentMibMax);
  }
  const uint64_t last = history::Reader(daemon.store()).node_sequence();
  EXPECT_GE(last, test::by_tier<uint64_t>(10'000, 100'032));
  ASSERT_TRUE(eventually([&] { return console.status().node_sequence >= last; }, 100)) << console.status().node_sequence << " of " << last;
  expect_each_once_in_order(console.events());
  EXPECT_GT(console.status().gaps, 0u);
  EXPECT_EQ(console.status().gaps, console.status().repaired);
}

TEST(Events, StatesComeInOrder) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const EventLog log(daemon.endpoints());
  const std::string run = daemon.launch(2);
  daemon.wait_for_processes(run, 2);
  daemon.request("run.stop", {{"run", run}});
  daemon.wait_for_end(run);
  const auto states = [&] {
    std::vector<std::string> states;
    for (const wire::Event& event : log.events())
      if (event.run == run && event.body.value("name", "") == "run.state") states.push_back(event.body["state"]);
    return states;
  };
  EXPECT_TRUE(eventually([&] { return states().size() >= 4; }));
  EXPECT_EQ(states(), (std::vector<std::string>{"starting", "running", "stopping", "stopped"}));
}

TEST(Events, SnapshotHasTheLatestValues) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run = daemon.launch(1, {{"all", {{"metrics", 5}}}});
  nlohmann::json snapshot;
  ASSERT_TRUE(eventually([&] {
    snapshot = daemon.request("snapshot");
    return snapshot["runs"].size() == 1 && snapshot["runs"][0]["last_step"] == 5;
  }));
  EXPECT_DOUBLE_EQ(snapshot["runs"][0]["points"]["train/loss"].get<double>(), 0.2);
  EXPECT_EQ(snapshot["runs"][0]["tokens"], 50);
  EXPECT_GT(snapshot["node_sequence"].get<uint64_t>(), 5u);
  EXPECT_GT(snapshot["runs"][0]["ranks"][0]["heartbeat"]["resident_bytes"].get<uint64_t>(), 1'000'000u);
}

TEST(Events, LongLinesAndOddBytesOfWorkersAreTamed) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder);
  const std::string run = daemon.launch(1, {{"all", {{"print", std::string(20'000, 'x') + "\n\x1b[31mred\n"}, {"exit_code", 0}}}});
  EXPECT_EQ(daemon.wait_for_end(run).state, RunState::finished);
  size_t bytes = 0;
  for (const history::LogLine& line : history::Reader(daemon.store()).logs(run, 0, 100, false)) {
    EXPECT_LE(line.text.size(), 8192u);
    bytes += line.text.find('x') == 0 ? line.text.size() : 0;
  }
  EXPECT_EQ(bytes, 20'000u);
  EXPECT_GT(daemon.request("status")["counters"]["log_lines_cut"].get<int>(), 0);
}

}  // namespace
}  // namespace ringwright
