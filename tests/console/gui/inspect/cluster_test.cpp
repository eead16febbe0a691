// What Cluster says of the node's devices, word by word.
#include <gmock/gmock.h>

#include "console/gui/views/device_table.h"
#include "tests/console/gui/inspect/hands.h"
#include "tests/console/gui/inspect/words_test.h"

namespace ringwright::gui {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kSecond_ns = 1'000'000'000;

wire::DeviceReading device_named(const std::string& name) {
  wire::DeviceReading device;
  device.name = name;
  return device;
}

class Cluster : public WordsTest {
 protected:
  void SetUp() override {
    WordsTest::SetUp();
    open_view("cluster");
  }
  void show(wire::DeviceReport report, int64_t age_s = 0) {
    report.read_unix_ns = context().source.now_unix_ns() - age_s * kSecond_ns;
    context().state.apply(DevicesRead{std::make_shared<const wire::DeviceReport>(std::move(report))});
  }
  void set_link(LinkState state) {
    Link link;
    link.state = state;
    context().state.apply(LinkChanged{link});
  }
};

TEST_F(Cluster, ShowsReadingsAndWhatNeedsALook) {
  const std::vector<std::string> said = words();
  EXPECT_THAT(said, Contains("4 x NVIDIA H100 80GB HBM3, driver 580.65.06; 1 needs a look"));
  for (const char* text : {"61 of 80 GiB", "699 W", "power cap", "Xid 94; ECC 1 uncorrected", "0.2 s"}) EXPECT_THAT(said, Contains(text));
  EXPECT_THAT(said, Contains(HasSubstr("°C")));
}

TEST_F(Cluster, WhatHasNoReadingIsADashAndNeverZero) {
  show({"", "", {device_named("MIG")}, 0});
  const std::vector<std::string> said = words();
  EXPECT_THAT(said, Contains("1 x MIG"));
  EXPECT_THAT(said, Contains("no reading"));
  for (const char* zero : {"0 %", "0 W", "0 °C", "0 of 0 GiB"}) EXPECT_THAT(said, Not(Contains(zero)));
  EXPECT_GE(std::count(said.begin(), said.end(), "-"), 4) << "GPU, memory, power and temperature";
}

TEST_F(Cluster, WithoutTheDriversLibraryItSaysWhy) {
  show({"NVML, the library of NVIDIA's driver, does not load: libnvidia-ml.so.1: no such file", "", {}, 0});
  EXPECT_THAT(words(), Contains(StartsWith("Devices: no reading: NVML, the library of NVIDIA's driver, does not load")));
  show({"", "580.65", {}, 0});
  EXPECT_THAT(words(), Contains("Devices: the driver knows none"));
}

TEST_F(Cluster, AnOlderDaemonSendsNoDevicesAndAFileHasNone) {
  context().state.apply(DevicesRead{nullptr});
  set_link(LinkState::connected);
  EXPECT_THAT(words(), Contains("Devices: no reading, this daemon sends none"));
  set_link(LinkState::local);
  EXPECT_THAT(words(), Not(Contains(StartsWith("Devices"))));
  EXPECT_EQ(devices_line(context()), "");
}

TEST_F(Cluster, ADeviceThatIsLostIsNamedAndOldReadingsShowTheirAge) {
  wire::DeviceReading device = device_named("H100");
  device.fault = "GPU is lost";
  show({"", "", {device}, 0}, 5);
  EXPECT_THAT(words(), Contains("GPU is lost"));
  EXPECT_THAT(words(), Contains("5.0 s"));
  show({"", "", {device}, 0}, 41);
  EXPECT_THAT(words(), Contains("lost 41 s"));
  EXPECT_THAT(words(), Contains("1 x H100; 1 needs a look")) << "the last values stay";
}

TEST_F(Cluster, ADeviceNamesItsRanksAndGoesToThem) {
  wire::DeviceReading device = device_named("H100");
  device.ranks = {{context().selection.run, 1}, {"r_0000000f", 4}};
  show({"", "", {device}, 0});
  EXPECT_THAT(words(), Contains(StartsWith("1, 4 of r_")));
  context().selection.rank = -1;
  hands::click(place_of("1, 4 of r_"), [this] { frames(1); });
  EXPECT_EQ(context().selection.rank, 1) << "the device's rank of the run that is selected";
}

}  // namespace
}  // namespace ringwright::gui
