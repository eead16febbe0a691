#pragma once

#include <filesystem>

namespace ringwright::files {

// While it lives, other processes that take it for the same file wait: held from the last look at a file until its replacement.
class Lock {
 public:
  // Throws std::system_error when the file cannot be opened.
  explicit Lock(const std::filesystem::path& file);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

}  // namespace ringwright::files
