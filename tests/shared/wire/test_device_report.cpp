#include <gmock/gmock.h>

#include "shared/wire/control.h"
#include "shared/wire/device_report.h"
#include "shared/wire/device_text.h"
#include "tests/shared/wire/small_daemon.h"

namespace ringwright::wire {
namespace {

using nlohmann::json;
constexpr int64_t kNow = 1'772'452'800'000'000'000, kSecond = 1'000'000'000;

DeviceReading full_reading() {
  DeviceReading device;
  device.index = 3;
  device.name = "H100 \xc3\xa4";
  device.uuid = "GPU-1";
  device.utilisation_percent = 0;
  device.power_w = 655.25;
  device.power_limit_w = 700;
  device.temperature_c = 64;
  device.memory_used_bytes = 61ULL << 30;
  device.memory_total_bytes = 80ULL << 30;
  device.throttle_reasons = std::vector<std::string>{"power cap"};
  device.ecc_corrected = 3;
  device.ecc_uncorrected = 0;
  device.xid_count = 2;
  device.xid_last = 79;
  device.xid_age_s = 1.5;
  device.ranks = {{"r_00000001", 5}};
  return device;
}

DeviceReport over_the_wire(const DeviceReport& report, int64_t sent, int64_t received) {
  return device_report_from_json(decode_body(encode_body({{"devices", to_json(report, sent)}})).at("devices"), received);
}

TEST(DeviceReport, ComesOverTheWireAsItIs) {
  DeviceReading bare;
  bare.fault = "GPU is lost";
  DeviceReport report{"", "580.65", {full_reading(), bare}, kNow};
  EXPECT_EQ(over_the_wire(report, kNow, kNow), report) << "no reading stays none, and 0 stays 0";
  const DeviceReport none{"NVML does not load", "", {}, kNow};
  EXPECT_EQ(over_the_wire(none, kNow, kNow), none);
}

TEST(DeviceReport, ProcessesStayInTheDaemon) {
  DeviceReading device = full_reading();
  device.processes = {17, 4'000'000};
  EXPECT_EQ(to_json({"", "", {device}, kNow}, kNow).dump().find("processes"), std::string::npos) << "nobody reads them, every second";
  EXPECT_EQ(over_the_wire({"", "", {device}, kNow}, kNow, kNow).devices.at(0), full_reading());
}

TEST(DeviceReport, AgesAreKeptAcrossClocksThatDiffer) {
  const DeviceReport report{"", "", {}, kNow - 4 * kSecond};
  EXPECT_EQ(over_the_wire(report, kNow, kNow + 7200 * kSecond).read_unix_ns, kNow + 7196 * kSecond);
  EXPECT_EQ(over_the_wire({}, kNow, kNow).read_unix_ns, 0) << "never read";
}

TEST(DeviceReport, WhatIsMissingOddOrNewerIsLeftOut) {
  EXPECT_EQ(device_report_from_json(json::object(), kNow), DeviceReport{});
  EXPECT_EQ(device_report_from_json("devices", kNow), DeviceReport{});
  EXPECT_EQ(device_report_from_json({{"list", "none"}}, kNow), DeviceReport{});
  const json odd = {
      {"list",
       {{{"index", -1}, {"power_w", "hot"}, {"memory_used_bytes", -5}, {"xid_count", 1.5}, {"throttle_reasons", 7}, {"ranks", 1}, {"link", 9}},
        "text"}},
      {"age_s", -3},
      {"of_a_later_version", 1}};
  const DeviceReport read = device_report_from_json(odd, kNow);
  ASSERT_EQ(read.devices.size(), 2u);
  EXPECT_EQ(read.devices[0], DeviceReading{});
  EXPECT_EQ(read.read_unix_ns, kNow);
}

TEST(DeviceReport, AHeartbeatWithoutDevicesIsAnOlderDaemonsAndStillOne) {
  const TemporaryFolder folder;
  SmallDaemon daemon(endpoints_in(folder.path()));
  const EventStream stream(endpoints_in(folder.path()), 0, [](const Event&) {});
  ASSERT_TRUE(eventually([&] { return stream.status().connection == EventStream::Connection::connected; }));
  EXPECT_EQ(stream.status().devices, nullptr);
  daemon.set_devices(to_json({"", "580.65", {full_reading()}, kNow}, kNow));
  ASSERT_TRUE(eventually([&] { return stream.status().devices != nullptr; }));
  EXPECT_EQ(stream.status().devices->devices.at(0), full_reading());
}

TEST(DeviceReport, WithoutDevicesItSaysWhy) {
  EXPECT_EQ(no_devices_text({kNoDevicesHere, "", {}, 0}), "no NVIDIA GPU here") << "a machine like this is no fault";
  EXPECT_EQ(no_devices_text({"NVML does not start: x", "", {}, 0}), "no reading: NVML does not start: x");
  EXPECT_EQ(no_devices_text({}), "the driver knows none");
  EXPECT_EQ(no_devices_text({"", "580.65", {full_reading()}, 0}), "");
}

TEST(DeviceReport, SaysInWordsWhatIsTheMatter) {
  DeviceReading device;
  EXPECT_EQ(condition_text(device), "no reading");
  EXPECT_FALSE(needs_a_look(device));
  device.ecc_uncorrected = 0;
  EXPECT_EQ(condition_text(device), "none; no reading: throttling, Xid");
  device.throttle_reasons.emplace();
  device.xid_count = 0;
  EXPECT_EQ(condition_text(device), "none");
  device.throttle_reasons = std::vector<std::string>{"power cap"};
  device.ecc_corrected = 3;
  EXPECT_EQ(condition_text(device), "ECC 3 corrected; power cap");
  EXPECT_FALSE(needs_a_look(device)) << "at its limit, and corrected";
  device.ecc_uncorrected = 2;
  device.xid_count = 1;
  device.xid_last = 79;
  EXPECT_EQ(condition_text(device), "Xid 79; ECC 2 uncorrected; power cap");
  EXPECT_TRUE(needs_a_look(device));
  device.xid_count = 4;
  EXPECT_THAT(condition_text(device), ::testing::StartsWith("Xid 79 (4 times);"));
  device.fault = "GPU is lost";
  EXPECT_EQ(condition_text(device), "GPU is lost");
  DeviceReading hot;
  hot.throttle_reasons = std::vector<std::string>{kThermalSlowdown};
  EXPECT_TRUE(needs_a_look(hot));
}

}  // namespace
}  // namespace ringwright::wire
