#include "daemon/service/instance_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "shared/base/error.h"

namespace ringwright::service {

InstanceLock::InstanceLock(const std::filesystem::path& runtime_directory) {
  const std::filesystem::path file = runtime_directory / "daemon.lock";
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd_ < 0)
    throw Error({"RW-DAEMON-003", std::string("the daemon's lock cannot be opened: ") + std::strerror(errno), file.string(),
                 "a folder that you may write", "give another with --runtime-dir", ExitCode::run_failed});
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    char pid[32] = {};
    const ssize_t length = ::pread(fd_, pid, sizeof pid - 1, 0);
    ::close(fd_);
    const std::string owner = length > 0 ? std::string(pid, std::strcspn(pid, "\n")) : "unknown";
    throw Error({"RW-DAEMON-002", "a daemon runs here already: process " + owner, runtime_directory.string(), "one daemon for each user and node",
                 "use it as it is, or end it with `ringwright daemon stop`", ExitCode::run_failed});
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  [[maybe_unused]] const int cut = ::ftruncate(fd_, 0);
  [[maybe_unused]] const ssize_t written = ::pwrite(fd_, pid.data(), pid.size(), 0);
}

InstanceLock::~InstanceLock() { ::close(fd_); }

}  // namespace ringwright::service
