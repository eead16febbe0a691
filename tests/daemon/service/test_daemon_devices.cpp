// What a running daemon tells of its node's devices.
#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>

#include "tests/support/daemon_process.h"

namespace ringwright {
namespace {

using namespace test;

DaemonOptions with_library(const std::string& library) {
  DaemonOptions options;
  options.more.insert(options.more.end(), {"--nvml", library});
  return options;
}

TEST(Devices, HeartbeatsAndStatusCarryReadingsWithTheRanksOnThem) {
  const TemporaryFolder folder;
  const std::filesystem::path processes = folder / "processes";
  ::setenv("FAKE_NVML_PROCESSES", processes.c_str(), 1);
  const DaemonProcess daemon(folder, with_library(RINGWRIGHT_BINARY_DIR "/tests/fake_nvml.so"));
  ::unsetenv("FAKE_NVML_PROCESSES");
  const EventLog console(daemon.endpoints());
  const std::string run = daemon.launch(2);
  std::ofstream list(processes);
  const nlohmann::json snapshot = daemon.request("snapshot");
  for (const auto& rank : snapshot["runs"][0]["ranks"]) list << rank["pid"] << "\n";
  list << "1\n";
  list.close();
  std::shared_ptr<const wire::DeviceReport> report;
  ASSERT_TRUE(eventually([&] {
    report = console.status().devices;
    return report && !report->devices.empty() && !report->devices[0].ranks.empty();
  })) << (report ? wire::to_json(*report, 0).dump() : "no report");
  EXPECT_EQ(report->driver, "580.65.06");
  EXPECT_EQ(report->devices[0].utilisation_percent, 87);
  EXPECT_THAT(report->devices[0].ranks, ::testing::ElementsAre(wire::DeviceRank{run, 0}, wire::DeviceRank{run, 1}));
  EXPECT_THAT(report->devices[1].ranks, ::testing::IsEmpty());
  EXPECT_GT(report->read_unix_ns, wire::now_unix_ns() - 15'000'000'000);
  const wire::DeviceReport asked = wire::device_report_from_json(daemon.request("status").at("devices"), wire::now_unix_ns());
  EXPECT_EQ(asked.devices, report->devices);
}

TEST(Devices, WithoutALibraryHeartbeatsSaySoAndRunsGoOn) {
  const TemporaryFolder folder;
  const DaemonProcess daemon(folder, with_library("/nowhere/libnvidia-ml.so.1"));
  const EventLog console(daemon.endpoints());
  ASSERT_TRUE(eventually([&] { return console.status().devices && console.status().devices->read_unix_ns > 0; }));
  EXPECT_THAT(console.status().devices->why_none, ::testing::HasSubstr("/nowhere/libnvidia-ml.so.1"));
  const std::string run = daemon.launch(1, {{"all", {{"exit_code", 0}}}});
  EXPECT_EQ(daemon.wait_for_end(run).state, history::RunState::finished);
}

// The loader's lock is held by the thread that loads, and exit() would wait for it.
TEST(Devices, ALibraryThatNeverFinishesLoadingKeepsNoDaemonFromEnding) {
  const TemporaryFolder folder;
  ::setenv("FAKE_NVML_BLOCKS_LOADING", "1", 1);
  DaemonProcess daemon(folder, with_library(RINGWRIGHT_BINARY_DIR "/tests/fake_nvml.so"));
  ::unsetenv("FAKE_NVML_BLOCKS_LOADING");
  const std::string run = daemon.launch(1, {{"all", {{"exit_code", 0}}}});
  EXPECT_EQ(daemon.wait_for_end(run).state, history::RunState::finished);
  daemon.kill(SIGTERM);
  const bool ended = eventually([&] { return gone(daemon.pid()); });
  EXPECT_TRUE(ended);
  if (!ended) daemon.kill(SIGKILL);
  EXPECT_EQ(daemon.wait(), 0);
}

}  // namespace
}  // namespace ringwright
