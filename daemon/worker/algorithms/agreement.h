// How all ranks come to act on the daemon's wishes between the same two steps.
#pragma once

#include "daemon/worker/parallel/process_groups.h"
#include "daemon/worker/runtime/channel.h"

namespace ringwright::worker {

// A collective over `group`. Rank 0 of the group decides: what it returns everywhere is rank 0's wishes, bit for bit; only a stop counts whichever
// rank brings it. Each rank hands in its own, with the same number of settings. Throws Error RW-GROUP-004 when a rank is gone.
Wishes agree(const Wishes& own, const ProcessGroup& group);

}  // namespace ringwright::worker
