// Care of a history file: old runs are removed, their room is given back, and what is stored is checked against itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/history/records.h"
#include "shared/history/store.h"

namespace ringwright::history {

// Which runs may go. A run goes when it is over, has no tag `keep`, and all that is asked for holds; nothing asked for: none.
struct Retention {
  std::optional<double> older_than_days;  // ended so long ago
  std::optional<size_t> keep_newest;      // it is not among so many newest ones
  bool archived = false;                  // it is archived

  bool empty() const { return !older_than_days && !keep_newest && !archived; }
};
inline constexpr const char* kKeepTag = "keep";
// Newest first.
std::vector<RunRecord> runs_to_remove(const Reader& reader, const Retention& retention, int64_t now_unix_ns);

struct VacuumReport {
  uint64_t bytes_before = 0, bytes_after = 0;
  bool beside_daemon = false;  // a daemon writes: free pages were given back, the rest was left in its place
};
// Gives back the room of what was removed. Without a daemon the whole file is written anew, which needs as much room again for as long; with one, a
// few pages at a time, so that it is never kept waiting. Throws Error as Writer does.
VacuumReport vacuum(const std::filesystem::path& file);

struct CheckReport {
  std::vector<std::string> problems;
  int64_t runs = 0, series = 0, points = 0, blocks = 0;  // what was looked at
};
// SQLite's own check; rows whose run is gone; sums and pyramids against the points that they are of. Nothing is changed. `quick` leaves out what
// reads every point. `progress` hears of each series. Throws Error for a file that cannot be read.
CheckReport check(const std::filesystem::path& file, bool quick, const std::function<void(int64_t done, int64_t all)>& progress = nullptr);

}  // namespace ringwright::history
