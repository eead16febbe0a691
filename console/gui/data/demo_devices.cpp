#include <cmath>

#include "console/gui/data/demo_recording.h"

namespace ringwright::gui::demo {
namespace {

constexpr int kDevices = 4;
constexpr uint64_t kGib = 1ULL << 30;

wire::DeviceReading device_at(int index, double seconds) {
  const double wave = std::sin(seconds / 7 + index);
  wire::DeviceReading device;
  device.index = index;
  device.name = "NVIDIA H100 80GB HBM3";
  device.uuid = "GPU-0000000" + std::to_string(index);
  device.utilisation_percent = std::round(91 + 6 * wave - 9 * (index % 2));
  device.memory_total_bytes = 80 * kGib;
  device.memory_used_bytes = (61 + static_cast<uint64_t>(index)) * kGib;
  device.power_w = std::round(index == 0 ? 699 : 640 + 25 * wave);
  device.power_limit_w = 700;
  device.temperature_c = std::round(63 + 2 * index + wave);
  device.throttle_reasons.emplace();
  if (index == 0) device.throttle_reasons->emplace_back("power cap");
  device.ecc_corrected = index == kDevices - 1 ? 12 : 0;
  device.ecc_uncorrected = index == kDevices - 1 ? 1 : 0;
  device.xid_count = index == kDevices - 1 ? 1 : 0;
  if (index == kDevices - 1) device.xid_last = 94, device.xid_age_s = 41 * 60 + seconds;
  return device;
}

}  // namespace

wire::DeviceReport devices_at(int64_t now_unix_ns) {
  wire::DeviceReport report{"", "580.65.06", {}, now_unix_ns - kSecond_ns / 5};
  const double seconds = static_cast<double>(now_unix_ns - kNow_unix_ns) * 1e-9;
  for (int index = 0; index < kDevices; ++index) report.devices.push_back(device_at(index, seconds));
  return report;
}

}  // namespace ringwright::gui::demo
