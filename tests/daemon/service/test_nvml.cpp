// Readings of devices, against libraries that answer as NVIDIA's does.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>

#include "daemon/service/device_watch.h"
#include "daemon/service/nvml.h"
#include "shared/wire/device_text.h"
#include "tests/support/eventually.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kFake = RINGWRIGHT_BINARY_DIR "/tests/fake_nvml.so";
constexpr const char* kOld = RINGWRIGHT_BINARY_DIR "/tests/fake_nvml_old.so";
constexpr int kDriverNotLoaded = 9, kLost = 15, kUnknown = 999;
constexpr const char* kAllOfSecond = ":1";

// The fake, held open by the test as well, so that what it is told stays.
class NvmlTest : public ::testing::Test {
 protected:
  NvmlTest() : library_(::dlopen(kFake, RTLD_NOW | RTLD_LOCAL)) {}
  ~NvmlTest() override {
    for (const std::string& function : told_) answer(function, 0);
    ::dlclose(library_);
  }
  void SetUp() override { ASSERT_NE(library_, nullptr) << ::dlerror(); }
  void answer(const std::string& function, int result) {
    if (result != 0) told_.push_back(function);
    call<void(const char*, int)>("fake_nvml_answer")(function.c_str(), result);
  }
  template <class Function>
  Function* call(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }

 private:
  void* library_;
  std::vector<std::string> told_;
};

TEST_F(NvmlTest, ReadsWhatTheDriverHas) {
  const wire::DeviceReport report = Nvml(kFake).read();
  EXPECT_EQ(report.why_none, "");
  EXPECT_EQ(report.driver, "580.65.06");
  EXPECT_GT(report.read_unix_ns, 0);
  ASSERT_THAT(report.devices, SizeIs(2));
  const wire::DeviceReading& device = report.devices[0];
  EXPECT_EQ(device.index, 0);
  EXPECT_EQ(device.name, "Fake H100");
  EXPECT_EQ(device.uuid, "GPU-00000000");
  EXPECT_EQ(device.fault, "");
  EXPECT_EQ(device.utilisation_percent, 87);
  EXPECT_EQ(device.memory_used_bytes, 61ULL << 30);
  EXPECT_EQ(device.memory_total_bytes, 80ULL << 30);
  EXPECT_EQ(device.power_w, 655.25);
  EXPECT_EQ(device.power_limit_w, 700);
  EXPECT_EQ(device.temperature_c, 64);
  EXPECT_THAT(device.throttle_reasons.value(), ElementsAre("power cap", wire::kThermalSlowdown)) << "each once, and being idle is none";
  EXPECT_EQ(device.ecc_corrected, 3u);
  EXPECT_EQ(device.ecc_uncorrected, 2u) << "those since the driver was loaded, not those of the device's life";
  EXPECT_EQ(device.xid_count, 0u);
}

TEST_F(NvmlTest, WhatADeviceDoesNotHaveIsNoReadingAndNoFault) {
  const wire::DeviceReading device = Nvml(kFake).read().devices.at(1);
  EXPECT_EQ(device.name, "Fake H200");
  EXPECT_EQ(device.fault, "");
  EXPECT_EQ(device.utilisation_percent, std::nullopt);
  EXPECT_EQ(device.power_w, std::nullopt);
  EXPECT_EQ(device.throttle_reasons, std::nullopt);
  EXPECT_EQ(device.ecc_uncorrected, std::nullopt);
  EXPECT_EQ(device.memory_total_bytes, 80ULL << 30);
}

TEST_F(NvmlTest, AFunctionThatAnOldDriverLacksIsNoReading) {
  const wire::DeviceReport report = Nvml(kOld).read();
  EXPECT_EQ(report.why_none, "");
  const wire::DeviceReading& device = report.devices.at(0);
  EXPECT_EQ(device.fault, "");
  EXPECT_EQ(device.utilisation_percent, 87);
  EXPECT_EQ(device.temperature_c, 64);
  EXPECT_EQ(device.uuid, "");
  EXPECT_EQ(device.power_w, std::nullopt);
  EXPECT_EQ(device.ecc_corrected, std::nullopt);
  EXPECT_EQ(device.xid_count, std::nullopt) << "nobody watches";
  EXPECT_EQ(wire::condition_text(device), "no reading");
}

