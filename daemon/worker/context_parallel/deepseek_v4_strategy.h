// DeepSeek-V4: contiguous windows, and packed rows that are rebuilt first so that each document starts where compressed attention wants it
// (context-parallel contract, section 2.2).
#pragma once

#include "daemon/worker/context_parallel/shard_strategy.h"

namespace ringwright::worker {

struct DeepseekV4Options {
  BatchOptions batch = {};
  int64_t pad_multiple = 1;  // the model's: layout::deepseek_v4_multiple of its compression ratios
  std::optional<ProcessGroup> equal_rows =
      {};  // packed rows become as long as the longest of this group, for dispatchers that need equal token counts
};

// At cp = 1 nothing is rebuilt.
StrategyPointer make_deepseek_v4_strategy(int cp, const DeepseekV4Options& options);

}  // namespace ringwright::worker
