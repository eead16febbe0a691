// Strategies that cut each row of the batch by a closed form: none, round_robin, contiguous, and gemma4's contiguous cut of everything but the
// primary stream (context-parallel contract, section 5).
#pragma once

#include "daemon/worker/context_parallel/shard_strategy.h"

namespace ringwright::worker {

// Leaves the batch alone.
StrategyPointer make_identity_strategy();
// Head-tail chunks. Options: extra_sequence_keys are required keys, padded with 0.
StrategyPointer make_round_robin_strategy(int cp, const BatchOptions& options);
// Equal windows; pad_multiple: each window is a multiple of it (at least 2).
StrategyPointer make_contiguous_strategy(int cp, int64_t pad_multiple, const BatchOptions& options);
// Any layout with a closed form that cuts rows.
StrategyPointer make_row_strategy(std::shared_ptr<const layout::Layout> layout, const BatchRules& rules, const BatchOptions& options);
// Contiguous, with _packed_seq_ids (0 on padding). The model cuts its own input_ids or inputs_embeds, see cut_in_model.
StrategyPointer make_gemma4_strategy(int cp, BatchOptions options);

// A slice that a model makes of its own primary stream.
struct InModelCut {
  at::Tensor local;
  at::Tensor global_indices;  // int64
  int64_t padded_length = 0;
};

// Pads `tensor` along `axis` to the layout's divisor with `pad_value` and cuts this rank's part; at cp = 1 the tensor itself. The gradient goes to
// the owned positions that are not padding.
InModelCut cut_in_model(const at::Tensor& tensor, int64_t axis, double pad_value, const layout::Layout& layout, int rank);

}  // namespace ringwright::worker
