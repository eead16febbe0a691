// The collectives that the worker needs, with errors an operator can read. On a group of one rank each is a no-op.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "daemon/worker/parallel/process_groups.h"

namespace ringwright::worker {

// All of them throw Error RW-GROUP-004 (exit code 1) when a peer is gone, which it names where the transport knows, or the operation timed out.

// In place; the same order of summation on every rank and in every run. The tensor must be contiguous.
void all_reduce_sum(at::Tensor tensor, const ProcessGroup& group);
// In place, from the rank `root` inside the group.
void broadcast(at::Tensor tensor, int root, const ProcessGroup& group);
void barrier(const ProcessGroup& group);
// The tensors of all ranks, in rank order. All ranks must bring the same shape and type.
std::vector<at::Tensor> all_gather(const at::Tensor& tensor, const ProcessGroup& group);
// parts[q] goes to rank q (undefined tensors are not allowed; all have one shape); returned: what each rank sent here, in rank order.
std::vector<at::Tensor> all_to_all(const std::vector<at::Tensor>& parts, const ProcessGroup& group);

// Point-to-point transfers in flight. Their tensors are kept alive; wait() must be called before the received ones are read.
class Transfers {
 public:
  struct Send {
    at::Tensor tensor;  // contiguous
    int rank;
    int tag;
  };
  using Receive = Send;

  Transfers() = default;
  // Posts all of them at once; empty tensors are left out on both sides.
  Transfers(const ProcessGroup& group, std::vector<Send> sends, std::vector<Receive> receives);
  // Throws Error RW-GROUP-004. A second call does nothing.
  void wait();

 private:
  ProcessGroup group_;
  std::vector<at::Tensor> tensors_;
  std::vector<c10::intrusive_ptr<c10d::Work>> works_;
};

// c10d's messages carry a stack trace; this is their first line.
std::string first_line(std::string_view text);

}  // namespace ringwright::worker
