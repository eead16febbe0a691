// A backend that counts the bytes that this rank gives to others, and leaves the work to the one that it stands before.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "daemon/worker/parallel/process_groups.h"

namespace ringwright::test {

class CountingBackend final : public c10d::Backend {
 public:
  using Tensors = std::vector<at::Tensor>;
  using Work = c10::intrusive_ptr<c10d::Work>;

  explicit CountingBackend(c10::intrusive_ptr<c10d::Backend> inner) : Backend(inner->getRank(), inner->getSize()), inner_(std::move(inner)) {}

  int64_t sent_bytes = 0;
  std::map<int, int64_t> sent_bytes_by_rank;  // point to point alone

  const std::string getBackendName() const override { return "counting"; }
  Work send(Tensors& tensors, int rank, int tag) override {
    for (const at::Tensor& tensor : tensors) {
      sent_bytes += bytes(tensor);
      sent_bytes_by_rank[rank] += bytes(tensor);
    }
    return inner_->send(tensors, rank, tag);
  }
  Work recv(Tensors& tensors, int rank, int tag) override { return inner_->recv(tensors, rank, tag); }
  Work allgather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override {
    sent_bytes += bytes(inputs[0]) * (getSize() - 1);
    return inner_->allgather(outputs, inputs, options);
  }
  Work alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_sizes, std::vector<int64_t>& input_sizes,
                     const c10d::AllToAllOptions& options) override {
    sent_bytes += bytes(input) * (getSize() - 1) / getSize();
    return inner_->alltoall_base(output, input, output_sizes, input_sizes, options);
  }
  Work barrier(const c10d::BarrierOptions& options) override { return inner_->barrier(options); }

 private:
  static int64_t bytes(const at::Tensor& tensor) { return static_cast<int64_t>(tensor.nbytes()); }

  c10::intrusive_ptr<c10d::Backend> inner_;
};

// The group with its backend counted.
inline std::pair<worker::ProcessGroup, c10::intrusive_ptr<CountingBackend>> counted(const worker::ProcessGroup& group) {
  auto backend = c10::make_intrusive<CountingBackend>(group.backend);
  worker::ProcessGroup counted = group;
  counted.backend = backend;
  return {counted, backend};
}

}  // namespace ringwright::test
