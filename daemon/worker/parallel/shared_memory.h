// Groups whose ranks are processes of one host, over shared memory instead of a loopback connection.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "daemon/worker/parallel/process_groups.h"
#include "daemon/worker/parallel/transport/rank_board.h"

namespace ringwright::worker {

struct SharedMemoryGroup {
  c10::intrusive_ptr<c10d::Backend> backend;  // null: it cannot be had
  std::string reason;                         // why, or why not; the same on every rank
};

// Every rank of the group calls it with the store of this group alone. CPU tensors only.
SharedMemoryGroup connect_shared_memory(const c10::intrusive_ptr<c10d::Store>& store, const ProcessGroup& group);

// The group's board, whatever transport it uses; null when its ranks are not on one host.
std::shared_ptr<RankBoard> connect_rank_board(const c10::intrusive_ptr<c10d::Store>& store, const ProcessGroup& group);

}  // namespace ringwright::worker
