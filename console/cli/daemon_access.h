// Finding, starting and leaving the user's own daemon.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "shared/wire/control.h"

namespace ringwright::cli {

// How long a command waits for a daemon that hangs, before it says so and ends (T36).
inline constexpr std::chrono::milliseconds kAnswerTimeout{1200};

// The sockets of this user's daemon on this node.
wire::Endpoints own_endpoints();

// What the daemon says about itself; nothing when none answers. Other errors are thrown.
std::optional<nlohmann::json> hello(const wire::Endpoints& endpoints, const std::string& operation = "hello");

struct DaemonOptions {
  std::string store;  // empty: the user's own history
  std::optional<double> orphan_grace_s;
  bool exit_when_idle = false;
};
// Starts `ringwrightd`, found beside this program or in PATH, and waits until it answers. Two that start at once end up with one daemon.
// Throws Error RW-CLI-020 (exit code 4) when it is not found, or the daemon's own error.
nlohmann::json start_daemon(const DaemonOptions& options);

struct StopOptions {
  bool drain = false;  // let its runs end by themselves
  std::string store;   // of a daemon whose sockets are not found; empty: the user's own history
};
// Asks the daemon that said hello with `daemon` to end, and waits until its process has: its history is closed then, and its place is free. False
// when it lives on after `wait` (without one: waits for as long as it takes).
bool end_daemon(const nlohmann::json& daemon, const StopOptions& options, std::optional<std::chrono::milliseconds> wait);

Error lives_on(pid_t pid);  // RW-CLI-022

// The same for a daemon that cannot be asked, as its sockets are elsewhere or gone: the process that writes the history is sent SIGTERM. Its id;
// nothing where no process writes it. Throws Error RW-CLI-022 when it lives on.
std::optional<pid_t> end_writer(const StopOptions& options, std::chrono::milliseconds wait);

// The daemon that is there, or a new one. One that writes another history than `options.store` gives way when it has no run and would have ended with
// its last one anyway. Throws Error RW-CLI-021 (exit code 3) when it does not give way, and those of start_daemon.
nlohmann::json join_or_start_daemon(const DaemonOptions& options);

// A run's id from what the user wrote (id, beginning of one, name, last), as the daemon's history knows it.
std::string find_run(wire::ControlClient& client, const std::string& id_or_name);

// The error that describe() printed; `text` alone when it looks like none.
ErrorParts parse_described_error(const std::string& text);

}  // namespace ringwright::cli
