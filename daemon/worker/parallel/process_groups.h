// c10d process groups of one rank, made from a mesh. Rank 0 owns the TCPStore, on a listening socket that the daemon bound and passed
// down, so the rendezvous port is held from its choice to its use.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "shared/mesh/mesh.h"

namespace ringwright::worker {

class RankBoard;
class GroupConnector;

// One group, as one of its members sees it. Collectives and point-to-point calls name ranks INSIDE the group.
struct ProcessGroup {
  int rank = 0;
  int size = 1;
  std::vector<int> global_ranks = {0};
  c10::intrusive_ptr<c10d::Backend> backend;  // null exactly when size is 1
  std::string transport_reason;               // why the backend is what it is
  std::shared_ptr<RankBoard> world_board;     // of all ranks of the run; null when they are not on one host
  std::shared_ptr<GroupConnector> connector;  // for subgroup(); null exactly when size is 1
};

// The group of some of `group`'s ranks, given inside it and ascending; this rank is one of them, and each of them must call it. A group that is
// there already is returned again. Errors: those of ProcessGroups.
ProcessGroup subgroup(const ProcessGroup& group, const std::vector<int>& ranks);

// A group as a grid: `inner` are runs of inner_size neighbouring ranks, `outer` the ranks that have the same place in their runs.
struct SplitGroup {
  ProcessGroup inner;
  ProcessGroup outer;
};
// Every rank of the group must call it. Throws Error RW-GROUP-003 when inner_size does not divide the group's size.
SplitGroup split_group(const ProcessGroup& group, int inner_size);

// What carries the bytes of a group. By name: "auto", "gloo", "shared_memory", "nccl" (CUDA tensors only).
enum class Transport { automatic, gloo, shared_memory, nccl };
// Throws Error RW-GROUP-007 (exit code 2) for another name.
Transport transport_from_name(std::string_view name);

struct Rendezvous {
  int rank = 0;
  int world_size = 1;
  std::string host = "127.0.0.1";
  uint16_t port = 0;
  std::optional<int> listen_fd;           // rank 0: a TCP socket that listens on `port`; absent: the store binds `port` itself
  c10::intrusive_ptr<c10d::Store> store;  // set: ranks that share a store already; host, port and listen_fd are not used
};

// Gives one group its backend and the reason for it, with a store of this group alone.
using BackendFactory = std::function<void(const c10::intrusive_ptr<c10d::Store>& store, ProcessGroup& group)>;

struct ProcessGroupOptions {
  std::string network_interface = "lo";
  std::chrono::milliseconds connect_timeout = std::chrono::minutes(2);     // until every rank has come
  std::chrono::milliseconds operation_timeout = std::chrono::minutes(30);  // one collective; ranks may wait for a checkpoint's writer
  Transport transport = Transport::automatic;  // shared memory where all ranks of a group are on one host, else Gloo over network_interface
  BackendFactory backend_factory;              // set: in place of `transport`
};

// A Gloo backend factory over one interface; every group shares one Gloo device. Throws Error RW-GROUP-001 for a wrong interface.
BackendFactory gloo_backend_factory(const ProcessGroupOptions& options);

// What `options` asks for, as a factory.
BackendFactory backend_factory(const ProcessGroupOptions& options);

class ProcessGroups {
 public:
  // Connects to all ranks of the world and returns when all have come. The mesh may cover a part of them (a rank subset): the others take part in the
  // world's group alone. Every rank makes the world's group first and then those of the axes, in one order. Throws Error RW-GROUP-001 (interface),
  // RW-GROUP-002 (the rendezvous or a peer was not reached), RW-GROUP-003 (rank, world size and mesh disagree),
  // RW-GROUP-008 (shared memory was asked for and cannot be had), RW-CUDA-001 and RW-GROUP-010 (likewise NCCL, nccl.h).
  ProcessGroups(const mesh::Mesh& mesh, const Rendezvous& rendezvous, const ProcessGroupOptions& options = {});

  // Whether this rank is one of the mesh's.
  bool member() const { return groups_.size() > 1; }
  // axis: "world", "cp", "dp", "dp_cp". Throws Error RW-GROUP-005 for another one, RW-GROUP-009 for an axis on a rank that is no member.
  const ProcessGroup& group(std::string_view axis) const;
  int rank() const { return group("world").rank; }
  int world_size() const { return group("world").size; }

 private:
  void connect(const Rendezvous& rendezvous, const ProcessGroupOptions& options);

  std::vector<std::pair<std::string, ProcessGroup>> groups_;  // by axis; axes with the same ranks share one backend
};

}  // namespace ringwright::worker