TEST_F(NvmlTest, APipeIsNotWaitedFor) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(Nvml((folder / "pipe").string()).read().why_none, HasSubstr("pipe is a pipe"));
}

TEST_F(NvmlTest, WithoutALibraryItSaysSo) {
  const wire::DeviceReport none = Nvml("/nowhere/libnvidia-ml.so.1").read();
  EXPECT_THAT(none.why_none, HasSubstr("does not load"));
  EXPECT_THAT(none.why_none, HasSubstr("/nowhere/libnvidia-ml.so.1"));
  EXPECT_THAT(none.devices, IsEmpty());
  EXPECT_THAT(Nvml("libm.so.6").read().why_none, HasSubstr("libm.so.6 has none of NVML's functions"));
}

TEST_F(NvmlTest, ADriverThatDoesNotStartSaysWhy) {
  answer("nvmlInit_v2", kDriverNotLoaded);
  EXPECT_EQ(Nvml(kFake).read().why_none, "NVML does not start: Driver Not Loaded");
  answer("nvmlInit_v2", 0);
  answer("nvmlDeviceGetCount_v2", kUnknown);
  EXPECT_THAT(Nvml(kFake).read().why_none, HasSubstr("Unknown Error"));
}

TEST_F(NvmlTest, ADeviceThatIsLostSaysSoAndTheOthersGoOn) {
  Nvml nvml(kFake);
  EXPECT_EQ(nvml.read().devices.at(1).fault, "");
  answer(kAllOfSecond, kLost);
  const wire::DeviceReport report = nvml.read();
  EXPECT_EQ(report.devices.at(1).fault, "GPU is lost");
  EXPECT_EQ(report.devices.at(1).name, "Fake H200") << "which one it was stays known";
  EXPECT_EQ(report.devices.at(1).memory_used_bytes, std::nullopt) << "an error leaves no number behind";
  EXPECT_EQ(report.devices.at(1).temperature_c, std::nullopt);
  EXPECT_EQ(report.devices.at(0).fault, "");
  EXPECT_EQ(report.devices.at(0).utilisation_percent, 87);
  EXPECT_EQ(Nvml(kFake).read().devices.at(1).fault, "GPU is lost") << "one that was lost before the daemon began";
}

TEST_F(NvmlTest, XidErrorsAreCountedByDevice) {
  Nvml nvml(kFake);
  nvml.read();
  const auto xid = call<void(unsigned int, unsigned long long)>("fake_nvml_xid");
  xid(1, 13), xid(1, 79);
  const wire::DeviceReport report = nvml.read();
  EXPECT_EQ(report.devices.at(0).xid_count, 0u);
  EXPECT_EQ(report.devices.at(0).xid_last, std::nullopt);
  EXPECT_EQ(report.devices.at(1).xid_count, 2u);
  EXPECT_EQ(report.devices.at(1).xid_last, 79u);
  EXPECT_GE(report.devices.at(1).xid_age_s.value(), 0);
  EXPECT_EQ(nvml.read().devices.at(1).xid_count, 2u) << "each once";
}

constexpr std::chrono::milliseconds kOften{5};

TEST_F(NvmlTest, TheWatchFindsADriverThatComesLater) {
  answer("nvmlInit_v2", kDriverNotLoaded);
  const DeviceWatch watch(kFake, kOften, kOften);
  ASSERT_TRUE(test::eventually([&] { return watch.latest()->why_none.find("Driver Not Loaded") != std::string::npos; }));
  answer("nvmlInit_v2", 0);
  EXPECT_TRUE(test::eventually([&] { return watch.latest()->devices.size() == 2; }));
  for (const char* device : {":0", ":1"}) answer(device, kLost);  // as after a reset: the handles of before stay lost
  ASSERT_TRUE(test::eventually([&] { return watch.latest()->devices[0].fault == "GPU is lost"; }));
  for (const char* device : {":0", ":1"}) answer(device, 0);
  EXPECT_TRUE(test::eventually([&] { return watch.latest()->devices[0].fault.empty(); }));
}

