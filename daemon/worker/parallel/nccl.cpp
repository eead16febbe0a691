#include "daemon/worker/parallel/nccl.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "daemon/worker/kernels/plugin.h"
#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace

void require_own_device(const c10::intrusive_ptr<c10d::Store>& store, const ProcessGroup& group, const std::string& device) {
  const auto key = [](int rank) { return fmt::format("device/{}", rank); };
  store->set(key(group.rank), bytes_of(device));
  std::map<std::string, int> rank_of;
  for (int rank = 0; rank < group.size; ++rank) {
    const std::vector<uint8_t> bytes = store->get(key(rank));
    const std::string theirs(bytes.begin(), bytes.end());
    const int global_rank = group.global_ranks[static_cast<size_t>(rank)];
    const auto [first, is_new] = rank_of.emplace(theirs, global_rank);
    if (is_new) continue;
    throw Error(
        {.code = "RW-GROUP-010",
         .what = fmt::format("ranks {} and {} would both take the GPU {}, and NCCL forms no group over one GPU", first->second, global_rank, theirs),
         .where = "ringwright.cp.transport",
         .expected = "a GPU for each rank",
         .action = "start fewer ranks a node, or set ringwright.cp.transport to auto",
         .exit_code = ExitCode::refused});
  }
}

BackendFactory nccl_backend_factory(const ProcessGroupOptions& options) {
  const CudaFunctions& cuda = require_cuda();
  return [&cuda, timeout = options.connect_timeout](const c10::intrusive_ptr<c10d::Store>& store, ProcessGroup& group) {
    const int global_rank = group.global_ranks[static_cast<size_t>(group.rank)], device = global_rank % std::max(cuda.device_count(), 1);
    const auto own = [&](const char* prefix) { return c10::make_intrusive<c10d::PrefixStore>(prefix, store); };
    require_own_device(own("devices"), group, fmt::format("{}:{}", host_name(), device));
    cuda.set_device(device);
    group.backend = cuda.make_nccl_backend(own("nccl"), group.rank, group.size, timeout);
    group.transport_reason = fmt::format("it was asked for; GPU {}", device);
  };
}

}  // namespace ringwright::worker
