// The talk-only worker: sends metric points as fast as the daemon takes them, and trains nothing. For measuring the line to the history.
#pragma once

#include <cstdint>

#include "daemon/worker/runtime/channel.h"

namespace ringwright::worker {

// Points in one message, as many as a training step sends.
inline constexpr uint64_t kTalkPointsPerMessage = 32;

// Sends exactly `points` metric points, unless the daemon asks to stop; returns how many. Everything is acknowledged when it returns, or the
// daemon is gone.
uint64_t talk(Channel& channel, uint64_t points);

}  // namespace ringwright::worker
