// What a made-up step is spent on and what its models say, so that every view that reads spans and samples has something to show.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace ringwright::worker {

struct MadeUpSpan {
  std::string_view phase;
  int64_t begin_ns = 0, end_ns = 0;
};

// The phases of a step one after another, a millisecond in all: rollout, teacher's forward, alignment, forward, backward. In each step every fourth
// rank is slower than the others.
std::vector<MadeUpSpan> made_up_spans(int rank, int64_t step, int64_t begin_ns);
// One sample of each activity (shared/history/activity.h), as `Channel::sample` takes it.
std::vector<nlohmann::json> made_up_samples(int rank, int64_t step);

}  // namespace ringwright::worker
