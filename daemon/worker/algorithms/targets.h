// Next-token targets of rows and of packed rows, before any sharding.
#pragma once

#include <cstdint>
#include <vector>

namespace ringwright::worker {

// What stands in a target array where there is no target: any negative id would do, this one is the custom.
inline constexpr int64_t kIgnoredTarget = -100;

struct NextTokenTargets {
  std::vector<int64_t> targets;  // the next token of the same document; kIgnoredTarget at each document's last token
  std::vector<float> mask;       // 1 where there is a target
  int64_t count = 0;             // of targets: what a loss over all of them is divided by, summed over the global batch
};

// `document_offsets`: cumulative lengths [0, ..., ids.size()]; empty: one document. Throws Error RW-LOSS-002 when they do not fit.
NextTokenTargets next_token_targets(const std::vector<int64_t>& ids, const std::vector<int64_t>& document_offsets = {});

}  // namespace ringwright::worker
