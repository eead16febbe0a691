#include "shared/history/fingerprint.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "shared/base/error.h"
#include "shared/base/files.h"

namespace ringwright::history {
namespace {

constexpr size_t kReadBytes = 1 << 20;
// Processor features that CPU kernels are chosen by, x86 and Arm.
constexpr const char* kDecidingFlags[] = {"avx",         "avx2",     "fma",      "f16c",  "avx512f", "avx512bw", "avx512vl", "avx512_vnni",
                                          "avx512_bf16", "amx_bf16", "amx_tile", "asimd", "sve",     "sve2",     "bf16",     "i8mm"};
constexpr const char* kHashedExtensions[] = {".safetensors", ".json", ".model", ".txt", ".jinja"};

std::string hexadecimal(XXH64_hash_t hash) { return fmt::format("{:016x}", hash); }

// The value of the first line "key : value" in a file of /proc.
std::string proc_value(const char* file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const size_t first = line.find_first_not_of(" \t", colon + 1);
    return first == std::string::npos ? "" : line.substr(first);
  }
  return "";
}

nlohmann::json processor() {
  std::istringstream all(proc_value("/proc/cpuinfo", "flags") + " " + proc_value("/proc/cpuinfo", "Features"));
  std::set<std::string> present;
  for (std::string flag; all >> flag;) present.insert(flag);
  nlohmann::json flags = nlohmann::json::array();
  for (const char* flag : kDecidingFlags)
    if (present.contains(flag)) flags.push_back(flag);
  return {{"model", proc_value("/proc/cpuinfo", "model name")}, {"cores", std::thread::hardware_concurrency()}, {"flags", flags}};
}

nlohmann::json libraries() {
  int major = 0, minor = 0, patch = 0;
  ::zmq_version(&major, &minor, &patch);
  return {{"sqlite", sqlite3_libversion()},
          {"zmq", fmt::format("{}.{}.{}", major, minor, patch)},
          {"yaml-cpp", RINGWRIGHT_YAML_CPP_VERSION},
          {"xxhash", fmt::format("{}.{}.{}", XXH_versionNumber() / 10000, XXH_versionNumber() / 100 % 100, XXH_versionNumber() % 100)},
          {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)}};
}

// {bytes, xxh3}, or {error}.
nlohmann::json describe_file(const std::filesystem::path& file) {
  try {
    const std::string hash = xxh3_of_file(file);
    return {{"bytes", std::filesystem::file_size(file)}, {"xxh3", hash}};
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

nlohmann::json describe_folder(const std::filesystem::path& folder) {
  nlohmann::json files = nlohmann::json::object();
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string extension = entry.path().extension().string();
    const bool hashed = std::find(std::begin(kHashedExtensions), std::end(kHashedExtensions), extension) != std::end(kHashedExtensions);
    std::error_code ignored;
    if (hashed && entry.is_regular_file(ignored)) files[entry.path().filename().string()] = describe_file(entry.path());
  }
  if (failure) return {{"error", failure.message()}};
  return {{"files", files}};
}

}  // namespace

nlohmann::json node_fingerprint() {
  utsname system{};
  ::uname(&system);
  const auto pages = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)), page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return {{"node", system.nodename},
          {"kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          {"cpu", processor()},
          {"memory_bytes", pages * page_bytes},
          {"ringwright", RINGWRIGHT_VERSION},
          {"libraries", libraries()}};
}

std::string xxh3_of_text(std::string_view text) { return hexadecimal(XXH3_64bits(text.data(), text.size())); }

std::string xxh3_of_file(const std::filesystem::path& file) {
  if (const std::string kind = files::kind_if_not_regular(file); !kind.empty())
    throw Error({"RW-STORE-008", "this is " + kind + ", not a file", file.string(), "a file that you may read", ""});
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"), &std::fclose);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), &XXH3_freeState);
  const auto unreadable = [&] {
    return Error({"RW-STORE-008", "the file cannot be read: " + std::string(std::strerror(errno)), file.string(), "a file that you may read", ""});
  };
  if (!stream) throw unreadable();
  XXH3_64bits_reset(state.get());
  std::vector<char> buffer(kReadBytes);
  while (const size_t bytes = std::fread(buffer.data(), 1, buffer.size(), stream.get())) XXH3_64bits_update(state.get(), buffer.data(), bytes);
  if (std::ferror(stream.get())) throw unreadable();
  return hexadecimal(XXH3_64bits_digest(state.get()));
}

nlohmann::json input_fingerprint(std::string_view recipe_text, const nlohmann::json& paths) {
  nlohmann::json inputs = {{"recipe", {{"xxh3", xxh3_of_text(recipe_text)}}}};
  if (!paths.is_object()) return inputs;
  for (const auto& [name, value] : paths.items()) {
    if (!value.is_string()) continue;
    const std::filesystem::path path = value.get<std::string>();
    std::error_code ignored;
    nlohmann::json entry = std::filesystem::is_directory(path, ignored) ? describe_folder(path) : describe_file(path);
    entry["path"] = path.string();
    inputs[name] = std::move(entry);
  }
  return inputs;
}

}  // namespace ringwright::history
