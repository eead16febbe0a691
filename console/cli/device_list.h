// A node's devices in the terminal.
#pragma once

#include <nlohmann/json.hpp>

namespace ringwright::cli {

// Of a daemon's answer to `status`; nothing for a daemon that says nothing of them.
void print_devices(const nlohmann::json& status);

}  // namespace ringwright::cli
