#include "daemon/worker/torch_environment.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

namespace ringwright::worker {

void configure_torch(int threads, uint64_t seed) {
  at::set_num_threads(threads);
  at::set_num_interop_threads(1);
  at::manual_seed(static_cast<int64_t>(seed));
}

}  // namespace ringwright::worker
