// All-gather attention: every rank collects all keys and values, puts them into global order, and computes its own queries. One collective in place
// of a ring's steps, for the memory of all keys.
#pragma once

#include "daemon/worker/context_parallel/attention_method.h"

namespace ringwright::worker {

c10::intrusive_ptr<AttentionMethod> make_all_gather_method(const AttentionSetup& setup);

}  // namespace ringwright::worker
