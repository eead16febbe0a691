#include "daemon/worker/parallel/process_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/parallel/network_interface.h"
#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

// Every axis that the worker's algorithms ask for; "world" is added to them.
constexpr std::array<std::string_view, 3> kGroupAxes = {"cp", "dp", "dp_cp"};

[[noreturn]] void throw_mismatch(const std::string& what, const std::string& expected) {
  throw Error({.code = "RW-GROUP-003",
               .what = what,
               .where = "process groups",
               .expected = expected,
               .action = "start every rank of the run with the same spec.json, with ranks 0 to world_size - 1",
               .exit_code = ExitCode::run_failed});
}

ProcessGroup describe_group(std::vector<int> global_ranks, int global_rank) {
  const auto place = std::find(global_ranks.begin(), global_ranks.end(), global_rank);
  if (place == global_ranks.end()) {
    throw_mismatch(fmt::format("rank {} is no member of its own group [{}]", global_rank, fmt::join(global_ranks, ", ")), "a rank of the mesh");
  }
  ProcessGroup group;
  group.rank = static_cast<int>(place - global_ranks.begin());
  group.size = static_cast<int>(global_ranks.size());
  group.global_ranks = std::move(global_ranks);
  return group;
}

void check_ranks(const mesh::Mesh& mesh, const Rendezvous& rendezvous) {
  if (mesh.size() != rendezvous.world_size) {
    throw_mismatch(fmt::format("the mesh has {} ranks, the rendezvous expects {}", mesh.size(), rendezvous.world_size), "the same number");
  }
  if (rendezvous.rank < 0 || rendezvous.rank >= rendezvous.world_size) {
    throw_mismatch(fmt::format("rank {} in a world of {}", rendezvous.rank, rendezvous.world_size),
                   fmt::format("0 to {}", rendezvous.world_size - 1));
  }
}

c10::intrusive_ptr<c10d::Store> open_store(const Rendezvous& rendezvous, std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = rendezvous.port;
  options.isServer = rendezvous.rank == 0;
  options.numWorkers = static_cast<size_t>(rendezvous.world_size);
  options.waitWorkers = false;
  options.timeout = timeout;
  if (rendezvous.rank == 0) {
    options.masterListenFd = rendezvous.listen_fd;
  }
  return c10::make_intrusive<c10d::TCPStore>(rendezvous.host, options);
}

}  // namespace

BackendFactory gloo_backend_factory(const ProcessGroupOptions& options) {
  check_network_interface(options.network_interface);
  auto device = c10d::ProcessGroupGloo::createDeviceForInterface(options.network_interface);
  return [device = std::move(device), timeout = options.connect_timeout](const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                                                         int size) -> c10::intrusive_ptr<c10d::Backend> {
    auto gloo = c10d::ProcessGroupGloo::Options::create(timeout);
    gloo->devices.push_back(device);
    gloo->threads = 1;  // collectives run one after the other; sends and receives need no thread of this pool
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, gloo);
  };
}

ProcessGroups::ProcessGroups(const mesh::Mesh& mesh, const Rendezvous& rendezvous, const ProcessGroupOptions& options) {
  check_ranks(mesh, rendezvous);
  std::vector<int> world(static_cast<size_t>(rendezvous.world_size));
  std::iota(world.begin(), world.end(), 0);
  groups_.emplace_back("world", describe_group(world, rendezvous.rank));
  for (const std::string_view axis : kGroupAxes) {
    groups_.emplace_back(axis, describe_group(mesh.group(axis, rendezvous.rank), rendezvous.rank));
  }
  if (rendezvous.world_size > 1) {
    connect(rendezvous, options);
  }
}

void ProcessGroups::connect(const Rendezvous& rendezvous, const ProcessGroupOptions& options) {
  const BackendFactory factory = options.backend_factory ? options.backend_factory : gloo_backend_factory(options);
  try {
    store_ = open_store(rendezvous, options.connect_timeout);
    std::map<std::vector<int>, c10::intrusive_ptr<c10d::Backend>> made;
    for (auto& [axis, group] : groups_) {
      if (group.size == 1) {
        continue;
      }
      auto& backend = made[group.global_ranks];
      if (!backend) {
        // The prefix names the members, so that only they meet under it.
        auto store = c10::make_intrusive<c10d::PrefixStore>(fmt::format("group/{}", fmt::join(group.global_ranks, "-")), store_);
        backend = factory(store, group.rank, group.size);
      }
      group.backend = backend;
    }
    barrier(group("world"));
    for (const auto& [ranks, backend] : made) {
      backend->setTimeout(options.operation_timeout);
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error({.code = "RW-GROUP-002",
                 .what = fmt::format("rank {} of {} did not reach its peers: {}", rendezvous.rank, rendezvous.world_size, first_line(error.what())),
                 .where = fmt::format("rendezvous at {}:{}", rendezvous.host, rendezvous.port),
                 .expected = fmt::format("all ranks within {} s", std::chrono::duration_cast<std::chrono::seconds>(options.connect_timeout).count()),
                 .action = "look at the log of the rank that failed first",
                 .exit_code = ExitCode::run_failed});
  }
}

const ProcessGroup& ProcessGroups::group(std::string_view axis) const {
  for (const auto& [name, group] : groups_) {
    if (name == axis) {
      return group;
    }
  }
  throw Error({.code = "RW-GROUP-005",
               .what = fmt::format("there is no process group for the axis \"{}\"", axis),
               .where = "process groups",
               .expected = fmt::format("world, {}", fmt::join(kGroupAxes, ", ")),
               .action = "ask for one of these axes",
               .exit_code = ExitCode::run_failed});
}

}  // namespace ringwright::worker
