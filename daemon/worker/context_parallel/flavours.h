// `ringwright.cp.flavour`: how a training run spreads its batches over the CP group, by name.
#pragma once

#include <string>

#include "daemon/worker/context_parallel/sharder.h"

namespace ringwright::worker {

struct SharderOptions {
  BatchOptions batch = {};
  int64_t pad_multiple = 1;               // contiguous, deepseek_v4
  int64_t chunk = layout::kChunkDefault;  // balanced: tokens that stay together
  layout::Mask mask = {};                 // balanced: window, kind or prefix tree; the documents come from the batch
};

// flavour: "none" or one of cp_flavours(); at one rank each is none. Each takes rows of any length, packed (add_document_lengths) or not; thd,
// glm and balanced turn them into one stream, of which an unpacked row is one document. After shard():
//   token_axis()                     the sequence axis of every shard: 0 where rows became a stream, else 1
//   facts().row_document_offsets     the mask's documents in global positions, one list a row (one for a stream); empty: not packed
//   layout()                         what attention works on
//   the batch's primary              whole under gemma4, whose model cuts it itself: cut_in_model
// Throws Error RW-LAYOUT-003 for another name, RW-SHARD-004 for none over several ranks.
Sharder make_sharder(std::string_view flavour, const ProcessGroup& group, const SharderOptions& options = {});
const std::vector<std::string>& cp_flavours();

}  // namespace ringwright::worker
