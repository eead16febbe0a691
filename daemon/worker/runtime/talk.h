// The talk-only worker: sends a made-up or a recorded run, and trains nothing. For tests, for data to look at in the console, and for measuring the
// line to the history.
#pragma once

#include <cstdint>

#include "daemon/worker/runtime/channel.h"
#include "shared/wire/talk_plan.h"

namespace ringwright::worker {

// Metric points in one message at most; a step that has more is sent in several.
inline constexpr uint64_t kTalkPointsPerMessageMax = 1024;

// Sends exactly plan.points metric points, or the recorded run, unless the daemon asks to stop; a pause is kept. Returns how many points. Everything
// is acknowledged when it returns, or the daemon is gone. Throws Error: those of read_recording().
uint64_t talk(Channel& channel, const wire::TalkPlan& plan, int rank);

}  // namespace ringwright::worker
