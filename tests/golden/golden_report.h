// What every golden program prints: a line per failure, the number of cases of each kind, and "N passed, N failed" last.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

namespace ringwright::golden {

// $RINGWRIGHT_GOLDENS, else the copy in the source tree.
inline std::filesystem::path goldens_directory() {
  const char* own = std::getenv("RINGWRIGHT_GOLDENS");
  return own && *own ? std::filesystem::path(own) : std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / "tests" / "goldens";
}

class Report {
 public:
  // One case of a kind; `note` is printed when it failed.
  void check(const std::string& kind, bool passed, const std::string& name, const std::string& note = "") {
    ++(passed ? counts_[kind].passed : counts_[kind].failed);
    if (!passed) std::printf("FAIL %s: %s%s%s\n", kind.c_str(), name.c_str(), note.empty() ? "" : ": ", note.c_str());
  }
  // Prints the counts; returns the exit status: 0 only when something ran and nothing failed.
  int finish() const {
    int64_t passed = 0, failed = 0;
    for (const auto& [kind, count] : counts_) {
      std::printf("%-32s %lld passed, %lld failed\n", kind.c_str(), static_cast<long long>(count.passed), static_cast<long long>(count.failed));
      passed += count.passed, failed += count.failed;
    }
    std::printf("%lld passed, %lld failed\n", static_cast<long long>(passed), static_cast<long long>(failed));
    return failed == 0 && passed > 0 ? 0 : 1;
  }

 private:
  struct Count {
    int64_t passed = 0, failed = 0;
  };
  std::map<std::string, Count> counts_;
};

}  // namespace ringwright::golden
