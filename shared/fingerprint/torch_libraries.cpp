#include "shared/fingerprint/torch_libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <re2/re2.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ringwright::fingerprint {
namespace {

namespace fs = std::filesystem;

constexpr int kCudaMajor = 1000, kCudaMinor = 10;     // 13000 is 13.0
constexpr int kNcclMajor = 10'000, kNcclMinor = 100;  // 22809 is 2.28.9

// The first group of the first line that has the pattern; "" when the file is not there or has none.
std::string first_match(const fs::path& file, const re2::RE2& pattern) {
  std::ifstream stream(file);
  std::string version;
  for (std::string line; std::getline(stream, line);)
    if (re2::RE2::PartialMatch(line, pattern, &version)) return version;
  return "";
}

std::string libtorch_version(const fs::path& folder) {
  static const re2::RE2 kPython("^__version__ *(?::.*)?= *['\"]([^'\"]+)['\"]"), kHeader("#define +TORCH_VERSION +\"([^\"]+)\"");
  std::string version = first_match(folder / "version.py", kPython);
  for (const char* header : {"include/torch/headeronly/version.h", "include/torch/csrc/api/include/torch/version.h"})
    if (version.empty()) version = first_match(folder / header, kHeader);
  return version;
}

// Libraries whose name begins with `stem`, in the folders that a wheel's dependencies are in.
std::vector<fs::path> find_beside(const fs::path& torch_folder, const std::string& stem) {
  std::vector<fs::path> folders = {torch_folder / "lib"}, found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(torch_folder.parent_path() / "nvidia", ignored)) folders.push_back(entry.path() / "lib");
  for (const fs::path& folder : folders)
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().filename().string().starts_with(stem)) found.push_back(entry.path());
  return found;
}

// Calls `int function(int*)` of a library: 0 and the version.
std::optional<int> ask_library(const char* library, const char* function) {
  const std::unique_ptr<void, int (*)(void*)> handle(::dlopen(library, RTLD_LAZY | RTLD_LOCAL),
                                                     [](void* each) { return each ? ::dlclose(each) : 0; });
  if (!handle) return std::nullopt;
  const auto ask = reinterpret_cast<int (*)(int*)>(::dlsym(handle.get(), function));
  int version = 0;
  if (!ask || ask(&version) != 0 || version <= 0) return std::nullopt;
  return version;
}

std::optional<int> ask_beside(const fs::path& torch_folder, const char* stem, const char* function) {
  for (const fs::path& library : find_beside(torch_folder, stem))
    if (const auto version = ask_library(library.c_str(), function)) return version;
  return std::nullopt;
}

std::string cuda_text(int version) { return fmt::format("{}.{}", version / kCudaMajor, version % kCudaMajor / kCudaMinor); }

}  // namespace

nlohmann::json torch_libraries(const fs::path& torch_folder) {
  nlohmann::json libraries = nlohmann::json::object();
  if (torch_folder.empty()) return libraries;
  if (const std::string version = libtorch_version(torch_folder); !version.empty()) libraries["libtorch"] = version;
  if (const auto cuda = ask_beside(torch_folder, "libcudart.so", "cudaRuntimeGetVersion")) libraries["cuda"] = cuda_text(*cuda);
  auto nccl = ask_beside(torch_folder, "libnccl.so", "ncclGetVersion");
  if (!nccl) nccl = ask_library("libnccl.so.2", "ncclGetVersion");
  if (nccl) libraries["nccl"] = fmt::format("{}.{}.{}", *nccl / kNcclMajor, *nccl % kNcclMajor / kNcclMinor, *nccl % kNcclMinor);
  return libraries;
}

std::string driver_cuda_version() {
  const auto version = ask_library("libcuda.so.1", "cuDriverGetVersion");
  return version ? cuda_text(*version) : "";
}

}  // namespace ringwright::fingerprint
