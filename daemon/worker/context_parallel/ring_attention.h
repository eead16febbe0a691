// Ring attention: every rank keeps its queries, and the blocks of keys and values go round the CP group (arXiv 2310.01889; head-tail balance:
// arXiv 2311.09431). Differentiable; a run repeats bit for bit.
#pragma once

#include <memory>

#include "daemon/worker/context_parallel/attention.h"
#include "daemon/worker/parallel/process_groups.h"
#include "shared/layout/layout.h"

namespace ringwright::worker {

// Attention over the whole sequence for tokens that `layout` spread over `group` (layout.cp() ranks; with one rank it is plain attention).
// Every rank of the group must call it, and its backward, in the same order. The function may throw Error: RW-CP-001 packed documents
// (refused), RW-CP-002 a layout that it cannot work on, RW-CP-003 layout and group of different sizes, RW-GROUP-004 a lost peer.
AttentionFunction make_ring_attention(std::shared_ptr<const layout::Layout> layout, const ProcessGroup& group);

}  // namespace ringwright::worker
