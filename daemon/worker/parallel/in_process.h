// The ranks of a run as threads of one process: for tests over many ranks, and for a single GPU, where NCCL cannot form a group of two.
//
// CUDA tensors: every rank thread must use the device's default stream, whose order then holds between ranks too. Autograd runs a backward of
// CUDA tensors on one thread a device, where ranks would wait for each other for ever: rank threads switch that off (RankThread).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/worker/parallel/process_groups.h"

namespace ringwright::worker {

class InProcessWorld {
 public:
  explicit InProcessWorld(int size);
  ~InProcessWorld();
  InProcessWorld(const InProcessWorld&) = delete;
  InProcessWorld& operator=(const InProcessWorld&) = delete;

  // To be called in the rank's own thread; returns when all ranks have come.
  ProcessGroups connect(const mesh::Mesh& mesh, int rank);
  // The rank has failed: all waits in groups that it is a member of end with Error RW-GROUP-004, which names it.
  void lose(int rank, const std::string& how);

 private:
  class Groups;

  const int size_;
  c10::intrusive_ptr<c10d::Store> store_;
  std::shared_ptr<Groups> groups_;
};

// While it lives, this thread is a rank: autograd runs the backward of all devices in it.
class RankThread {
 public:
  RankThread();
  ~RankThread();
  RankThread(const RankThread&) = delete;
  RankThread& operator=(const RankThread&) = delete;

 private:
  bool multithreading_;
};

}  // namespace ringwright::worker
