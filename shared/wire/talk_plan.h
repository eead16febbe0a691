// What a talk-only worker sends: a recorded run, or a made-up one of any size. It trains nothing.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace ringwright::wire {

struct TalkPlan {
  uint64_t points = 0;            // made-up metric points that each worker sends; 0 and no `from`: the worker does not talk but train
  uint64_t names = 32;            // metrics in one step
  uint64_t seed = 0;              // of the values
  uint64_t nan_every = 0;         // each metric is NaN or infinite once in so many steps; 0: never
  uint64_t spike_every = 0;       // each metric has one spike in so many steps; 0: none
  uint64_t log_every = 0;         // a log line every so many steps; 0: none
  uint64_t sample_every = 0;      // samples every so many steps, one of each activity; 0: none
  bool spans = false;             // the phases of each step
  std::string from = {};          // a history file, or what `runs export --format jsonl` wrote: sent instead of made-up points
  std::string from_run = "last";  // of a history file: which run
  double steps_per_s = 0;         // 0: as fast as the daemon takes them

  bool talks() const { return points > 0 || !from.empty(); }
};

nlohmann::json to_json(const TalkPlan& plan);
// Fields that are not there keep their defaults. Throws Error RW-TALK-001 (exit code 2): an unknown field, a wrong type, no metric in a step, a pace
// that is no number from 0 on.
TalkPlan talk_plan_from_json(const nlohmann::json& json);

}  // namespace ringwright::wire
