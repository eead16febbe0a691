// c10d process groups of one rank, made from a mesh. Rank 0 owns the TCPStore, on a listening socket that the daemon bound and passed
// down, so the rendezvous port is held from its choice to its use.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "shared/mesh/mesh.h"

namespace ringwright::worker {

// One group, as one of its members sees it. Collectives and point-to-point calls name ranks INSIDE the group.
struct ProcessGroup {
  int rank = 0;
  int size = 1;
  std::vector<int> global_ranks = {0};
  c10::intrusive_ptr<c10d::Backend> backend;  // null exactly when size is 1
};

struct Rendezvous {
  int rank = 0;
  int world_size = 1;
  std::string host = "127.0.0.1";
  uint16_t port = 0;
  std::optional<int> listen_fd;  // rank 0: a TCP socket that listens on `port`; absent: the store binds `port` itself
};

// Makes the backend of one group: (store of this group alone, rank in the group, size).
using BackendFactory = std::function<c10::intrusive_ptr<c10d::Backend>(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size)>;

struct ProcessGroupOptions {
  std::string network_interface = "lo";
  std::chrono::milliseconds connect_timeout = std::chrono::minutes(2);     // until every rank has come
  std::chrono::milliseconds operation_timeout = std::chrono::minutes(30);  // one collective; ranks may wait for a checkpoint's writer
  BackendFactory backend_factory;                                          // empty: Gloo over network_interface
};

// A Gloo backend factory over one interface; every group shares one Gloo device. Throws Error RW-GROUP-001 for a wrong interface.
BackendFactory gloo_backend_factory(const ProcessGroupOptions& options);

class ProcessGroups {
 public:
  // Connects to all ranks of the mesh and returns when all have come. Throws Error RW-GROUP-001 (interface), RW-GROUP-002 (the rendezvous or
  // a peer was not reached), RW-GROUP-003 (rank, world size and mesh disagree).
  ProcessGroups(const mesh::Mesh& mesh, const Rendezvous& rendezvous, const ProcessGroupOptions& options = {});

  // axis: "world", "cp", "dp", "dp_cp". Throws Error RW-GROUP-005 for another one.
  const ProcessGroup& group(std::string_view axis) const;
  int rank() const { return group("world").rank; }
  int world_size() const { return group("world").size; }

 private:
  void connect(const Rendezvous& rendezvous, const ProcessGroupOptions& options);

  c10::intrusive_ptr<c10d::Store> store_;
  std::vector<std::pair<std::string, ProcessGroup>> groups_;  // by axis; axes with the same ranks share one backend
};

}  // namespace ringwright::worker
