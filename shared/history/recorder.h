// Turns a batch of events into rows. Used by the writer's thread only, inside a transaction that the writer opens and commits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shared/history/database.h"
#include "shared/history/limits.h"
#include "shared/history/point_store.h"
#include "shared/history/sequence_ranges.h"
#include "shared/wire/message.h"

namespace ringwright::history {

class Recorder {
 public:
  Recorder(Database& database, Limits limits);

  // Stores the events and fills in their node_sequence; one that is stored already keeps 0.
  void store(std::vector<wire::Event>& events);
  // After a roll-back: what was remembered may not be in the file.
  void forget();
  void forget_run(const std::string& run);
  uint64_t node_sequence() const { return node_sequence_; }

 private:
  struct Bounded;
  struct RankSequences {
    SequenceRanges ranges;
    bool changed = false;
  };
  struct RunCache {
    int64_t key = 0, segment = 1;
    std::optional<int64_t> segment_first_step;
    bool first_step_changed = false;
    int64_t last_step = -1;
    int64_t replaced = 0, duplicates = 0;
    bool changed = false;
    std::map<int32_t, RankSequences> received;
    std::map<const Bounded*, int64_t> counts;
  };
  using Handler = void (Recorder::*)(const wire::Event&, RunCache&);
  struct KindHandler;
  static const Bounded kLogs, kSpans, kSamples, kEvents;
  static const KindHandler kHandlers[];

  void load();
  void store_one(wire::Event& event);
  void store_metric(const wire::Event& event, RunCache& run);
  void store_log(const wire::Event& event, RunCache& run);
  void store_event(const wire::Event& event, RunCache& run);
  void store_span(const wire::Event& event, RunCache& run);
  void store_sample(const wire::Event& event, RunCache& run);
  void store_heartbeat(const wire::Event& event, RunCache& run);
  void store_raw(const wire::Event& event, RunCache& run, const std::string& name);
  void store_alert(const wire::Event& event, RunCache& run);
  void open_segment(const wire::Event& event, RunCache& run);
  void append_journal(const wire::Event& event);
  void write_points();
  void write_run(RunCache& run);
  void prune_journal();
  void count_row(RunCache& run, const Bounded& bounded);

  RunCache* find_run(const std::string& id);
  RankSequences& sequences(RunCache& run, int32_t rank);
  std::optional<int64_t> first_step(const RunCache& run);

  Database& database_;
  Limits limits_;
  bool loaded_ = false;
  uint64_t node_sequence_ = 0;
  int64_t journal_first_ = 1, journal_bytes_ = 0;
  std::unordered_map<std::string, RunCache> runs_;
  PointStore points_;
};

}  // namespace ringwright::history
