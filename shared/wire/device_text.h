// What a terminal and a window say of devices alike.
#pragma once

#include <optional>
#include <string>

#include "shared/wire/device_report.h"

namespace ringwright::wire {

// why_none of a node without such a driver and such a device, where there is nothing to mend.
inline constexpr const char* kNoDevicesHere = "no NVIDIA GPU here";

// One line for a report without devices: "no NVIDIA GPU here", "no reading: NVML does not start: ...". "" where there are some.
std::string no_devices_text(const DeviceReport& report);
// "655 W", "0 %"; "-" without a reading.
std::string number_text(const std::optional<double>& value, const char* unit);

}  // namespace ringwright::wire
