#include "daemon/service/listening_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "shared/base/error.h"

namespace ringwright::service {
namespace {

constexpr int kBacklog = 1024;
constexpr unsigned kTcpListen = 0x0A;  // Linux: TCP_LISTEN in /proc/net/tcp

// Inodes of the sockets that listen on `port`.
std::set<std::string> listening_inodes(uint16_t port) {
  std::set<std::string> inodes;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(table);
    std::string line;
    while (std::getline(in, line)) {
      unsigned local_port = 0, state = 0;
      unsigned long inode = 0;
      if (std::sscanf(line.c_str(), " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %lu", &local_port, &state, &inode) != 3)
        continue;
      if (local_port == port && state == kTcpListen) inodes.insert("socket:[" + std::to_string(inode) + "]");
    }
  }
  return inodes;
}

bool has_one_of(const std::filesystem::path& process, const std::set<std::string>& inodes) {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(process / "fd", failure)) {
    std::error_code ignored;
    if (inodes.contains(std::filesystem::read_symlink(entry.path(), ignored).string())) return true;
  }
  return false;
}

Error port_error(const std::string& what, uint16_t port) {
  return Error({"RW-DAEMON-020", what, "port " + std::to_string(port), "a port that is free on 127.0.0.1",
                "leave the port out: a free one is chosen then", ExitCode::refused});
}

}  // namespace

std::string owner_of_port(uint16_t port) {
  const std::set<std::string> inodes = listening_inodes(port);
  if (inodes.empty()) return "";
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", failure)) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos || !has_one_of(entry.path(), inodes)) continue;
    std::string name;
    std::ifstream in(entry.path() / "comm");
    std::getline(in, name);
    return "process " + pid + (name.empty() ? "" : " (" + name + ")");
  }
  return "";
}

ListeningPort::ListeningPort(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (fd_ < 0) throw port_error(std::string("no socket for the rendezvous: ") + std::strerror(errno), port);
  const int yes = 1;
  ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);  // a run that was killed leaves connections in TIME_WAIT
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(fd_, kBacklog) != 0) {
    const int reason = errno;
    ::close(fd_);
    if (reason != EADDRINUSE) throw port_error(std::string("the rendezvous port cannot be used: ") + std::strerror(reason), port);
    const std::string owner = owner_of_port(port);
    throw port_error("port " + std::to_string(port) + " is taken" + (owner.empty() ? "" : " by " + owner), port);
  }
  socklen_t length = sizeof address;
  ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
  port_ = ntohs(address.sin_port);
}

ListeningPort::~ListeningPort() {
  if (fd_ >= 0) ::close(fd_);
}

ListeningPort::ListeningPort(ListeningPort&& other) noexcept : fd_(std::exchange(other.fd_, -1)), port_(other.port_) {}

}  // namespace ringwright::service
