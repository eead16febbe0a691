#include "shared/doctor/python_environment.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "shared/base/error.h"
#include "shared/base/files.h"

namespace ringwright::doctor {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHeaderLinesMax = 2000;    // of one METADATA; a description, which may be long, stands behind an empty line
constexpr size_t kJsonBytesMax = 64 << 10;  // of one direct_url.json

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  return text;
}

// Calls visit(key, value) for each "Key: value" before the first empty line, until it says false.
template <class Visit>
void for_each_header(const fs::path& file, const Visit& visit) {
  if (!files::kind_if_not_regular(file).empty()) return;
  std::ifstream stream(file);
  std::string line;
  for (size_t count = 0; count < kHeaderLinesMax && std::getline(stream, line); ++count) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) return;
    const size_t colon = line.find(": ");
    if (colon == std::string::npos || line.front() == ' ' || line.front() == '\t') continue;
    if (!visit(lower(line.substr(0, colon)), line.substr(colon + 2))) return;
  }
}

// direct_url.json (PEP 610): where a package that comes from no index was taken from.
void read_origin(InstalledPackage& package) {
  const fs::path file = package.metadata / "direct_url.json";
  std::error_code failure;
  const auto bytes = fs::file_size(file, failure);
  if (failure || bytes > kJsonBytesMax) return;
  std::ifstream stream(file);
  const nlohmann::json json = nlohmann::json::parse(stream, nullptr, false);
  if (!json.is_object()) return;
  const auto text = [](const nlohmann::json& map, const char* key) {
    const auto found = map.find(key);
    return found != map.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (const auto vcs = json.find("vcs_info"); vcs != json.end() && vcs->is_object()) package.commit = text(*vcs, "commit_id");
  const std::string url = text(json, "url");
  const auto folder = json.find("dir_info");
  const bool editable = folder != json.end() && folder->is_object() && folder->contains("editable") && folder->at("editable") == true;
  constexpr std::string_view kFile = "file://";
  if (editable && url.starts_with(kFile)) package.source = url.substr(kFile.size());
}

std::string machine_of(const fs::path& metadata) {
  std::string machine;
  for_each_header(metadata / "WHEEL", [&](const std::string& key, const std::string& value) {
    for (const char* each : {"x86_64", "aarch64"})
      if (key == "tag" && value.ends_with(each)) machine = each;
    return machine.empty();
  });
  return machine;
}

void add_package(PythonEnvironment& environment, const fs::path& metadata, const fs::path& headers) {
  InstalledPackage package;
  package.metadata = metadata;
  for_each_header(headers, [&](const std::string& key, const std::string& value) {
    if (key == "name") package.name = normalized_name(value);
    if (key == "version") package.version = value;
    return package.name.empty() || package.version.empty();
  });
  if (package.name.empty() || package.version.empty()) {
    environment.damaged.push_back(metadata.filename().string());
    return;
  }
  if (fs::is_directory(metadata)) read_origin(package);
  if (environment.machine.empty()) environment.machine = machine_of(metadata);
  const std::string name = package.name;
  if (!environment.packages.emplace(name, std::move(package)).second) environment.twice.push_back(name);
}

// In the order of their names, so that two runs say the same.
std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

void add_packages(PythonEnvironment& environment, const fs::path& site_packages) {
  for (const fs::path& entry : sorted_entries(site_packages)) {
    const std::string extension = entry.extension().string();
    if (extension == ".dist-info") add_package(environment, entry, entry / "METADATA");
    if (extension == ".egg-info") add_package(environment, entry, fs::is_directory(entry) ? entry / "PKG-INFO" : entry);
  }
}

bool has_metadata(const fs::path& folder) {
  const std::vector<fs::path> entries = sorted_entries(folder);
  return std::any_of(entries.begin(), entries.end(),
                     [](const fs::path& each) { return each.extension() == ".dist-info" || each.extension() == ".egg-info"; });
}

// lib/python3.12/site-packages and its like, each once: lib64 is often a link to lib.
std::vector<fs::path> find_site_packages(const fs::path& folder) {
  if (has_metadata(folder)) return {folder};
  std::set<fs::path> found;
  std::error_code ignored;
  for (const char* lib : {"lib", "lib64", "local/lib"})
    for (const fs::path& python : sorted_entries(folder / lib))
      for (const char* packages : {"site-packages", "dist-packages"})
        if (python.filename().string().starts_with("python3") && fs::is_directory(python / packages, ignored))
          found.insert(fs::canonical(python / packages, ignored));
  return {found.begin(), found.end()};
}

// Of bin/python the environment that it belongs to.
fs::path environment_folder(const fs::path& given) {
  std::error_code ignored;
  if (fs::is_directory(given, ignored)) return given;
  if (given.filename().string().starts_with("python") && given.parent_path().filename() == "bin" && fs::exists(given, ignored))
    return given.parent_path().parent_path();
  throw Error({"RW-DOCTOR-001", "there is no Python environment", given.string(), "a virtual environment, its bin/python, or a folder of packages",
               "name the environment that NeMo RL runs in: --python DIR"});
}

}  // namespace

const InstalledPackage* PythonEnvironment::find(const std::string& name) const {
  const auto found = packages.find(normalized_name(name));
  return found == packages.end() ? nullptr : &found->second;
}

std::string normalized_name(const std::string& name) {
  std::string result;
  for (const char byte : lower(name)) {
    const bool separator = byte == '-' || byte == '_' || byte == '.';
    if (!separator)
      result += byte;
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  return result;
}

PythonEnvironment read_python_environment(const fs::path& folder) {
  PythonEnvironment environment;
  environment.folder = environment_folder(folder);
  const std::vector<fs::path> all = find_site_packages(environment.folder);
  std::set<std::string> pythons;
  for (const fs::path& each : all)
    if (each.parent_path().filename().string().starts_with("python")) pythons.insert(each.parent_path().filename().string());
  if (pythons.size() > 1) {
    std::string names;
    for (const std::string& each : pythons) names += (names.empty() ? "" : ", ") + each;
    throw Error({"RW-DOCTOR-003", "the folder has packages of several Python versions: " + names, environment.folder.string(), "one environment",
                 "name one of them: --python " + all.back().string()});
  }
  for (const fs::path& each : all) add_packages(environment, each);
  if (environment.packages.empty())
    throw Error({"RW-DOCTOR-002", "no package is installed here", environment.folder.string(),
                 "a folder with lib/python3.*/site-packages, or one that holds *.dist-info",
                 "name the environment that NeMo RL runs in: --python DIR"});
  environment.site_packages = all.front();
  return environment;
}

}  // namespace ringwright::doctor
