#include "daemon/worker/parallel/process_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/parallel/nccl.h"
#include "daemon/worker/parallel/shared_memory.h"
#include "shared/base/error.h"
#include "shared/base/network_interface.h"

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
  const int last = *std::max_element(mesh.ranks().begin(), mesh.ranks().end());
  if (last >= rendezvous.world_size) {
    throw_mismatch(fmt::format("the mesh has rank {}, the rendezvous expects {} ranks", last, rendezvous.world_size), "ranks of the world");
  }
  if (rendezvous.rank < 0 || rendezvous.rank >= rendezvous.world_size) {
    throw_mismatch(fmt::format("rank {} in a world of {}", rendezvous.rank, rendezvous.world_size),
                   fmt::format("0 to {}", rendezvous.world_size - 1));
  }
}

constexpr std::array<std::pair<std::string_view, Transport>, 4> kTransports = {
    {{"auto", Transport::automatic}, {"gloo", Transport::gloo}, {"shared_memory", Transport::shared_memory}, {"nccl", Transport::nccl}}};

[[noreturn]] void throw_no_shared_memory(const std::string& reason) {
  throw Error({.code = "RW-GROUP-008",
               .what = "the shared-memory transport cannot be had: " + reason,
               .where = "ringwright.cp.transport",
               .expected = "all ranks of each group on one host",
               .action = "set ringwright.cp.transport to auto or gloo",
               .exit_code = ExitCode::refused});
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

Transport transport_from_name(std::string_view name) {
  for (const auto& [known, transport] : kTransports) {
    if (known == name) return transport;
  }
  throw Error({.code = "RW-GROUP-007",
               .what = fmt::format("\"{}\" is no transport", name),
               .where = "ringwright.cp.transport",
               .expected = "auto, gloo, shared_memory or nccl",
               .action = "leave the key out, or name one of these",
               .exit_code = ExitCode::usage});
}

BackendFactory gloo_backend_factory(const ProcessGroupOptions& options) {
  net::check_network_interface(options.network_interface);
  auto device = c10d::ProcessGroupGloo::createDeviceForInterface(options.network_interface);
  return [device = std::move(device), timeout = options.connect_timeout](const c10::intrusive_ptr<c10d::Store>& store, ProcessGroup& group) {
    auto gloo = c10d::ProcessGroupGloo::Options::create(timeout);
    gloo->devices.push_back(device);
    gloo->threads = 1;  // collectives run one after the other; sends and receives need no thread of this pool
    group.backend = c10::make_intrusive<c10d::ProcessGroupGloo>(store, group.rank, group.size, gloo);
    group.transport_reason = "it was asked for";
  };
}

BackendFactory backend_factory(const ProcessGroupOptions& options) {
  if (options.backend_factory) return options.backend_factory;
  if (options.transport == Transport::nccl) return nccl_backend_factory(options);
  const BackendFactory gloo = gloo_backend_factory(options);  // before anything else: a wrong interface is an error with any transport
  if (options.transport == Transport::gloo) return gloo;
  return [gloo, is_required = options.transport == Transport::shared_memory](const c10::intrusive_ptr<c10d::Store>& store, ProcessGroup& group) {
    const auto own = [&](const char* prefix) { return c10::make_intrusive<c10d::PrefixStore>(prefix, store); };
    const SharedMemoryGroup shared = connect_shared_memory(own("shared_memory"), group);
    if (!shared.backend && is_required) throw_no_shared_memory(shared.reason);
    if (!shared.backend) gloo(own("gloo"), group);
    if (shared.backend) group.backend = shared.backend;
    group.transport_reason = shared.reason;
  };
}

ProcessGroups::ProcessGroups(const mesh::Mesh& mesh, const Rendezvous& rendezvous, const ProcessGroupOptions& options) {
  check_ranks(mesh, rendezvous);
  std::vector<int> world(static_cast<size_t>(rendezvous.world_size));
  std::iota(world.begin(), world.end(), 0);
  groups_.emplace_back("world", describe_group(world, rendezvous.rank));
  const bool is_member = mesh.coordinate(rendezvous.rank).has_value();
  for (const std::string_view axis : kGroupAxes) {
    if (is_member) groups_.emplace_back(axis, describe_group(mesh.group(axis, rendezvous.rank), rendezvous.rank));
  }
  if (rendezvous.world_size > 1) {
    connect(rendezvous, options);
  }
}

// Makes the groups of one rank, each set of ranks once.
class GroupConnector {
 public:
  GroupConnector(c10::intrusive_ptr<c10d::Store> store, const ProcessGroup& world, const ProcessGroupOptions& options)
      : store_(std::move(store)),
        factory_(backend_factory(options)),
        operation_timeout_(options.operation_timeout),
        global_rank_(world.global_ranks[static_cast<size_t>(world.rank)]),
        world_board_(options.backend_factory ? nullptr : connect_rank_board(prefixed("board"), world)) {}

  // is_new: it was not there before, so some of its ranks may still be on their way.
  ProcessGroup connect(std::vector<int> global_ranks, bool& is_new) {
    is_new = false;
    const ProcessGroup group = describe_group(std::move(global_ranks), global_rank_);
    if (group.size == 1) return group;
    const std::lock_guard lock(mutex_);
    ProcessGroup& made = made_.try_emplace(group.global_ranks, group).first->second;
    is_new = !made.backend;
    if (is_new) {
      // The prefix names the members, so that only they meet under it.
      factory_(prefixed(fmt::format("group/{}", fmt::join(made.global_ranks, "-"))), made);
      made.world_board = world_board_;
    }
    return made;
  }

  // Not before all ranks have come: until then the time to connect counts.
  void set_operation_timeout(const ProcessGroup& group) const { group.backend->setTimeout(operation_timeout_); }

 private:
  c10::intrusive_ptr<c10d::Store> prefixed(const std::string& prefix) const { return c10::make_intrusive<c10d::PrefixStore>(prefix, store_); }

  c10::intrusive_ptr<c10d::Store> store_;
  BackendFactory factory_;
  std::chrono::milliseconds operation_timeout_;
  int global_rank_;
  std::shared_ptr<RankBoard> world_board_;
  std::mutex mutex_;
  std::map<std::vector<int>, ProcessGroup> made_;  // without a connector, or it would own itself
};

void ProcessGroups::connect(const Rendezvous& rendezvous, const ProcessGroupOptions& options) {
  try {
    const auto store = rendezvous.store ? rendezvous.store : open_store(rendezvous, options.connect_timeout);
    const auto connector = std::make_shared<GroupConnector>(store, group("world"), options);
    for (auto& [axis, group] : groups_) {
      bool is_new = false;
      group = connector->connect(group.global_ranks, is_new);
      if (group.size > 1) group.connector = connector;
    }
    barrier(group("world"));
    for (const auto& [axis, group] : groups_) {
      if (group.size > 1) connector->set_operation_timeout(group);
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

ProcessGroup subgroup(const ProcessGroup& group, const std::vector<int>& ranks) {
  if (group.size == 1) return group;
  std::vector<int> global_ranks;
  for (const int rank : ranks) global_ranks.push_back(group.global_ranks.at(static_cast<size_t>(rank)));
  bool is_new = false;
  ProcessGroup result = group.connector->connect(std::move(global_ranks), is_new);
  if (result.size == 1) return result;
  if (is_new) {
    barrier(result);
    group.connector->set_operation_timeout(result);
  }
  result.connector = group.connector;
  return result;
}

SplitGroup split_group(const ProcessGroup& group, int inner_size) {
  if (inner_size < 1 || group.size % inner_size != 0) {
    throw_mismatch(fmt::format("a group of {} ranks was to be split into parts of {}", group.size, inner_size), "a divisor of the group's size");
  }
  std::vector<int> inner(static_cast<size_t>(inner_size)), outer;
  std::iota(inner.begin(), inner.end(), group.rank / inner_size * inner_size);
  for (int rank = group.rank % inner_size; rank < group.size; rank += inner_size) outer.push_back(rank);
  return {subgroup(group, inner), subgroup(group, outer)};
}

const ProcessGroup& ProcessGroups::group(std::string_view axis) const {
  for (const auto& [name, group] : groups_) {
    if (name == axis) {
      return group;
    }
  }
  const bool known = std::find(kGroupAxes.begin(), kGroupAxes.end(), axis) != kGroupAxes.end();
  if (known) {
    throw Error({.code = "RW-GROUP-009",
                 .what = fmt::format("rank {} is no member of the mesh, so it has no group along {}", rank(), axis),
                 .where = "process groups",
                 .expected = "a rank of the mesh",
                 .action = "ask whether the rank is a member first",
                 .exit_code = ExitCode::run_failed});
  }
  throw Error({.code = "RW-GROUP-005",
               .what = fmt::format("there is no process group for the axis \"{}\"", axis),
               .where = "process groups",
               .expected = fmt::format("world, {}", fmt::join(kGroupAxes, ", ")),
               .action = "ask for one of these axes",
               .exit_code = ExitCode::run_failed});
}

}  // namespace ringwright::worker
