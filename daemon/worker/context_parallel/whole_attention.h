// Attention of one rank over its own tokens, with nothing exchanged: what stands behind the seam at cp = 1, and behind layers that are not sharded.
#pragma once

#include "daemon/worker/context_parallel/attention_method.h"

namespace ringwright::worker {

// The tokens stand in global order.
c10::intrusive_ptr<AttentionMethod> make_whole_method();

}  // namespace ringwright::worker
