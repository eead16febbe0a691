// Starting a process of a worker, or of the command that hears of alerts.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ringwright::service {

// An owned file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(), fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

struct SpawnRequest {
  std::filesystem::path program;                                 // looked for in PATH when it is a mere name
  std::vector<std::string> arguments;                            // without the program's name
  std::vector<std::pair<std::string, std::string>> environment;  // on top of ours
  std::filesystem::path directory;                               // where it runs
  int inherited_fd = -1;                                         // becomes kInheritedFd there
  std::string role = "a worker";                                 // for errors
  int input_fd = -1;                                             // its standard input; -1: /dev/null
};
inline constexpr int kInheritedFd = 3;

struct Spawned {
  pid_t pid = -1;  // and its process group's id
  Fd out, err;     // reading ends, non-blocking
};

// In a process group of its own, no other descriptor of ours, default signal handling. Throws Error
// RW-DAEMON-021 when it cannot be started.
Spawned spawn(const SpawnRequest& request);

}  // namespace ringwright::service
