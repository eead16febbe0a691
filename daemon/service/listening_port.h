// The rendezvous port of a run: chosen, bound and listened on by the daemon, so that nobody can take it before rank 0 uses it.
#pragma once

#include <cstdint>
#include <string>

namespace ringwright::service {

class ListeningPort {
 public:
  // On 127.0.0.1; `port` 0: any free one. Throws Error RW-DAEMON-020 (exit code 3) when it is taken, with its owner where the system tells.
  explicit ListeningPort(uint16_t port);
  ~ListeningPort();
  ListeningPort(ListeningPort&& other) noexcept;
  ListeningPort& operator=(ListeningPort&&) = delete;

  int fd() const { return fd_; }
  uint16_t port() const { return port_; }

 private:
  int fd_ = -1;
  uint16_t port_ = 0;
};

// "process 123 (python3)", or "" when no process of ours listens on it.
std::string owner_of_port(uint16_t port);

}  // namespace ringwright::service
