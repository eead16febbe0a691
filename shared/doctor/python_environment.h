// A Python environment as its files describe it. No Python runs: what is installed is read from the packages' metadata.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ringwright::doctor {

struct InstalledPackage {
  std::string name;                // normalised: small letters, one hyphen for each run of - _ .
  std::string version;             // as the metadata has it
  std::string commit;              // where it came from a repository; "" otherwise
  std::filesystem::path source;    // the folder that it is used from, where it is an editable installation
  std::filesystem::path metadata;  // its .dist-info or .egg-info
};

struct PythonEnvironment {
  std::filesystem::path folder;         // as it was named
  std::filesystem::path site_packages;  // the first of them
  std::string machine;                  // "x86_64", "aarch64": what its compiled packages are for; "" when it has none
  std::map<std::string, InstalledPackage> packages;
  std::vector<std::string> twice;    // packages with more than one metadata folder: which one Python sees depends on their order
  std::vector<std::string> damaged;  // metadata that names no package or version

  const InstalledPackage* find(const std::string& name) const;
};

std::string normalized_name(const std::string& name);

// `folder`: a virtual environment, its bin/python, or a folder of packages. Throws Error RW-DOCTOR-001 (exit code 2) when there is no such folder,
// RW-DOCTOR-002 when nothing is installed in it, RW-DOCTOR-003 when it has packages of several Python versions.
PythonEnvironment read_python_environment(const std::filesystem::path& folder);

}  // namespace ringwright::doctor
