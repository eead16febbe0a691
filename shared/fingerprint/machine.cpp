#include "shared/fingerprint/machine.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <xxhash.h>
#include <zmq.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "shared/base/host.h"
#include "shared/fingerprint/torch_libraries.h"

namespace ringwright::fingerprint {
namespace {

namespace fs = std::filesystem;

// Processor features that CPU kernels are chosen by, x86 and Arm.
constexpr const char* kDecidingFlags[] = {"avx",         "avx2",     "fma",      "f16c",  "avx512f", "avx512bw", "avx512vl", "avx512_vnni",
                                          "avx512_bf16", "amx_bf16", "amx_tile", "asimd", "sve",     "sve2",     "bf16",     "i8mm"};

// The value of the first line "key : value" in a file of /proc.
std::string proc_value(const fs::path& file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const size_t first = line.find_first_not_of(" \t", colon + 1);
    return first == std::string::npos ? "" : line.substr(first);
  }
  return "";
}

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

nlohmann::json file_handles() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto number = [](rlim_t value) { return value == RLIM_INFINITY ? int64_t{-1} : static_cast<int64_t>(value); };
  return {{"soft", number(limit.rlim_cur)}, {"hard", number(limit.rlim_max)}};
}

nlohmann::json ports(const fs::path& root) {
  int first = 0, last = 0;
  std::istringstream range(first_line(root / "proc/sys/net/ipv4/ip_local_port_range"));
  if (!(range >> first >> last)) return nullptr;
  return {{"first", first}, {"last", last}, {"reserved", first_line(root / "proc/sys/net/ipv4/ip_local_reserved_ports")}};
}

std::string driver_version(const fs::path& root) {
  static const re2::RE2 kVersion("Kernel Module[^0-9]*([0-9]+(?:\\.[0-9]+)+)");
  const std::string line = first_line(root / "proc/driver/nvidia/version");
  std::string version;
  return re2::RE2::PartialMatch(line, kVersion, &version) ? version : first_line(root / "sys/module/nvidia/version");
}

nlohmann::json graphics(const fs::path& root) {
  nlohmann::json gpu = {{"count", gpu_count(root)}};
  std::multiset<std::string> models;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root / "proc/driver/nvidia/gpus", ignored))
    models.insert(proc_value(entry.path() / "information", "Model"));
  if (!models.empty()) gpu["models"] = models;
  if (const std::string version = driver_version(root); !version.empty()) gpu["driver"] = version;
  if (const std::string version = gpu["count"] == 0 ? "" : driver_cuda_version(); !version.empty()) gpu["driver_cuda"] = version;
  return gpu;
}

nlohmann::json libraries(const fs::path& torch_folder) {
  int major = 0, minor = 0, patch = 0;
  ::zmq_version(&major, &minor, &patch);
  nlohmann::json all = torch_libraries(torch_folder);
  all.update({{"sqlite", sqlite3_libversion()},
              {"zmq", fmt::format("{}.{}.{}", major, minor, patch)},
              {"yaml-cpp", RINGWRIGHT_YAML_CPP_VERSION},
              {"xxhash", fmt::format("{}.{}.{}", XXH_versionNumber() / 10000, XXH_versionNumber() / 100 % 100, XXH_versionNumber() % 100)},
              {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)}});
  return all;
}

}  // namespace

nlohmann::json processor(const fs::path& root) {
  const fs::path file = root / "proc/cpuinfo";
  std::istringstream all(proc_value(file, "flags") + " " + proc_value(file, "Features"));
  std::set<std::string> present;
  for (std::string flag; all >> flag;) present.insert(flag);
  nlohmann::json flags = nlohmann::json::array();
  for (const char* flag : kDecidingFlags)
    if (present.contains(flag)) flags.push_back(flag);
  return {{"model", proc_value(file, "model name")}, {"cores", std::thread::hardware_concurrency()}, {"flags", flags}};
}

nlohmann::json node_fingerprint(const MachineOptions& options) {
  utsname system{};
  ::uname(&system);
  nlohmann::json all = {{"node", system.nodename},          {"kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
                        {"cpu", processor(options.root)},   {"memory_bytes", host::memory_bytes()},
                        {"file_handles", file_handles()},   {"gpu", graphics(options.root)},
                        {"ringwright", RINGWRIGHT_VERSION}, {"libraries", libraries(options.torch_folder)}};
  struct statvfs shm{};
  if (::statvfs((options.root / "dev/shm").c_str(), &shm) == 0) all["shm_bytes"] = uint64_t{shm.f_blocks} * shm.f_frsize;
  if (nlohmann::json range = ports(options.root); !range.is_null()) all["ports"] = std::move(range);
  return all;
}

fs::path folder_of_loaded(std::string_view library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t begin = line.find('/');
    if (begin == std::string::npos) continue;
    const fs::path file = line.substr(begin);
    if (file.filename() == library) return file.parent_path().filename() == "lib" ? file.parent_path().parent_path() : file.parent_path();
  }
  return {};
}

double float32_flops_per_s_max(const nlohmann::json& processor) {
  constexpr double kClockMax = 6.5e9;
  const nlohmann::json& flags = processor.at("flags");
  const auto has = [&](const char* flag) { return std::find(flags.begin(), flags.end(), flag) != flags.end(); };
  // Two units that multiply and add, over vectors of 16, 8 or 4 numbers.
  const double width = has("avx512f") || has("sve") ? 16 : has("avx2") ? 8 : 4;
  return processor.at("cores").get<double>() * kClockMax * 2 * 2 * width;
}

size_t gpu_count(const fs::path& root) {
  constexpr std::string_view kStem = "nvidia";  // nvidia0, nvidia1, ...; nvidiactl is none
  size_t count = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root / "dev", ignored)) {
    const std::string name = entry.path().filename();
    const bool numbered =
        name.size() > kStem.size() && std::all_of(name.begin() + kStem.size(), name.end(), [](unsigned char c) { return std::isdigit(c); });
    if (name.starts_with(kStem) && numbered) ++count;
  }
  return count;
}

}  // namespace ringwright::fingerprint
