// What `ringwright doctor` looks at on this machine: a table of checks, each with what it saw and, where something is in the way, the fix.
#pragma once

#include <filesystem>
#include <vector>

#include "shared/doctor/observation.h"

namespace ringwright::doctor {

struct MachineChecks {
  std::filesystem::path torch_folder;    // LibTorch; empty: this build knows of none
  std::filesystem::path program_folder;  // where daemon, worker and console should be
};

// $RINGWRIGHT_TORCH_DIR, else the one that the build was made with.
std::filesystem::path torch_folder(const std::filesystem::path& built_with);

// In the order of the table. Never throws; a check that cannot look says so.
std::vector<Observation> examine_machine(const MachineChecks& checks);

}  // namespace ringwright::doctor
