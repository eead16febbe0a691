// Where this program runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace ringwright::host {

// The node's name in the network.
std::string node_name();

// Memory of this machine; 0 when the system does not tell.
uint64_t memory_bytes();

// The folder of this program's file; empty when the system does not tell.
std::filesystem::path program_folder();

}  // namespace ringwright::host
