// For golden programs whose cases are functions that throw when the outcome differs.
#pragma once

#include <algorithm>
#include <fstream>
#include <map>
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

// Every file with this extension below the folder `name` of the goldens, or below the goldens themselves where they have no such folder; sorted.
inline std::vector<std::filesystem::path> golden_files(const std::string& name, const std::string& extension) {
  const std::filesystem::path own = goldens_directory(), below = own / name;
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(own)) {
    std::printf("FAIL no folder %s: RINGWRIGHT_GOLDENS names none\n", own.c_str());
    return files;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::is_directory(below) ? below : own))
    if (entry.is_regular_file() && entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Codes by what a recorded exception stands for (goldens/cp/README.md): a code, or what codes begin with.
struct ErrorCodes {
  std::vector<std::string> bad_argument = {}, missing_key = {}, unsupported = {}, misuse = {};
};

// `call` must throw an Error whose code is of the kind that the recorded class stands for. Throws Mismatch.
template <typename Call>
void expect_error(const nlohmann::json& error, const ErrorCodes& codes, const Call& call) {
  const std::string kind = error.at("class");
  const std::map<std::string, std::vector<std::string>> by_class = {{"ValueError", codes.bad_argument},
                                                                    {"AssertionError", codes.bad_argument},
                                                                    {"KeyError", codes.missing_key},
                                                                    {"NotImplementedError", codes.unsupported},
                                                                    {"TypeError", codes.misuse},
                                                                    {"RuntimeError", {""}},  // any error will do
                                                                    {"IndexError", {""}}};
  const auto wanted = by_class.find(kind);
  if (wanted == by_class.end()) throw Mismatch("an error class that this program does not know: " + kind);
  try {
    call();
  } catch (const Error& thrown) {
    const std::string& code = thrown.parts().code;
    if (std::any_of(wanted->second.begin(), wanted->second.end(), [&](const std::string& start) { return code.starts_with(start); })) return;
    throw Mismatch("refused as " + code + " (" + thrown.parts().what + "), expected the kind of " + kind);
  }
  throw Mismatch("accepted, expected a refusal as " + kind);
}

}  // namespace ringwright::golden