// The error that a device was lost by is what the operator wants to know.
TEST_F(NvmlTest, XidErrorsOutliveANewStartOfTheDriver) {
  const DeviceWatch watch(kFake, kOften, kOften);
  ASSERT_TRUE(test::eventually([&] { return watch.latest()->devices.size() == 2; }));
  call<void(unsigned int, unsigned long long)>("fake_nvml_xid")(0, 79);
  ASSERT_TRUE(test::eventually([&] { return watch.latest()->devices[0].xid_last == 79u; }));
  for (const char* device : {":0", ":1"}) answer(device, kLost);
  ASSERT_TRUE(test::eventually([&] { return watch.latest()->devices[0].fault == "GPU is lost"; }));
  const int64_t lost_unix_ns = watch.latest()->read_unix_ns;
  ASSERT_TRUE(test::eventually([&] { return watch.latest()->read_unix_ns > lost_unix_ns + 20 * std::chrono::nanoseconds(kOften).count(); }));
  EXPECT_EQ(watch.latest()->devices[0].xid_last, 79u);
  EXPECT_EQ(watch.latest()->devices[0].xid_count, 1u);
  EXPECT_EQ(watch.latest()->devices[0].name, "Fake H100");
  for (const char* device : {":0", ":1"}) answer(device, 0);
  ASSERT_TRUE(test::eventually([&] { return watch.latest()->devices[0].fault.empty(); }));
  EXPECT_EQ(watch.latest()->devices[0].xid_count, 1u);
  EXPECT_EQ(watch.latest()->devices[1].xid_count, 0u);
}

TEST_F(NvmlTest, ADriverThatHangsHoldsUpNobodyAndTheAgeTells) {
  const auto hold = call<void(bool)>("fake_nvml_hold");
  auto watch = std::make_unique<DeviceWatch>(kFake, kOften);
  ASSERT_TRUE(test::eventually([&] { return watch->latest()->devices.size() == 2; }));
  hold(true);
  int64_t read = 0;
  ASSERT_TRUE(test::eventually([&] { return std::exchange(read, watch->latest()->read_unix_ns) == watch->latest()->read_unix_ns; }, 20,
                               [] { std::this_thread::sleep_for(20 * kOften); }));
  const auto start = std::chrono::steady_clock::now();
  watch.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  hold(false);
}

TEST(NvidiaDevice, IsFoundByItsVendorAndClass) {
  const test::TemporaryFolder bus;
  const auto add = [&](const std::string& slot, const std::string& vendor, const std::string& kind) {
    std::filesystem::create_directories(bus / slot);
    bus.write(slot + "/vendor", vendor + "\n");
    bus.write(slot + "/class", kind + "\n");
  };
  EXPECT_FALSE(has_nvidia_device(bus / "nowhere"));
  add("0000:00:01.0", "0x8086", "0x030000");
  add("0000:00:02.0", "0x10de", "0x020700");  // a network card of theirs
  EXPECT_FALSE(has_nvidia_device(bus.path()));
  add("0000:00:03.0", "0x10de", "0x030200");
  EXPECT_TRUE(has_nvidia_device(bus.path()));
}

TEST(NvidiaDevice, AMachineWithoutOneHasNoFault) {
  const wire::DeviceReport report = Nvml("libthere-is-no-such-library.so.1").read();
  if (has_nvidia_device())
    EXPECT_THAT(report.why_none, HasSubstr("does not load"));
  else
    EXPECT_EQ(report.why_none, wire::kNoDevicesHere);
  EXPECT_THAT(Nvml("/nowhere/libnvidia-ml.so.1").read().why_none, HasSubstr("does not load")) << "somebody named it";
}

}  // namespace
}  // namespace ringwright::service
