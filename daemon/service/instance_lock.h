// One daemon for each runtime directory.
#pragma once

#include <filesystem>

namespace ringwright::service {

class InstanceLock {
 public:
  // Throws Error RW-DAEMON-002 (exit code 1) with the process id of the daemon that has it.
  explicit InstanceLock(const std::filesystem::path& runtime_directory);
  ~InstanceLock();
  InstanceLock(const InstanceLock&) = delete;
  InstanceLock& operator=(const InstanceLock&) = delete;

 private:
  int fd_;
};

}  // namespace ringwright::service
