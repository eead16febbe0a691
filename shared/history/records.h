// The rows of the history, as plain data.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/error.h"

namespace ringwright::history {

enum class RunState { queued, starting, running, paused, stopping, finished, failed, stopped, lost };
std::string_view to_string(RunState state);
RunState run_state_from_string(std::string_view text);  // throws Error RW-STORE-010
bool is_final(RunState state);

inline constexpr const char* kNewestRun = "last";  // where a run is asked for
// "r_" and up to 8 hexadecimal digits: an id, or the beginning of one.
bool reads_like_an_id(std::string_view text);
// A name that would be taken for something else where a run is asked for: no run may have it.
inline bool is_reserved_name(std::string_view name) { return name == kNewestRun || reads_like_an_id(name); }
Error reserved_name(const std::string& name);  // RW-STORE-016 (exit code 2)

struct RunRecord {
  std::string id;  // "r_" + 8 hexadecimal digits
  std::string name;
  std::string algorithm;  // "sft"
  RunState state = RunState::queued;
  std::string reason;  // beside failed, stopped, lost: "forced", "rank 1 was killed by signal 9", ...
  int64_t created_unix_ns = 0, started_unix_ns = 0, ended_unix_ns = 0;  // 0: not yet
  int world_size = 1;
  nlohmann::json mesh;      // {pp, dp_replicate, dp_shard, cp, tp}
  nlohmann::json recipe;    // resolved
  std::string recipe_text;  // the file as it was
  std::string recipe_path;
  std::vector<std::string> overrides;
  nlohmann::json fingerprint;  // node, library versions, xxh3 of data, checkpoint and recipe
  int failed_rank = -1;
  int64_t last_step = -1;
  int color_index = 0;  // position in the series palette, kept with the run
  int64_t segment = 1;  // the newest; each resume opens one
  bool archived = false;
  int64_t duration_ns = -1;   // from running to the end by one clock that never steps back; -1: not over, or unknown
  std::string imported_from;  // the archive or folder; empty: recorded here
  std::vector<std::string> tags;
};

// T33: seconds from start to end by the one clock that never steps where the run has that, else by the wall clock, to now while it runs. Nothing
// before the start, nor where two clocks disagree about which was first.
std::optional<double> elapsed_seconds(const RunRecord& run, int64_t now_unix_ns);

struct MetricPoint {
  int64_t step;
  double value;    // NaN and infinities come back as what they were
  int64_t tokens;  // tokens trained on so far, -1 when unknown
  int64_t time_unix_ns;
  int rank;
};

// All points of a metric as the run's curve has them (rank 0, else the daemon's; of the newest segment that has it).
struct MetricSummary {
  std::string name;
  int rank = 0;
  int64_t segment = 1;
  int64_t finite = 0, nans = 0, positive_infinities = 0, negative_infinities = 0;
  std::optional<double> minimum, maximum, mean;  // of the finite points
  int64_t first_step = 0, last_step = 0;
  double last = 0;  // of any kind
  int64_t last_time_unix_ns = 0;
};

struct SegmentRecord {
  int64_t segment = 1;
  std::optional<int64_t> first_step;  // from here on the segment hides the earlier ones
  int64_t opened_unix_ns = 0;
};

struct NoteRecord {
  int64_t key = 0;
  int64_t time_unix_ns = 0;
  std::string author;
  std::string text;
};

// The same (run, kind, topic) again raises the count and replaces text and detail.
struct AlertRecord {
  std::string kind;   // finished, failed, nan, threshold, stall, straggler, disk, test
  std::string topic;  // a metric's name, a rank, a path; may be empty
  std::string text;
  nlohmann::json detail = nlohmann::json::object();
  int64_t count = 1;
  int64_t first_unix_ns = 0, last_unix_ns = 0;
};

struct LogLine {
  uint64_t node_sequence;
  int64_t time_unix_ns;
  int rank;
  std::string level;
  std::string text;
};

struct SpanRecord {
  int rank;
  int64_t step;
  std::string phase;
  int64_t begin_ns, end_ns;
};

struct CheckpointRecord {
  int64_t step;
  std::string path;
  uint64_t bytes;
  int64_t time_unix_ns;
};

// The last sign of life of a rank.
struct RankStatus {
  int rank;
  int64_t step;
  int64_t time_unix_ns;
  uint64_t resident_bytes, resident_bytes_max;
  double cpu_seconds;
};

struct SampleRecord {
  int64_t step;
  int rank;
  nlohmann::json body;
};

// What a run's bounds and repetitions did to it.
struct RunCounters {
  int64_t segment = 1;
  int64_t metrics_replaced = 0;  // points sent again for the same step with a new sequence number
  int64_t logs_dropped = 0, spans_dropped = 0, samples_dropped = 0, events_dropped = 0;  // oldest ones, removed at the limit
  int64_t duplicates = 0;                                                                // events that came again with the same sequence number
};

}  // namespace ringwright::history
