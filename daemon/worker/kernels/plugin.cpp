#include "daemon/worker/kernels/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "shared/base/error.h"
#include "shared/base/host.h"

namespace ringwright::worker {
namespace {

constexpr const char* kPluginFile = "rw_cuda.so";

std::string loader_message() {
  const char* message = dlerror();
  return message != nullptr ? message : "unknown";
}

CudaPlugin find_plugin() {
  const std::string problem = cuda_driver_problem();
  if (!problem.empty()) {
    return {nullptr, problem};
  }
  std::vector<std::string> looked_at;
  for (const auto& file : cuda_plugin_candidates()) {
    std::error_code error;
    if (std::filesystem::exists(file, error)) {
      return load_cuda_plugin(file);
    }
    looked_at.push_back(file.string());
  }
  return {nullptr, fmt::format("there is a GPU, but no CUDA plug-in in {}", fmt::join(looked_at, ", "))};
}

}  // namespace

std::string cuda_driver_problem() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    return fmt::format("no CUDA driver: {}", loader_message());
  }
  using Initialize = int (*)(unsigned int);
  using CountDevices = int (*)(int*);
  const auto initialize = reinterpret_cast<Initialize>(dlsym(driver, "cuInit"));
  const auto count_devices = reinterpret_cast<CountDevices>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  const int status = initialize == nullptr || count_devices == nullptr ? -1 : initialize(0);
  if (status != 0) {
    return fmt::format("the CUDA driver does not start (status {})", status);
  }
  return count_devices(&devices) == 0 && devices > 0 ? "" : "the CUDA driver sees no device";
}

std::vector<std::filesystem::path> cuda_plugin_candidates() {
  std::vector<std::filesystem::path> files;
  if (const char* file = std::getenv("RINGWRIGHT_CUDA_PLUGIN"); file != nullptr && *file != '\0') {
    files.emplace_back(file);
  }
  const std::filesystem::path folder = host::program_folder();
  for (const char* place : {"plugins", "../plugins", "../lib/ringwright"}) {
    files.push_back((folder / place / kPluginFile).lexically_normal());
  }
  return files;
}

CudaPlugin load_cuda_plugin(const std::filesystem::path& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return {nullptr, fmt::format("the CUDA plug-in does not load: {}", loader_message())};
  }
  using GetFunctions = const CudaFunctions* (*)();
  const auto get_functions = reinterpret_cast<GetFunctions>(dlsym(library, kCudaFunctionsSymbol));
  if (get_functions == nullptr) {
    return {nullptr, fmt::format("{} is no CUDA plug-in of Ringwright: {}", file.string(), loader_message())};
  }
  const CudaFunctions* functions = get_functions();
  if (functions->version != kCudaFunctionsVersion) {
    return {nullptr,
            fmt::format("the CUDA plug-in {} has version {}, this worker needs {}", file.string(), functions->version, kCudaFunctionsVersion)};
  }
  return {functions, ""};
}

const CudaPlugin& cuda_plugin() {
  static const CudaPlugin plugin = find_plugin();
  return plugin;
}

const CudaFunctions& require_cuda() {
  const CudaPlugin& plugin = cuda_plugin();
  if (plugin.functions == nullptr) {
    throw Error({.code = "RW-CUDA-001",
                 .what = "CUDA is not usable: " + plugin.reason,
                 .where = "CUDA plug-in",
                 .expected = "a GPU with its driver, and the plug-in that bootstrap builds where a CUDA toolkit is",
                 .action = "run on the CPU, or install what is missing and call ./bootstrap build again",
                 .exit_code = ExitCode::refused});
  }
  return *plugin.functions;
}

}  // namespace ringwright::worker
