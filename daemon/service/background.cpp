#include "daemon/service/background.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

namespace ringwright::service {
namespace {

constexpr char kReady[] = "ready";

[[noreturn]] void wait_and_exit(int pipe) {
  std::string answer;
  char bytes[512];
  for (ssize_t count = 0; (count = ::read(pipe, bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR);)
    if (count > 0) answer.append(bytes, static_cast<size_t>(count));
  if (answer == kReady) std::_Exit(0);
  const nlohmann::json json = nlohmann::json::parse(answer, nullptr, false);
  const ErrorParts parts =
      json.is_object() ? error_parts_from_json(json)
                       : ErrorParts{"RW-DAEMON-004",     "the daemon ended before it was ready", "", "", "start it with --foreground to see why",
                                    ExitCode::run_failed};
  std::fprintf(stderr, "%s\n", describe(parts).c_str());
  std::fflush(stderr);
  std::_Exit(static_cast<int>(parts.exit_code));
}

void leave_standard_streams() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2; ++fd) ::dup2(null, fd);
  if (null > 2) ::close(null);
}

pid_t fork_or_throw() {
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  return pid;
}

}  // namespace

Background::Background() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t middle = fork_or_throw();
  if (middle > 0) {
    ::close(ends[1]);
    ::waitpid(middle, nullptr, 0);
    wait_and_exit(ends[0]);
  }
  ::close(ends[0]);
  ::setsid();
  if (fork_or_throw() > 0) std::_Exit(0);
  [[maybe_unused]] const int moved = ::chdir("/");
  ::umask(077);
  leave_standard_streams();
  pipe_ = ends[1];
}

Background::~Background() {
  if (pipe_ >= 0) ::close(pipe_);
}

void Background::ready() {
  if (pipe_ < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(pipe_, kReady, sizeof kReady - 1);
  ::close(pipe_);
  pipe_ = -1;
}

void Background::failed(const ErrorParts& error) {
  if (pipe_ < 0) return;
  const std::string text = to_json(error).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  [[maybe_unused]] const ssize_t written = ::write(pipe_, text.data(), text.size());
  ::close(pipe_);
  pipe_ = -1;
}

void notify_service_manager(const std::string& state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (!path || (path[0] != '/' && path[0] != '@')) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t length = std::strlen(path);
  if (length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';  // the abstract name space
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
           static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length));
  ::close(fd);
}

}  // namespace ringwright::service
