#include "daemon/worker/torch_environment.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Logging.h>

namespace ringwright::worker {

namespace {

// c10d logs each of its errors with a stack of addresses, and throws it as well; what it throws is what a rank's log shows.
constexpr int kFatalOnly = 3;

}  // namespace

void configure_torch(int threads, uint64_t seed) {
  FLAGS_caffe2_log_level = kFatalOnly;
  at::set_num_threads(threads);
  at::set_num_interop_threads(1);
  at::manual_seed(static_cast<int64_t>(seed));
}

}  // namespace ringwright::worker
