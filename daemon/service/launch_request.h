// What `run.launch` asks for, checked.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shared/history/records.h"
#include "shared/wire/worker_spec.h"

namespace ringwright::service {

inline constexpr int kWorldSizeMax = 1024;

struct LaunchRequest {
  history::RunRecord record;  // without id, state, times, colour
  wire::WorkerSpec spec;      // without run, directory, port, grace
  uint16_t port = 0;          // 0: any
};

// Throws Error RW-DAEMON-030 (a field is missing or has the wrong type), RW-DAEMON-031 (world size out of range), RW-STORE-016 (reserved name), or a
// guard's: the mesh's rules, the support matrix.
LaunchRequest read_launch_request(const nlohmann::json& arguments);

}  // namespace ringwright::service
