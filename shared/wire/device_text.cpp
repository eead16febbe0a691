#include "shared/wire/device_text.h"

#include <fmt/format.h>

namespace ringwright::wire {

std::string no_devices_text(const DeviceReport& report) {
  if (report.why_none.empty()) return report.devices.empty() ? "the driver knows none" : "";
  return report.why_none == kNoDevicesHere ? report.why_none : "no reading: " + report.why_none;
}

std::string number_text(const std::optional<double>& value, const char* unit) { return value ? fmt::format("{:.0f} {}", *value, unit) : "-"; }

}  // namespace ringwright::wire
