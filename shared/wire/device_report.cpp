#include "shared/wire/device_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "shared/wire/message.h"

namespace ringwright::wire {
namespace {

using nlohmann::json;

template <class T>
struct Field {
  const char* name;
  std::optional<T> DeviceReading::* value;
};
constexpr Field<double> kNumbers[] = {{"utilisation_percent", &DeviceReading::utilisation_percent},
                                      {"power_w", &DeviceReading::power_w},
                                      {"power_limit_w", &DeviceReading::power_limit_w},
                                      {"temperature_c", &DeviceReading::temperature_c},
                                      {"xid_age_s", &DeviceReading::xid_age_s}};
constexpr Field<uint64_t> kCounts[] = {{"memory_used_bytes", &DeviceReading::memory_used_bytes},
                                       {"memory_total_bytes", &DeviceReading::memory_total_bytes},
                                       {"ecc_corrected", &DeviceReading::ecc_corrected},
                                       {"ecc_uncorrected", &DeviceReading::ecc_uncorrected},
                                       {"xid_count", &DeviceReading::xid_count},
                                       {"xid_last", &DeviceReading::xid_last}};
constexpr double kAgeSecondsMax = 1e9;

json device_to_json(const DeviceReading& device) {
  json message = {{"index", device.index}, {"name", device.name}, {"uuid", device.uuid}, {"fault", device.fault}};
  for (const auto& field : kNumbers)
    if (const auto& value = device.*field.value) message[field.name] = *value;
  for (const auto& field : kCounts)
    if (const auto& value = device.*field.value) message[field.name] = *value;
  if (device.throttle_reasons) message["throttle_reasons"] = *device.throttle_reasons;
  message["ranks"] = json::array();
  for (const DeviceRank& rank : device.ranks) message["ranks"].push_back({{"run", rank.run}, {"rank", rank.rank}});
  return message;
}

const json& member(const json& map, const char* name) {
  static const json kNothing;
  const auto found = map.is_object() ? map.find(name) : map.end();
  return found == map.end() ? kNothing : *found;
}

const json& list_in(const json& map, const char* name) {
  static const json kEmpty = json::array();
  const json& value = member(map, name);
  return value.is_array() ? value : kEmpty;
}

std::string text_in(const json& map, const char* name) {
  const json& value = member(map, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<double> number_in(const json& map, const char* name) {
  const json& value = member(map, name);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}

std::optional<uint64_t> count_in(const json& map, const char* name) {
  const json& value = member(map, name);
  if (!value.is_number_integer() || (value.is_number_integer() && !value.is_number_unsigned() && value.get<int64_t>() < 0)) return std::nullopt;
  return value.get<uint64_t>();
}

int small_in(const json& map, const char* name) { return static_cast<int>(std::clamp<uint64_t>(count_in(map, name).value_or(0), 0, 1 << 20)); }

std::optional<std::vector<std::string>> texts_in(const json& map, const char* name) {
  if (!member(map, name).is_array()) return std::nullopt;
  std::vector<std::string> texts;
  for (const json& item : list_in(map, name))
    if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

DeviceReading device_from_json(const json& message) {
  DeviceReading device;
  device.index = small_in(message, "index");
  device.name = text_in(message, "name");
  device.uuid = text_in(message, "uuid");
  device.fault = text_in(message, "fault");
  for (const auto& field : kNumbers) device.*field.value = number_in(message, field.name);
  for (const auto& field : kCounts) device.*field.value = count_in(message, field.name);
  device.throttle_reasons = texts_in(message, "throttle_reasons");
  for (const json& rank : list_in(message, "ranks")) device.ranks.push_back({text_in(rank, "run"), small_in(rank, "rank")});
  return device;
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

constexpr size_t kConditions = 3;

// Which of the three is not read.
std::vector<std::string> unread(const DeviceReading& device) {
  std::vector<std::string> names;
  if (!device.throttle_reasons) names.emplace_back("throttling");
  if (!device.ecc_corrected && !device.ecc_uncorrected) names.emplace_back("ECC");
  if (!device.xid_count) names.emplace_back("Xid");
  return names;
}

std::string count_text(const std::optional<uint64_t>& count) { return count ? std::to_string(*count) : "-"; }

}  // namespace

json to_json(const DeviceReport& report, int64_t now_unix_ns) {
  json message = {{"why_none", report.why_none}, {"driver", report.driver}, {"list", json::array()}};
  if (report.read_unix_ns > 0) message["age_s"] = seconds_between(report.read_unix_ns, now_unix_ns);
  for (const DeviceReading& device : report.devices) message["list"].push_back(device_to_json(device));
  return message;
}

DeviceReport device_report_from_json(const json& message, int64_t now_unix_ns) {
  DeviceReport report;
  report.why_none = text_in(message, "why_none");
  report.driver = text_in(message, "driver");
  if (const auto age_s = number_in(message, "age_s"))
    report.read_unix_ns = now_unix_ns - static_cast<int64_t>(std::clamp(*age_s, 0.0, kAgeSecondsMax) * 1e9);
  for (const json& device : list_in(message, "list")) report.devices.push_back(device_from_json(device));
  return report;
}

std::string condition_text(const DeviceReading& device) {
  if (!device.fault.empty()) return device.fault;
  std::vector<std::string> parts;  // the worst first: a narrow view cuts the end
  if (const uint64_t count = device.xid_count.value_or(0); count > 0)
    parts.push_back("Xid " + count_text(device.xid_last) + (count > 1 ? " (" + std::to_string(count) + " times)" : ""));
  if (device.ecc_uncorrected.value_or(0) > 0)
    parts.push_back("ECC " + count_text(device.ecc_uncorrected) + " uncorrected");
  else if (device.ecc_corrected.value_or(0) > 0)
    parts.push_back("ECC " + count_text(device.ecc_corrected) + " corrected");
  if (device.throttle_reasons && !device.throttle_reasons->empty()) parts.push_back(joined(*device.throttle_reasons, ", "));
  if (const std::string missing = joined(unread(device), ", "); !missing.empty() && parts.empty())
    return unread(device).size() == kConditions ? "no reading" : "none; no reading: " + missing;
  return parts.empty() ? "none" : joined(parts, "; ");
}

bool needs_a_look(const DeviceReading& device) {
  constexpr std::array<std::string_view, 3> kTrouble = {kThermalSlowdown, kHardwareSlowdown, kPowerBrake};
  const auto is_trouble = [&](const std::string& reason) { return std::find(kTrouble.begin(), kTrouble.end(), reason) != kTrouble.end(); };
  const bool slowed = device.throttle_reasons && std::any_of(device.throttle_reasons->begin(), device.throttle_reasons->end(), is_trouble);
  return !device.fault.empty() || slowed || device.ecc_uncorrected.value_or(0) > 0 || device.xid_count.value_or(0) > 0;
}

}  // namespace ringwright::wire
