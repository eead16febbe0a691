// Ring attention: every rank keeps its queries, and the blocks of keys and values go round the CP group (arXiv 2310.01889; head-tail balance:
// arXiv 2311.09431). Only what ranks further on read makes each hop. A run repeats bit for bit.
#pragma once

#include "daemon/worker/context_parallel/attention_method.h"

namespace ringwright::worker {

c10::intrusive_ptr<AttentionMethod> make_ring_method(const AttentionSetup& setup);

}  // namespace ringwright::worker
