#include "daemon/service/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "shared/base/error.h"

namespace ringwright::service {
namespace {

Error not_started(const SpawnRequest& request, int reason) {
  return Error({"RW-DAEMON-021", request.role + " cannot be started: " + std::strerror(reason), request.program.string(), "a program that can be run",
                "install ringwright-worker beside ringwrightd, or start the daemon with --worker PROGRAM", ExitCode::run_failed});
}

struct FileActions {
  FileActions() { ::posix_spawn_file_actions_init(&value); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&value); }
  posix_spawn_file_actions_t value;
};

struct Attributes {
  Attributes() {
    ::posix_spawnattr_init(&value);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&value, &none);
    ::posix_spawnattr_setsigdefault(&value, &all);
    ::posix_spawnattr_setpgroup(&value, 0);
    ::posix_spawnattr_setflags(&value, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&value); }
  posix_spawnattr_t value;
};

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    bool replaced = text.starts_with("NOTIFY_SOCKET=");  // only the daemon itself talks to the service manager
    for (const auto& [name, value] : more) replaced |= text.starts_with(name + "=");
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// The reading end does not block; the writing end is the worker's and does.
std::pair<Fd, Fd> output_pipe(const SpawnRequest& request) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw not_started(request, errno);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Spawned spawn(const SpawnRequest& request) {
  auto [out_read, out_write] = output_pipe(request);
  auto [err_read, err_write] = output_pipe(request);
  FileActions actions;
  if (request.input_fd >= 0)
    ::posix_spawn_file_actions_adddup2(&actions.value, request.input_fd, 0);
  else
    ::posix_spawn_file_actions_addopen(&actions.value, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions.value, out_write.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions.value, err_write.get(), 2);
  if (request.inherited_fd >= 0) ::posix_spawn_file_actions_adddup2(&actions.value, request.inherited_fd, kInheritedFd);
  ::posix_spawn_file_actions_addchdir_np(&actions.value, request.directory.c_str());
  Attributes attributes;
  std::vector<std::string> arguments = {request.program.string()};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = environment_with(request.environment);
  Spawned spawned;
  const int reason = ::posix_spawnp(&spawned.pid, request.program.c_str(), &actions.value, &attributes.value, pointers(arguments).data(),
                                    pointers(environment).data());
  if (reason != 0) throw not_started(request, reason);
  spawned.out = std::move(out_read);
  spawned.err = std::move(err_read);
  return spawned;
}

}  // namespace ringwright::service
