// Attention with an exchange of heads: before it, each rank gives away the other ranks' heads of its tokens and gets its own heads of all their
// tokens, which it puts into global order (Ulysses, arXiv 2309.14509); after it, the outputs go back. Key/value heads are never expanded: where
// there are fewer than ranks, neighbours get the same one. A run repeats bit for bit.
#pragma once

#include "daemon/worker/context_parallel/attention_method.h"

namespace ringwright::worker {

// Over the whole group: each rank attends over the whole sequence with its share of the heads.
c10::intrusive_ptr<AttentionMethod> make_all_to_all_method(const AttentionSetup& setup);

// On a grid: runs of neighbouring ranks exchange heads, and a ring goes through those who then have the same heads (arXiv 2405.07719).
c10::intrusive_ptr<AttentionMethod> make_all_to_all_ring_method(const AttentionSetup& setup);

}  // namespace ringwright::worker
