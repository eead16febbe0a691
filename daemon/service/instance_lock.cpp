#include "daemon/service/instance_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "shared/base/error.h"

namespace ringwright::service {

InstanceLock::InstanceLock(const std::filesystem::path& runtime_directory) : file_(runtime_directory / "daemon.lock"), fd_(take()) {}

int InstanceLock::take() const {
  const int fd = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0)
    throw Error({"RW-DAEMON-003", std::string("the daemon's lock cannot be opened: ") + std::strerror(errno), file_.string(),
                 "a folder that you may write", "give another with --runtime-dir", ExitCode::run_failed});
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    char pid[32] = {};
    const ssize_t length = ::pread(fd, pid, sizeof pid - 1, 0);
    ::close(fd);
    const std::string owner = length > 0 ? std::string(pid, std::strcspn(pid, "\n")) : "unknown";
    throw Error({"RW-DAEMON-002", "a daemon runs here already: process " + owner, file_.parent_path().string(), "one daemon for each user and node",
                 "use it as it is, or end it with `ringwright daemon stop`", ExitCode::run_failed});
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  [[maybe_unused]] const int cut = ::ftruncate(fd, 0);
  [[maybe_unused]] const ssize_t written = ::pwrite(fd, pid.data(), pid.size(), 0);
  return fd;
}

bool InstanceLock::is_in_place() const {
  struct stat held{}, found{};
  return ::fstat(fd_, &held) == 0 && ::stat(file_.c_str(), &found) == 0 && held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

void InstanceLock::take_again() {
  const int fd = take();
  ::close(fd_);
  fd_ = fd;
}

InstanceLock::~InstanceLock() { ::close(fd_); }

}  // namespace ringwright::service
