// Processes that outlive the worker that started them. A child that calls setsid, or whose parent ends, is out of reach of a signal to the
// worker's process group; but as the daemon adopts orphans, what has lost its worker becomes a child of the daemon.
#pragma once

#include <sys/types.h>

#include <functional>

namespace ringwright::service {

// Kills what is below this process without a worker above it, and reaps it. `is_worker`: of a child of this process. Returns whether something is
// left that has not ended yet.
bool end_strays(const std::function<bool(pid_t)>& is_worker);

}  // namespace ringwright::service
