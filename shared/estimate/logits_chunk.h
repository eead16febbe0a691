// How many tokens' logits exist at a time: what the worker's loss and the estimate of its memory both go by.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ringwright::estimate {

// As many as make about 64 MiB of float32 logits, in multiples of 128 and at least that.
inline int64_t logits_chunk_rows(int64_t vocabulary) {
  constexpr int64_t kBytes = int64_t{64} << 20, kRows = 128;
  const int64_t by_memory = kBytes / static_cast<int64_t>(sizeof(float)) / std::max<int64_t>(1, vocabulary);
  return std::max(kRows, by_memory / kRows * kRows);
}

}  // namespace ringwright::estimate
