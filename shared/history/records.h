// The rows of the history, as plain data.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::history {

enum class RunState { queued, starting, running, paused, stopping, finished, failed, stopped, lost };
std::string_view to_string(RunState state);
RunState run_state_from_string(std::string_view text);  // throws Error RW-STORE-010
bool is_final(RunState state);

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
};

struct MetricPoint {
  int64_t step;
  double value;    // NaN and infinities come back as what they were
  int64_t tokens;  // tokens trained on so far, -1 when unknown
  int64_t time_unix_ns;
  int rank;
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
  int64_t segment = 1;           // 1, and one more for each resume
  int64_t metrics_replaced = 0;  // points sent again for the same step with a new sequence number
  int64_t logs_dropped = 0, spans_dropped = 0, samples_dropped = 0, events_dropped = 0;  // oldest ones, removed at the limit
  int64_t duplicates = 0;                                                                // events that came again with the same sequence number
};

}  // namespace ringwright::history
