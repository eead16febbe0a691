#include "shared/doctor/machine_checks.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zmq.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "shared/base/error.h"
#include "shared/base/host.h"
#include "shared/base/paths.h"
#include "shared/base/text.h"
#include "shared/doctor/needed_libraries.h"
#include "shared/fingerprint/machine.h"

namespace ringwright::doctor {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMebibyte = 1 << 20;
constexpr uint64_t kShmBytesMin = 64 * kMebibyte;
constexpr uint64_t kDiskBytesMin = 1024 * kMebibyte;
constexpr rlim_t kFilesMin = 1024;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Observation versions(const MachineChecks&) {
  int major = 0, minor = 0, patch = 0;
  zmq_version(&major, &minor, &patch);
  return {"versions", Health::good,
          fmt::format("ringwright {}, ZeroMQ {}.{}.{}, SQLite {}, fmt {}.{}.{}, nlohmann-json {}.{}.{}", RINGWRIGHT_VERSION, major, minor, patch,
                      sqlite3_libversion(), FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100, NLOHMANN_JSON_VERSION_MAJOR,
                      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH),
          ""};
}

Observation machine(const MachineChecks&) {
  utsname name{};
  ::uname(&name);
  return {"machine", Health::good,
          fmt::format("{}, {} {}, {} cores, {}", name.nodename, name.sysname, name.release, std::thread::hardware_concurrency(),
                      text::format_bytes(host::memory_bytes())),
          ""};
}

Observation programs(const MachineChecks& checks) {
  const fs::path& folder = checks.program_folder;
  std::string missing;
  for (const char* name : {"ringwrightd", "ringwright-worker", "ringwright-console"})
    if (::access((folder / name).c_str(), X_OK) != 0) missing += (missing.empty() ? "" : ", ") + std::string(name);
  if (missing.empty()) return {"programs", Health::good, "daemon, worker and console are in " + folder.string(), ""};
  const bool needed = missing.find("ringwrightd") != std::string::npos || missing.find("ringwright-worker") != std::string::npos;
  return {"programs",
          needed ? Health::bad : Health::note,
          fmt::format("not in {}: {}", folder.string(), missing),
          "build them: ./bootstrap build",
          {"./bootstrap build"}};
}

Observation libtorch(const MachineChecks& checks) {
  const fs::path& folder = checks.torch_folder;
  std::error_code ignored;
  if (folder.empty()) return {"LibTorch", Health::note, "this build knows of none", "./bootstrap build fetches it, or set RINGWRIGHT_TORCH_DIR", {}};
  for (const char* library : {"lib/libtorch_cpu.so", "lib/libc10.so"})
    if (!fs::exists(folder / library, ignored))
      return {"LibTorch",
              Health::bad,
              fmt::format("{} is missing in {}", library, folder.string()),
              "./bootstrap build fetches it again, or set RINGWRIGHT_TORCH_DIR",
              {"./bootstrap build"}};
  const bool cuda = fs::exists(folder / "lib/libtorch_cuda.so", ignored);
  return {"LibTorch", Health::good, fmt::format("{}{}", folder.string(), cuda ? ", with CUDA" : ", CPU only"), "", {}};
}

// Where the libraries of a wheel's dependencies are.
std::vector<fs::path> library_folders(const fs::path& torch_folder) {
  std::vector<fs::path> folders = {torch_folder / "lib"};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(torch_folder.parent_path() / "nvidia", ignored)) folders.push_back(entry.path() / "lib");
  return folders;
}

Observation devices(const MachineChecks& checks) {
  const size_t nodes = fingerprint::gpu_count();
  if (nodes == 0) return {"devices", Health::good, "no GPU: workers run on the CPU, joined by Gloo", ""};
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  const std::string reason = driver ? "" : std::string(::dlerror());
  if (driver) ::dlclose(driver);
  if (!driver)
    return {"devices", Health::note, fmt::format("{} GPUs, but no driver library: {}", nodes, reason),
            "install NVIDIA's driver libraries (libcuda.so.1)"};
  const std::vector<std::string> missing = missing_libraries(checks.torch_folder / "lib/libtorch_cuda.so", library_folders(checks.torch_folder));
  if (!missing.empty())
    return {"devices", Health::note, fmt::format("{} GPUs, but LibTorch's CUDA part lacks {}", nodes, fmt::join(missing, ", ")),
            "install the CUDA toolkit's libraries, or put them into nvidia/*/lib beside LibTorch"};
  return {"devices", Health::good, fmt::format("{} GPUs", nodes), ""};
}

