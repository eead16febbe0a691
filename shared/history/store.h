// The history file: one SQLite database (WAL) per user. One process writes (the daemon), any number read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/error.h"
#include "shared/history/limits.h"
#include "shared/history/records.h"
#include "shared/history/reduction.h"
#include "shared/wire/message.h"

namespace ringwright::history {

// The daemon's side. All writing is done by one thread, in batches; `committed` is called on that thread after each commit with the
// batch's events in commit order, node_sequence filled in. An event that was stored before (the same run, rank and worker_sequence) comes with
// node_sequence 0: it is to be acknowledged again, not published again.
class Writer {
 public:
  struct Hooks {
    std::function<void(std::vector<wire::Event>&)> committed;  // without events when only the trouble that `failed` told of is over
    std::function<void(const ErrorParts&)> failed;  // a commit failed (disk full, locked, ...): it is tried again every second, nothing is dropped
    std::function<void(const std::string& run, RunState)> state_settled = nullptr;  // a set_state is recorded, or given up as there is no such run
  };
  // Creates or migrates the file. Throws Error (exit code 6): RW-STORE-001 not readable or no database, RW-STORE-002 schema newer than this
  // program, RW-STORE-003 another daemon writes it, RW-STORE-004 disk full, RW-STORE-005 locked, RW-STORE-006 damaged, RW-STORE-007 anything else.
  Writer(const std::filesystem::path& file, Hooks hooks, Limits limits = {});
  ~Writer();  // commits what is queued

  // Synchronous, durable when they return. They throw Error: RW-STORE-009 for a run that is there already (create_run) or isn't there, or
  // what a failed commit reports; then create_run and mark_unfinished_as_lost have changed nothing, while the other two are tried again
  // every second like events, so that a state is not lost with a full disk. Not to be called from a hook.
  void create_run(const RunRecord& run);
  void set_fingerprint(const std::string& run, const nlohmann::json& fingerprint);
  // `time_unix_ns`: the wall clock's time of it; 0: now. The run's length is measured beside it, by the steady clock.
  void set_state(const std::string& run, RunState state, const std::string& reason, int failed_rank = -1, int64_t time_unix_ns = 0);
  // At start: every run that is not in a final state becomes `lost`, with its last sign of life as its end. Returns their ids.
  std::vector<std::string> mark_unfinished_as_lost(const std::string& reason);

  // Queues an event; waits while the queue is full (65,536 events, or a million metric points). Same (run, rank, worker_sequence) twice is stored
  // once.
  void append(wire::Event event);
  // Blocks until everything appended before is committed.
  void flush();
  uint64_t node_sequence() const;     // last committed
  uint64_t queue_full_count() const;  // how often append had to wait

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The reading side: read-only connection, usable while a daemon writes; one thread at a time. A file of an older schema is refused (RW-STORE-002),
// a newer one is read where it says that this program can (notice()); a missing one, or one that is no history, is RW-STORE-001. Everything below
// takes a run's full id, except run().
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file);
  ~Reader();

  // Not empty: the file is newer than this program, which reads what it knows. Nothing can be written then.
  std::string notice() const;

  enum class Parts { all, head };                                                    // head: without recipe and fingerprint, which take the time
  std::vector<RunRecord> runs(size_t limit = 1000, Parts parts = Parts::all) const;  // newest first
  // Those that a query finds (shared/query/query.h), in its order; `limit`: where it has none itself. Throws Error RW-QUERY-001 ... (exit code 2).
  std::vector<RunRecord> find(std::string_view query, size_t limit = 1000, Parts parts = Parts::head) const;
  // By full id; "last", the newest; the unique beginning of an id; or name (newest wins). Throws RW-STORE-011 when none matches (exit code 2).
  RunRecord run(const std::string& id_or_name) const;
  std::vector<std::string> metric_names(const std::string& run) const;
  // In the order of their names.
  std::vector<MetricSummary> metric_summaries(const std::string& run) const;
  // Points in step order, one for each step: a segment hides what the earlier ones have from its first step on. rank -1: the points of the run as
  // a whole (sent by rank 0, else by the daemon). From `after_step` (exclusive) on. segment 0: the run's curve; otherwise all of that segment.
  std::vector<MetricPoint> metric(const std::string& run, const std::string& name, int rank = -1, int64_t after_step = -1, int64_t segment = 0) const;
  std::optional<MetricPoint> last_metric(const std::string& run, const std::string& name) const;
  // The same curve in at most `pixels` columns of equal width over the steps of the range, both ends included. Reads at most four values for each
  // pixel (of 256 at least), however many points there are; extremes and the first non-finite point stand in the column of their step.
  Reduction reduce(const std::string& run, const std::string& name, int rank, StepRange range, size_t pixels) const;
  // First and last step of the curve; nothing where it has no points.
  std::optional<StepRange> metric_range(const std::string& run, const std::string& name, int rank = -1) const;
  // In node_sequence order, after `after`; the last `limit` of them when `tail`.
  std::vector<LogLine> logs(const std::string& run, uint64_t after, size_t limit, bool tail) const;
  std::vector<SpanRecord> spans(const std::string& run, int64_t from_step, int64_t to_step) const;
  std::vector<CheckpointRecord> checkpoints(const std::string& run) const;
  std::vector<RankStatus> rank_statuses(const std::string& run) const;
  std::vector<SampleRecord> samples(const std::string& run, size_t limit) const;  // newest first
  // The events of kind `event` and of unknown kinds, newest first.
  std::vector<wire::Event> run_events(const std::string& run, size_t limit) const;
  // Those of them that have one of these names, however many others there are.
  std::vector<wire::Event> run_events(const std::string& run, const std::vector<std::string>& names, size_t limit) const;
  RunCounters counters(const std::string& run) const;
  std::vector<SegmentRecord> segments(const std::string& run) const;
  std::vector<NoteRecord> notes(const std::string& run) const;    // oldest first
  std::vector<AlertRecord> alerts(const std::string& run) const;  // newest first; run "": the node's
  // When something of the run was last recorded; its beginning when nothing was.
  int64_t last_sign_of_life_unix_ns(const std::string& run) const;
  std::vector<int> metric_ranks(const std::string& run, const std::string& name) const;
  // Committed events by node_sequence in [from, to], at most `limit`; those already pruned from the journal are absent.
  std::vector<wire::Event> events(uint64_t from, uint64_t to, size_t limit) const;
  uint64_t oldest_journal_sequence() const;
  uint64_t node_sequence() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringwright::history
