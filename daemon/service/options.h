// What ringwrightd is told: by its command line, else by daemon.yaml, else by default.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "shared/alerts/rules.h"

namespace ringwright::service {

inline constexpr double kGraceSecondsMax = 30.0 * 24 * 3600;

struct Options {
  bool foreground = false;
  bool exit_when_idle = false;
  std::filesystem::path store;              // history.db; the runs' folders lie beside it, in runs/
  std::filesystem::path runtime_directory;  // sockets and lock
  std::filesystem::path worker_program;
  std::string extra_control;  // a further endpoint for control, tcp:// on loopback
  std::string nvml_library;   // that devices are read with; empty: the driver's own
  std::string log_level = "info";
  double orphan_grace_s = 30;
  double stop_grace_s = 10;
  alerts::Settings alerts;
};

// The part that daemon.yaml may set.
struct Config {
  std::optional<double> orphan_grace_s;
  std::optional<double> stop_grace_s;
  std::optional<alerts::Settings> alerts;
};

// An absent file is an empty one. Throws Error RW-DAEMON-010 (no YAML), RW-DAEMON-011 (unknown key, with the nearest known one), RW-DAEMON-012
// (wrong value), each with file:line:column, and RW-ALERT-001, RW-ALERT-002 for what stands below `alerts`.
Config read_config(const std::filesystem::path& file);

// Fills in what was not given: configuration, then defaults. Paths become absolute, folders are made.
void complete(Options& options, const Config& config);

// Throws Error RW-DAEMON-013 (exit code 3) when `endpoint` could be reached from another machine.
void require_loopback(const std::string& endpoint);

}  // namespace ringwright::service
