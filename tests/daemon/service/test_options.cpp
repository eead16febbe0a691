#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "daemon/service/options.h"
#include "shared/base/error.h"
#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::service {
namespace {

class ConfigFile : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_ / "daemon.yaml"; }
  void write(const std::string& text) const { folder_.write("daemon.yaml", text); }
  ErrorParts error() const {
    try {
      read_config(file());
    } catch (const Error& error) {
      return error.parts();
    }
    return {};
  }
  const test::TemporaryFolder folder_;
};

TEST_F(ConfigFile, AbsentAndEmptyFilesSetNothing) {
  EXPECT_FALSE(read_config(file()).orphan_grace_s);
  write("");
  EXPECT_FALSE(read_config(file()).orphan_grace_s);
}

TEST_F(ConfigFile, SetsWhatItSays) {
  write("orphan_grace_s: 0\nstop_grace_s: 2.5\n");
  const Config config = read_config(file());
  EXPECT_EQ(config.orphan_grace_s, 0.0);
  EXPECT_EQ(config.stop_grace_s, 2.5);
}

TEST_F(ConfigFile, APipeIsRefusedAndNobodyWaitsForIt) {
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_EQ(error().code, "RW-DAEMON-010");
  EXPECT_EQ(error().what, "the configuration is a pipe");
  EXPECT_EQ(error().where, file().string());
}

TEST_F(ConfigFile, AFolderOrAFileOfAnySizeIsRefused) {
  std::filesystem::create_directory(file());
  EXPECT_EQ(error().what, "the configuration is a folder");
  std::filesystem::remove(file());
  write("#" + std::string(2 << 20, 'x'));
  EXPECT_EQ(error().code, "RW-DAEMON-010");
}

TEST_F(ConfigFile, KeysMayStandBelowDaemon) {
  write("daemon:\n  orphan_grace_s: 7\n");
  EXPECT_EQ(read_config(file()).orphan_grace_s, 7.0);
}

TEST_F(ConfigFile, AlertsAreReadAndRefusedWithTheirPlace) {
  write(
      "stop_grace_s: 1\nalerts:\n  command: [notify, '7']\n  rules:\n    - {kind: threshold, metric: train/loss, above: 1e2}\n    - {kind: disk, "
      "free_below: 2 GiB}\n");
  const Config config = read_config(file());
  ASSERT_TRUE(config.alerts);
  EXPECT_EQ(config.alerts->command, (std::vector<std::string>{"notify", "7"}));
  EXPECT_EQ(config.alerts->rules.at(0).above, 100);
  write("alerts:\n  rules:\n    - {kind: stal}\n");
  EXPECT_EQ(error().code, "RW-ALERT-001");
  EXPECT_EQ(error().where, "alerts.rules[0].kind (" + file().string() + ":2:3)");
  write("alerts: [1]\n");
  EXPECT_EQ(error().code, "RW-ALERT-002");
}

TEST_F(ConfigFile, UnknownKeyIsRefusedWithTheNearest) {
  write("stop_grace_s: 1\norphan_grace: 3\n");
  const ErrorParts parts = error();
  EXPECT_EQ(parts.code, "RW-DAEMON-011");
  EXPECT_EQ(parts.where, file().string() + ":2:1");
  EXPECT_NE(parts.action.find("orphan_grace_s"), std::string::npos);
}

TEST_F(ConfigFile, WrongValuesAndWrongYamlAreRefusedWithTheirPlace) {
  write("orphan_grace_s: soon\n");
  EXPECT_EQ(error().code, "RW-DAEMON-012");
  EXPECT_EQ(error().where, file().string() + ":1:17");
  write("orphan_grace_s: -1\n");
  EXPECT_EQ(error().code, "RW-DAEMON-012");
  write("orphan_grace_s: 1e300\n");
  EXPECT_EQ(error().code, "RW-DAEMON-012");
  EXPECT_NE(error().expected.find("30 days"), std::string::npos);
  write("orphan_grace_s: .nan\n");
  EXPECT_EQ(error().code, "RW-DAEMON-012");
  write("a: [\n");
  EXPECT_EQ(error().code, "RW-DAEMON-010");
  write("- 3\n");
  EXPECT_EQ(error().code, "RW-DAEMON-010");
}

TEST_F(ConfigFile, TheCommandLineGoesFirst) {
  Options options;
  options.store = folder_ / "history.db";
  options.runtime_directory = folder_ / "r";
  options.orphan_grace_s = 5;
  options.stop_grace_s = -1;
  complete(options, {.orphan_grace_s = 1.0, .stop_grace_s = 2.0, .alerts = {}});
  EXPECT_EQ(options.orphan_grace_s, 5);
  EXPECT_EQ(options.stop_grace_s, 2);
}

TEST_F(ConfigFile, WithoutAnyWorkersOutliveADeadDaemonFor30Seconds) {
  Options options;
  options.store = folder_ / "history.db";
  options.runtime_directory = folder_ / "r";
  options.orphan_grace_s = options.stop_grace_s = -1;  // as the command line leaves them
  complete(options, {});
  EXPECT_EQ(options.orphan_grace_s, 30);
  EXPECT_EQ(options.stop_grace_s, 10);
}

TEST_F(ConfigFile, SocketsThatCannotBeAreFoundBeforeAnythingIsMade) {
  Options options;
  options.store = folder_ / "s" / "history.db";
  options.runtime_directory = folder_ / std::string(100, 'r');
  EXPECT_EQ(test::error_code([&] { complete(options, {}); }), "RW-PATH-002");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST(Endpoint, OnlyLoopbackIsTakenUntilThereAreKeys) {
  EXPECT_NO_THROW(require_loopback("tcp://127.0.0.1:7000"));
  EXPECT_NO_THROW(require_loopback("tcp://[::1]:7000"));
  for (const char* endpoint :
       {"tcp://0.0.0.0:7000", "tcp://*:7000", "tcp://10.0.0.5:7000", "tcp://eth0:7000", "tcp://[::]:7000", "udp://127.0.0.1:7000"}) {
    try {
      require_loopback(endpoint);
      FAIL() << endpoint;
    } catch (const Error& error) {
      EXPECT_EQ(error.parts().code, "RW-DAEMON-013");
      EXPECT_EQ(error.exit_code(), ExitCode::refused);
    }
  }
}

}  // namespace
}  // namespace ringwright::service
