#include "shared/base/paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "shared/base/error.h"

namespace ringwright::paths {
namespace {

constexpr size_t kSocketPathBytesMax = 107;

std::filesystem::path home() {
  const char* home = std::getenv("HOME");
  return home && *home ? home : "/";
}

// Nothing where it is unset, or relative: the daemon works in another folder than who started it.
const char* absolute_path_in(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value == '/' ? value : nullptr;
}

std::filesystem::path xdg(const char* variable, const char* fallback_below_home) {
  const char* value = absolute_path_in(variable);
  return value ? std::filesystem::path(value) : home() / fallback_below_home;
}

void make_private_directory(const std::filesystem::path& directory) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error({"RW-PATH-001", "the folder for sockets cannot be made: " + std::string(std::strerror(errno)), directory.string(),
                 "a folder that only you can enter", "set XDG_RUNTIME_DIR to a folder of yours", ExitCode::unreachable});
  struct stat status{};
  if (::lstat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::getuid() || (status.st_mode & 077))
    throw Error({"RW-PATH-001", "the folder for sockets is not yours alone", directory.string(), "owner you, mode 0700",
                 "remove it, or set XDG_RUNTIME_DIR to a folder of yours", ExitCode::unreachable});
}

}  // namespace

std::filesystem::path state_directory() { return xdg("XDG_STATE_HOME", ".local/state") / "ringwright"; }
std::filesystem::path default_store() { return state_directory() / "history.db"; }
std::filesystem::path config_directory() { return xdg("XDG_CONFIG_HOME", ".config") / "ringwright"; }

std::filesystem::path cache_directory() {
  const char* own = std::getenv("RINGWRIGHT_CACHE");
  return own && *own ? std::filesystem::path(own) : xdg("XDG_CACHE_HOME", ".cache") / "ringwright";
}

std::filesystem::path default_runtime_directory() {
  const char* base = absolute_path_in("XDG_RUNTIME_DIR");
  return base ? std::filesystem::path(base) / "ringwright" : std::filesystem::path("/tmp/ringwright-" + std::to_string(::getuid()));
}

std::filesystem::path runtime_directory() { return private_directory(default_runtime_directory()); }

std::filesystem::path private_directory(const std::filesystem::path& directory) {
  make_private_directory(directory);
  return directory;
}

std::string ipc_endpoint(const std::filesystem::path& socket) {
  if (socket.string().size() > kSocketPathBytesMax)
    throw Error({"RW-PATH-002", "the socket's path is too long", socket.string(),
                 "at most " + std::to_string(kSocketPathBytesMax) + " bytes, this has " + std::to_string(socket.string().size()),
                 "set XDG_RUNTIME_DIR to a shorter path", ExitCode::unreachable});
  return "ipc://" + socket.string();
}

}  // namespace ringwright::paths
