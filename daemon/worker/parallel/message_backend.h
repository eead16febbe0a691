// c10d collectives over nothing but messages between two ranks. Sums are made in rank order, so they are the same on every rank and in every run.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>
#include <vector>

namespace ringwright::worker {

// Messages between the ranks of one group. Those of one (source, tag) arrive in the order in which they were sent.
class TensorMessages {
 public:
  class Transfer {
   public:
    virtual ~Transfer() = default;
  };
  using Handle = std::shared_ptr<Transfer>;

  virtual ~TensorMessages() = default;
  virtual std::string name() const = 0;
  // tensor: contiguous; kept alive until the transfer is over. Both return at once.
  virtual Handle send(const at::Tensor& tensor, int rank, int tag) = 0;
  virtual Handle receive(const at::Tensor& tensor, int rank, int tag) = 0;
  // Throws LostRank, or another exception when nothing came in time or the two sides disagree.
  virtual void wait(const Handle& transfer, std::chrono::milliseconds timeout) = 0;
};

// Collectives are complete when the call returns; sends and receives are under way. Tags of callers are 0 or more.
class MessageBackend final : public c10d::Backend {
 public:
  MessageBackend(std::shared_ptr<TensorMessages> messages, int rank, int size, std::chrono::milliseconds timeout);

  const std::string getBackendName() const override { return messages_->name(); }
  void setTimeout(std::chrono::milliseconds timeout) override { timeout_ = timeout; }

  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int rank, int tag) override;
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int rank, int tag) override;
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors, const c10d::BroadcastOptions& options) override;
  // SUM, MIN, MAX.
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> allgather(std::vector<std::vector<at::Tensor>>& outputs, std::vector<at::Tensor>& inputs,
                                           const c10d::AllgatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) override;
  // Sizes along axis 0; empty: equal parts.
  c10::intrusive_ptr<c10d::Work> alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_sizes,
                                               std::vector<int64_t>& input_sizes, const c10d::AllToAllOptions& options) override;
  c10::intrusive_ptr<c10d::Work> alltoall(std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs,
                                          const c10d::AllToAllOptions& options) override;
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions& options) override;

 private:
  // parts[q] goes to rank q, places[q] is filled from rank q; this rank's own pair is left alone. Empty tensors are not sent.
  void exchange(const std::vector<at::Tensor>& parts, const std::vector<at::Tensor>& places);
  // Rank q's part of this rank's slice, added up in rank order. slices[q]: what rank q adds up.
  at::Tensor reduce_slices(const std::vector<at::Tensor>& slices, c10d::ReduceOp::RedOpType operation);

  std::shared_ptr<TensorMessages> messages_;  // also of the transfers under way
  std::chrono::milliseconds timeout_;
};

}  // namespace ringwright::worker