// What a run needs: a port on loopback that the system chooses.
Observation ports(const MachineChecks&) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound = fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(fd, 1) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  const std::string reason = bound ? "" : std::strerror(errno);
  if (fd >= 0) ::close(fd);
  if (!bound) return {"ports", Health::bad, "no free port on 127.0.0.1: " + reason, "free some ports, or allow loopback: workers meet there"};
  return {"ports", Health::good, fmt::format("the system gives ports on 127.0.0.1 (just now {})", ntohs(address.sin_port)), ""};
}

Observation shared_memory(const MachineChecks&) {
  struct statvfs status{};
  if (::statvfs("/dev/shm", &status) != 0)
    return {"/dev/shm", Health::note, std::string("cannot be looked at: ") + std::strerror(errno), "mount a tmpfs there"};
  const uint64_t bytes = uint64_t{status.f_bavail} * status.f_frsize;
  if (bytes < kShmBytesMin)
    return {"/dev/shm", Health::note, text::format_bytes(bytes) + " free", "in a container: --shm-size=1g; NCCL and data loaders want more"};
  return {"/dev/shm", Health::good, text::format_bytes(bytes) + " free", ""};
}

Observation file_handles(const MachineChecks&) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < kFilesMin)
    return {"file handles",
            Health::note,
            fmt::format("{} for each process", limit.rlim_cur),
            "raise the limit in the shell that starts the daemon",
            {fmt::format("ulimit -n {}", kFilesMin)}};
  return {"file handles", Health::good, limit.rlim_cur == RLIM_INFINITY ? "no limit" : fmt::format("{} for each process", limit.rlim_cur), ""};
}

Observation runtime_folder(const MachineChecks&) {
  const fs::path folder = paths::runtime_directory();
  paths::ipc_endpoint(folder / "control.sock");
  return {"sockets", Health::good, folder.string() + ", yours alone", ""};
}

// The nearest folder that exists decides whether the rest can be made.
Observation writable(const std::string& name, const fs::path& folder, const std::string& variable) {
  fs::path existing = folder;
  std::error_code ignored;
  while (!fs::exists(existing, ignored) && existing.has_relative_path()) existing = existing.parent_path();
  if (!fs::is_directory(existing, ignored)) return {name, Health::bad, existing.string() + " is no folder", "remove it, or set " + variable};
  if (::access(existing.c_str(), W_OK | X_OK) != 0)
    return {name, Health::bad, "you may not write in " + existing.string(), "chown it to you, or set " + variable};
  const fs::space_info space = fs::space(existing, ignored);
  const std::string seen = fmt::format("{}, {} free", folder.string(), text::format_bytes(space.available));
  if (space.available < kDiskBytesMin) return {name, Health::note, seen, "make room: checkpoints and history go there; or set " + variable};
  return {name, Health::good, seen, ""};
}

Observation state_folder(const MachineChecks&) { return writable("state", paths::state_directory(), "XDG_STATE_HOME"); }
Observation cache_folder(const MachineChecks&) { return writable("cache", paths::cache_directory(), "RINGWRIGHT_CACHE"); }

Observation display(const MachineChecks&) {
  const std::string x11 = environment("DISPLAY");
  if (!x11.empty()) return {"display", Health::good, "DISPLAY is " + x11, ""};
  if (!environment("WAYLAND_DISPLAY").empty())
    return {"display", Health::note, "Wayland without X11, and the console needs X11", "start Xwayland, or use the ringwright commands"};
  return {"display", Health::note, "none: ringwright-console cannot open a window here",
          "use the ringwright commands, or ssh -X, or xvfb-run for screenshots"};
}

struct Check {
  const char* name;
  Observation (*look)(const MachineChecks& checks);
};

constexpr Check kChecks[] = {{"versions", versions},      {"machine", machine},    {"programs", programs},      {"LibTorch", libtorch},
                             {"devices", devices},        {"ports", ports},        {"/dev/shm", shared_memory}, {"file handles", file_handles},
                             {"sockets", runtime_folder}, {"state", state_folder}, {"cache", cache_folder},     {"display", display}};

}  // namespace

fs::path torch_folder(const fs::path& built_with) {
  const std::string given = environment("RINGWRIGHT_TORCH_DIR");
  return given.empty() ? built_with : fs::path(given);
}

std::vector<Observation> examine_machine(const MachineChecks& checks) {
  std::vector<Observation> observations;
  for (const Check& check : kChecks) {
    try {
      observations.push_back(check.look(checks));
    } catch (const Error& error) {
      observations.push_back({check.name, Health::bad, error.parts().what + " (" + error.parts().where + ")", error.parts().action});
    } catch (const std::exception& error) {
      observations.push_back({check.name, Health::note, std::string("could not be looked at: ") + error.what(), ""});
    }
  }
  return observations;
}

}  // namespace ringwright::doctor
