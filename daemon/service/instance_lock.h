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

  // Whether the lock's file is still the one that is held; nobody else can be here then.
  bool is_in_place() const;
  // Once more, when the file has been deleted. Throws like the constructor; what was held stays held then.
  void take_again();

 private:
  int take() const;

  std::filesystem::path file_;
  int fd_;
};

}  // namespace ringwright::service
