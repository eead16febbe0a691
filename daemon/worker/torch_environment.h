// Process-wide settings of LibTorch.
#pragma once

#include <cstdint>

namespace ringwright::worker {

// Number of intra-op threads (>= 1) and the seed of the global generator. Call once, before the first tensor operation.
void configure_torch(int threads, uint64_t seed);

}  // namespace ringwright::worker
