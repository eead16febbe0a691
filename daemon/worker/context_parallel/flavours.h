// `ringwright.cp.flavour`: how a training run spreads its batches over the CP group, by name (shared/layout/names.h).
#pragma once

#include <optional>
#include <string_view>

#include "daemon/worker/context_parallel/resolution.h"

namespace ringwright::worker {

struct SharderOptions {
  BatchOptions batch = {};
  int64_t pad_multiple = 1;           // contiguous, deepseek_v4: the model's
  std::optional<int64_t> chunk = {};  // balanced: tokens that stay together; none: layout::default_chunk of each stream
  layout::Mask mask = {};             // balanced: window, kind or prefix tree; the documents come from the batch
};

// Each takes rows of any length, packed (add_document_lengths) or not; thd, glm and balanced turn them into one stream, of which an unpacked row is
// one document. After Sharder::shard():
//   token_axis()                     the sequence axis of every shard: 0 where rows became a stream, else 1
//   facts().row_document_offsets     the mask's documents in global positions, one list a row (one for a stream); empty: not packed
//   layout()                         what attention works on
//   the batch's primary              whole under gemma4, whose model cuts it itself: cut_in_model
// flavour: "none" or one of layout::flavour_names(); at one rank each is none. Throws Error RW-LAYOUT-003 for another name, RW-SHARD-004 for none
// over several ranks.
StrategyPointer make_flavour_strategy(std::string_view flavour, int cp, const SharderOptions& options = {});

// The same as a model that resolution asks (resolution.h): round_robin is what it gives a model without a way of its own, thd its rule for packed
// streams; every other flavour, and rows under thd, are the model's own hook. Errors: those of make_flavour_strategy.
ShardedModel sharded_model(std::string_view flavour, int cp, const SharderOptions& options = {});

}  // namespace ringwright::worker
