#include "daemon/worker/algorithms/targets.h"

#include <algorithm>

#include "daemon/worker/algorithms/sft_batch.h"
#include "shared/base/error.h"

namespace ringwright::worker {

NextTokenTargets next_token_targets(const std::vector<int64_t>& ids, const std::vector<int64_t>& document_offsets) {
  const auto length = static_cast<int64_t>(ids.size());
  const std::vector<int64_t> offsets = document_offsets.empty() ? std::vector<int64_t>{0, length} : document_offsets;
  if (offsets.front() != 0 || offsets.back() != length || !std::is_sorted(offsets.begin(), offsets.end()))
    throw Error({"RW-LOSS-002", "the document offsets do not fit the row", "packed row of " + std::to_string(length) + " tokens",
                 "rising offsets from 0 to its length", "", ExitCode::run_failed});
  NextTokenTargets result{std::vector<int64_t>(ids.size(), kIgnoredTarget), std::vector<float>(ids.size(), 0.0f), 0};
  for (size_t document = 0; document + 1 < offsets.size(); ++document)
    for (int64_t t = offsets[document]; t + 1 < offsets[document + 1]; ++t) {
      result.targets[static_cast<size_t>(t)] = ids[static_cast<size_t>(t) + 1];
      result.mask[static_cast<size_t>(t)] = 1;
      ++result.count;
    }
  return result;
}

}  // namespace ringwright::worker
