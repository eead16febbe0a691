// Staying with a run until it ends.
#pragma once

#include <cstdint>
#include <string>

#include "console/cli/run_display.h"
#include "shared/wire/control.h"

namespace ringwright::cli {

struct FollowedRun {
  std::string run, name;
  std::string store;  // where it is found if the daemon goes
  int64_t step_limit = 0;
  uint64_t after_sequence = 0;  // its events come after this number
};

// Shows the run until it has ended. Ctrl-C (or SIGTERM) once: it is stopped after its step; twice: killed. Returns the exit code: 0 finished, 1
// failed, lost or stopped by somebody else, 128 + the signal when it was stopped from here. Throws Error RW-CLI-023 (exit code 4) when the daemon is
// gone and the run had not ended.
int follow(const FollowedRun& run, const wire::Endpoints& endpoints, RunDisplay& display);

}  // namespace ringwright::cli
