// For golden programs whose cases are functions that throw when the outcome differs.
#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "shared/base/error.h"
#include "tests/golden/golden_report.h"

namespace ringwright::golden {

// A case whose outcome differs; the text says how.
struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws Mismatch with both values when they differ.
inline void expect_equal(const std::string& what, const nlohmann::json& got, const nlohmann::json& expected) {
  if (got == expected) return;
  const auto text = [](const nlohmann::json& json) { return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 400); };
  throw Mismatch(what + ": got " + text(got) + ", expected " + text(expected));
}

// Runs one case; whatever it throws makes it failed.
template <typename Check>
void run_case(Report& report, const std::string& kind, const std::string& id, const Check& check) {
  try {
    check();
    report.check(kind, true, id);
  } catch (const Error& error) {
    report.check(kind, false, id, describe(error.parts()));
  } catch (const std::exception& error) {
    report.check(kind, false, id, error.what());
  }
}

inline nlohmann::json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return nlohmann::json::parse(stream);
}

// What is in the folder `name` of the goldens, sorted; exits 1 with one line when the folder is absent.
inline std::vector<std::filesystem::path> golden_entries(const std::string& name) {
  const std::filesystem::path folder = goldens_directory() / name;
  if (!std::filesystem::is_directory(folder)) {
    std::printf("FAIL no folder %s: set RINGWRIGHT_GOLDENS to a folder that holds %s/\n0 passed, 1 failed\n", folder.c_str(), name.c_str());
    std::exit(1);
  }
  std::vector<std::filesystem::path> entries;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace ringwright::golden
