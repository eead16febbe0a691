// What a node's devices say of themselves, as the daemon's heartbeat (the welcome message, control.h) and its `status` carry it. A field that a peer
// does not know is left out by it, and one that a peer does not send has no reading here: both sides may be older.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ringwright::wire {

struct DeviceRank {
  std::string run;
  int rank = 0;

  bool operator==(const DeviceRank&) const = default;
};

// nullopt: no reading. Counts are those since the driver was loaded, of Xid errors those that this daemon has seen.
struct DeviceReading {
  int index = 0;
  std::string name, uuid;
  std::string fault;  // why it cannot be read at all, or not in full: "GPU is lost"; "" where nothing is wrong
  std::optional<double> utilisation_percent, power_w, power_limit_w, temperature_c;
  std::optional<uint64_t> memory_used_bytes, memory_total_bytes;
  std::optional<std::vector<std::string>> throttle_reasons;  // empty: it runs as fast as it may
  std::optional<uint64_t> ecc_corrected, ecc_uncorrected;
  std::optional<uint64_t> xid_count, xid_last;  // xid_last: the number of the newest, where there was one
  std::optional<double> xid_age_s;
  std::vector<int64_t> processes;  // those that compute on it, as the driver numbers them
  std::vector<DeviceRank> ranks;   // those of them that are ranks of this daemon's runs

  bool operator==(const DeviceReading&) const = default;
};

struct DeviceReport {
  std::string why_none;  // why nothing can be read here; "" where it can, also of a node without any device
  std::string driver;
  std::vector<DeviceReading> devices;
  int64_t read_unix_ns = 0;  // by the clock of whoever holds the report; 0: never read

  bool operator==(const DeviceReport&) const = default;
};

// The message carries an age, not a time: the clocks of two nodes differ.
nlohmann::json to_json(const DeviceReport& report, int64_t now_unix_ns);
// Throws nothing: what is no number where a number belongs has no reading.
DeviceReport device_report_from_json(const nlohmann::json& message, int64_t now_unix_ns);

// What an operator has to know of a device beside its numbers: "GPU is lost", "Xid 79 (2 times); ECC 2 uncorrected; power cap", "none", "no reading".
std::string condition_text(const DeviceReading& device);
// Whether that is something to look at: a fault, a slowdown that protects the device, uncorrected errors, Xid errors.
bool needs_a_look(const DeviceReading& device);

// Reasons for throttling that say the device is in trouble, not merely at its limit.
inline constexpr const char* kThermalSlowdown = "thermal slowdown";
inline constexpr const char* kHardwareSlowdown = "hardware slowdown";
inline constexpr const char* kPowerBrake = "power brake";

}  // namespace ringwright::wire
