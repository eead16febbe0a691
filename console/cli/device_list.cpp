#include "console/cli/device_list.h"

#include <fmt/format.h>

#include "console/cli/table.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"
#include "shared/wire/device_report.h"
#include "shared/wire/device_text.h"
#include "shared/wire/message.h"

namespace ringwright::cli {
namespace {

std::string bytes(const std::optional<uint64_t>& value) { return value ? text::format_bytes(*value) : "-"; }

std::string part(const std::string& value, const std::string& whole) { return value == "-" ? value : value + " of " + whole; }

std::string ranks(const wire::DeviceReading& device) {
  std::string list;
  for (const wire::DeviceRank& rank : device.ranks) list += fmt::format("{}{} of {}", list.empty() ? "" : ", ", rank.rank, rank.run);
  return list.empty() ? "-" : list;
}

}  // namespace

void print_devices(const nlohmann::json& status) {
  if (!status.contains("devices")) return;
  const int64_t now = wire::now_unix_ns();
  const wire::DeviceReport report = wire::device_report_from_json(status["devices"], now);
  if (const std::string none = wire::no_devices_text(report); !none.empty()) {
    fmt::print("devices   {}\n", text::printable(none));
    return;
  }
  fmt::print("devices   {}, driver {}, read {} ago\n", report.devices.size(), report.driver.empty() ? "-" : text::printable(report.driver),
             text::format_elapsed(static_cast<double>(now - report.read_unix_ns) * 1e-9));
  Table table({{"device", Align::right},
               {"name", Align::left, true},
               {"GPU", Align::right},
               {"memory", Align::right},
               {"power", Align::right},
               {"temp", Align::right},
               {"rank", Align::left, true},
               {"throttling, ECC, Xid", Align::left, true}});
  for (const wire::DeviceReading& device : report.devices)
    table.add_row({std::to_string(device.index), text::printable(device.name), wire::number_text(device.utilisation_percent, "%"),
                   part(bytes(device.memory_used_bytes), bytes(device.memory_total_bytes)),
                   part(wire::number_text(device.power_w, "W"), wire::number_text(device.power_limit_w, "W")),
                   wire::number_text(device.temperature_c, "°C"), ranks(device), text::printable(wire::condition_text(device))});
  table.print();
}

}  // namespace ringwright::cli
