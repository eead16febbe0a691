// What all golden programs share: where the cases are, counts by kind, the closing line.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace ringwright::golden {

// A case whose outcome differs; the text says how.
struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// $RINGWRIGHT_GOLDENS, else tests/goldens of the source tree, and in it the program's own folder; exits 1 with one line when that is absent.
std::filesystem::path folder(const std::string& name);
nlohmann::json read_json(const std::filesystem::path& file);
// Throws Mismatch with both values when they differ.
void expect_equal(const std::string& what, const nlohmann::json& got, const nlohmann::json& expected);

class Report {
 public:
  // Runs one case; whatever it throws makes it failed.
  void run(const std::string& kind, const std::string& id, const std::function<void()>& check);
  void fail(const std::string& kind, const std::string& id, const std::string& why);
  // Prints the counts of each kind and "N passed, N failed". The exit status: 0 only when something passed and nothing failed.
  int finish() const;

 private:
  struct Count {
    int passed = 0, failed = 0;
  };
  std::map<std::string, Count> counts_;
};

}  // namespace ringwright::golden
