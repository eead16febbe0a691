// Who waited for whom: the spans of a run as lanes, one a rank, and what they add up to.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shared/history/records.h"

namespace ringwright::gui {

struct TimeRange {
  int64_t begin_ns = 0, end_ns = 0;
  bool operator==(const TimeRange&) const = default;
};

struct Lane {
  int rank = 0;
  std::vector<history::SpanRecord> spans;  // in order of their begin
};

struct Timeline {
  std::vector<Lane> lanes;          // by rank
  std::vector<std::string> phases;  // in the order in which a step has them
  std::map<int64_t, TimeRange> steps;
  TimeRange whole;
};
Timeline make_timeline(const std::deque<history::SpanRecord>& spans);

// Waiting is what a phase's name says: "ring wait", "wait for keys".
bool is_wait(const std::string& phase);

// What lies within a range, spans cut to it.
struct PhaseShare {
  std::string phase;
  int64_t total_ns = 0;  // of all ranks
};
struct Straggler {
  int rank = 0;
  std::string phase;                         // in which it falls behind most
  int64_t its_ns = 0, others_median_ns = 0;  // of that phase, in the range
  int64_t waited_ns = 0;                     // of all other ranks together
  int waiting = 0;                           // how many of them
};
struct RangeStatistics {
  std::vector<PhaseShare> phases;  // the longest first
  int64_t total_ns = 0;
  std::optional<Straggler> straggler;  // the rank that computes longest, where it is at least 5 % above the others' median
};
RangeStatistics statistics(const Timeline& timeline, TimeRange range);
// "7 ranks waited 1.6 s in all for rank 6 (forward 520 ms against 310 ms)"; "" when nobody did.
std::string straggler_sentence(const RangeStatistics& of);
// "520 ms", "1.6 s", "38 us".
std::string duration_text(int64_t nanoseconds);

}  // namespace ringwright::gui
