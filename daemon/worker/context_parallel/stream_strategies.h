// Strategies that turn rows into one stream and cut that: thd (documents head-tail), glm (contiguous), and the dispatch of chunks that magi and
// balanced share (context-parallel contract, sections 2.1, 2.3, 2.4 and 6).
#pragma once

#include <functional>
#include <optional>

#include "daemon/worker/context_parallel/shard_strategy.h"
#include "daemon/worker/context_parallel/stream.h"
#include "shared/layout/names.h"

namespace ringwright::worker {

// Packed rows only. At cp = 1 rows become a stream and nothing is cut.
StrategyPointer make_thd_strategy(const StreamOptions& options);
// Packed rows only; adds glm_dsa_cp_query_indices. The stream must divide by cp.
StrategyPointer make_glm_strategy(int cp, const StreamOptions& options);

struct DispatchOptions {
  std::string_view label = layout::names::kBalanced;
  BatchOptions batch = {};
  std::optional<int64_t> chunk = {};  // none: layout::default_chunk of the stream
  layout::Mask mask = {};             // documents come from the batch
  bool magi_rules = false;            // what magi refuses is refused: several rows without documents, documents that do not fill the stream
  bool plain_masks = false;           // magi_rules: neither windows nor prefix trees
  bool multimodal = false;            // magi_rules: cp = 1 only
};

// Chunks of the stream, dealt so that the mask's area is even. Rows that are not packed are a document each.
StrategyPointer make_dispatch_strategy(const DispatchOptions& options);

// The facts of a batch of `rows` x `row_length` tokens under a layout that was made for its stream; `rank`: inside the group.
ShardFacts stream_facts(std::shared_ptr<const layout::Layout> layout, int64_t rows, int64_t row_length, int rank);

}  // namespace ringwright::worker
