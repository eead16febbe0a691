// SQLite's file system with a fault at the k-th call that writes (a full disk, or an error of the disk) or that reads.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <string>

namespace ringwright::history::testing {

// The default file system while it lives; one at a time. Only files that are opened meanwhile are concerned.
class FaultyVfs {
 public:
  enum class Kind { disk_full, io_error, read_error };
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  // The k-th call from now on of those that the kind is about fails, k from 1 on; with `lasting` also all that come after it, until heal().
  void fail_at(int64_t k, Kind kind, bool lasting);
  void heal();
  // Calls since fail_at() or heal().
  int64_t calls() const { return calls_; }
  bool has_failed() const { return failed_; }

 private:
  friend struct FaultyFile;
  // The error of this call, or SQLITE_OK.
  int next(bool reads, int io_error);

  sqlite3_vfs* below_;
  sqlite3_vfs vfs_{};
  std::atomic<int64_t> calls_{0}, fail_at_{0};
  std::atomic<bool> lasting_{false}, failed_{false};
  std::atomic<Kind> kind_{Kind::io_error};
};

inline constexpr FaultyVfs::Kind kFaultKinds[] = {FaultyVfs::Kind::disk_full, FaultyVfs::Kind::io_error, FaultyVfs::Kind::read_error};
inline std::string name_of(FaultyVfs::Kind kind) {
  return kind == FaultyVfs::Kind::disk_full ? "DiskFull" : kind == FaultyVfs::Kind::io_error ? "IoError" : "ReadError";
}

}  // namespace ringwright::history::testing
