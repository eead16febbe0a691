#include "daemon/service/strays.h"

#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "shared/base/process_tree.h"

namespace ringwright::service {

bool end_strays(const std::function<bool(pid_t)>& is_worker) {
  const std::vector<ProcessEntry> processes = list_processes();
  bool left = false;
  for (const ProcessEntry& child : processes) {
    if (child.parent != ::getpid() || is_worker(child.pid)) continue;
    // What is below it comes to us when it ends; the next call finds what was started meanwhile.
    for (const pid_t below : running_descendants(processes, child.pid)) ::kill(below, SIGKILL);
    ::kill(child.pid, SIGKILL);
    const bool reaped = ::waitpid(child.pid, nullptr, WNOHANG) == child.pid;
    if (!child.ended) spdlog::warn("process {} had outlived its worker and was killed", child.pid);
    left |= !reaped || !child.ended;
  }
  return left;
}

}  // namespace ringwright::service
