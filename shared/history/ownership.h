// Who writes a history file, and whether the file that is open still lies at its path.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "shared/base/error.h"

namespace ringwright::history {

// Of an open history that has gone from its path.
inline constexpr const char* kFileMoved = "RW-STORE-014";    // it can be put back
inline constexpr const char* kFileDeleted = "RW-STORE-015";  // nothing has its name any more

// Whether trying again cannot help: what failed so (damage, a deleted file) stays so until somebody acts.
bool is_permanent(const ErrorParts& failure);

// Holds the database file itself for its one writer. The lock beside it (WriterLock) names the owner but can be deleted; this one goes with the data.
// To be made before SQLite opens the file and to be destroyed after it has closed it: closing any descriptor gives up SQLite's own locks.
class FileGuard {
 public:
  // Creates an absent file. Throws Error RW-STORE-003 when another process writes it. A file that cannot be opened is left to SQLite to tell.
  explicit FileGuard(const std::filesystem::path& file);
  ~FileGuard();
  FileGuard(const FileGuard&) = delete;
  FileGuard& operator=(const FileGuard&) = delete;

  // What is wrong when the path leads to another file than the open one: then nobody would find what is written.
  std::optional<ErrorParts> displaced() const;

 private:
  std::filesystem::path file_;
  int descriptor_;
};

// Takes the lock, also when somebody who only looks has it for a moment. False: another process keeps it.
bool lock_exclusively(int descriptor);

// The process that holds the lock beside the history file; none when nobody does or it cannot be told.
std::optional<pid_t> writer_process(const std::filesystem::path& file);
// Whether there was a writer and is none now: unfinished runs in it have nobody who looks after them.
bool is_abandoned(const std::filesystem::path& file);

}  // namespace ringwright::history
