#include "daemon/worker/parallel/message_backend.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;

constexpr int kCollectiveTag = -1;  // collectives run in the same order on every rank, so one tag is enough for all of them

[[noreturn]] void throw_misuse(const std::string& what, const std::string& expected) {
  throw Error({.code = "RW-GROUP-006",
               .what = what,
               .where = "process group",
               .expected = expected,
               .action = "report this with the run's log: the engine called a collective wrongly",
               .exit_code = ExitCode::run_failed});
}

class FinishedWork final : public c10d::Work {
 public:
  bool isCompleted() override { return true; }
  bool isSuccess() const override { return true; }
  bool wait(std::chrono::milliseconds /*timeout*/) override { return true; }
};

class TransferWork final : public c10d::Work {
 public:
  TransferWork(std::shared_ptr<TensorMessages> messages, TensorMessages::Handle transfer, std::chrono::milliseconds timeout)
      : messages_(std::move(messages)), transfer_(std::move(transfer)), timeout_(timeout) {}

  bool wait(std::chrono::milliseconds timeout) override {
    if (transfer_) {
      messages_->wait(transfer_, timeout == kNoTimeout ? timeout_ : timeout);
      transfer_.reset();
    }
    return true;
  }

 private:
  std::shared_ptr<TensorMessages> messages_;
  TensorMessages::Handle transfer_;
  const std::chrono::milliseconds timeout_;
};

const at::Tensor& one_of(const std::vector<at::Tensor>& tensors, const char* operation) {
  if (tensors.size() != 1) throw_misuse(fmt::format("{} of {} tensors", operation, tensors.size()), "one tensor");
  if (!tensors[0].is_contiguous()) throw_misuse(fmt::format("{} of a tensor that is not contiguous", operation), "a contiguous tensor");
  return tensors[0];
}

// Bounds of n slices of nearly equal length.
int64_t slice_start(int64_t length, int slice, int count) { return length * slice / count; }

std::vector<at::Tensor> equal_slices(const at::Tensor& flat, int count) {
  std::vector<at::Tensor> slices;
  for (int q = 0; q < count; ++q) {
    const int64_t start = slice_start(flat.numel(), q, count);
    slices.push_back(flat.narrow(0, start, slice_start(flat.numel(), q + 1, count) - start));
  }
  return slices;
}

// Parts along axis 0; sizes empty: `count` equal ones.
std::vector<at::Tensor> parts_of(const at::Tensor& tensor, const std::vector<int64_t>& sizes, int count) {
  const int64_t length = tensor.size(0);
  const bool fits = sizes.empty() ? length % count == 0
                                  : static_cast<int>(sizes.size()) == count && std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) == length;
  if (!fits) {
    throw_misuse(fmt::format("all-to-all of {} rows in parts of [{}] between {} ranks", length, fmt::join(sizes, ", "), count),
                 "one size a rank, together the length of axis 0");
  }
  return sizes.empty() ? tensor.split(std::max<int64_t>(length / count, 1), 0) : tensor.split_with_sizes(sizes, 0);
}

void accumulate(const at::Tensor& into, const at::Tensor& term, c10d::ReduceOp::RedOpType operation) {
  at::Tensor target = into;
  switch (operation) {
    case c10d::ReduceOp::SUM:
      target.add_(term);
      return;
    case c10d::ReduceOp::MIN:
      at::minimum_out(target, into, term.to(into.scalar_type()));
      return;
    case c10d::ReduceOp::MAX:
      at::maximum_out(target, into, term.to(into.scalar_type()));
      return;
    default:
      throw_misuse(fmt::format("a reduction of kind {}", static_cast<int>(operation)), "SUM, MIN or MAX");
  }
}

WorkPtr finished() { return c10::make_intrusive<FinishedWork>(); }

}  // namespace

MessageBackend::MessageBackend(std::shared_ptr<TensorMessages> messages, int rank, int size, std::chrono::milliseconds timeout)
    : c10d::Backend(rank, size), messages_(std::move(messages)), timeout_(timeout) {}

void MessageBackend::exchange(const std::vector<at::Tensor>& parts, const std::vector<at::Tensor>& places) {
  const at::NoGradGuard no_grad;
  std::vector<TensorMessages::Handle> transfers;
  // Each rank starts with its right-hand neighbour, so that not all of them turn to rank 0 first.
  for (int step = 1; step < size_; ++step) {
    const int to = (rank_ + step) % size_, from = (rank_ - step + size_) % size_;
    if (const at::Tensor& place = places[static_cast<size_t>(from)]; place.numel() > 0) {
      transfers.push_back(messages_->receive(place, from, kCollectiveTag));
    }
    if (const at::Tensor& part = parts[static_cast<size_t>(to)]; part.numel() > 0) {
      transfers.push_back(messages_->send(part.contiguous(), to, kCollectiveTag));
    }
  }
  for (const auto& transfer : transfers) messages_->wait(transfer, timeout_);
}

at::Tensor MessageBackend::reduce_slices(const std::vector<at::Tensor>& slices, c10d::ReduceOp::RedOpType operation) {
  const at::Tensor& own = slices[static_cast<size_t>(rank_)];
  std::vector<at::Tensor> terms;
  for (int q = 0; q < size_; ++q) terms.push_back(q == rank_ ? own : at::empty_like(own));
  exchange(slices, terms);
  const bool widen = operation == c10d::ReduceOp::SUM && at::isReducedFloatingType(own.scalar_type());
  at::Tensor result = terms[0].to(widen ? at::kFloat : own.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
  for (int q = 1; q < size_; ++q) accumulate(result, terms[static_cast<size_t>(q)], operation);
  return result;
}

WorkPtr MessageBackend::send(std::vector<at::Tensor>& tensors, int rank, int tag) {
  return c10::make_intrusive<TransferWork>(messages_, messages_->send(one_of(tensors, "send"), rank, tag), timeout_);
}

WorkPtr MessageBackend::recv(std::vector<at::Tensor>& tensors, int rank, int tag) {
  return c10::make_intrusive<TransferWork>(messages_, messages_->receive(one_of(tensors, "receive"), rank, tag), timeout_);
}

WorkPtr MessageBackend::broadcast(std::vector<at::Tensor>& tensors, const c10d::BroadcastOptions& options) {
  const at::Tensor& tensor = one_of(tensors, "broadcast");
  const at::Tensor nothing = tensor.new_empty({0});
  const auto root = static_cast<int>(options.rootRank);
  std::vector<at::Tensor> parts(static_cast<size_t>(size_), rank_ == root ? tensor : nothing), places(static_cast<size_t>(size_), nothing);
  places[static_cast<size_t>(root)] = tensor;
  exchange(parts, places);
  return finished();
}

WorkPtr MessageBackend::allreduce(std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions& options) {
  const at::NoGradGuard no_grad;
  const at::Tensor flat = one_of(tensors, "all-reduce").view(-1);
  const std::vector<at::Tensor> slices = equal_slices(flat, size_);
  const at::Tensor& own = slices[static_cast<size_t>(rank_)];
  own.copy_(reduce_slices(slices, options.reduceOp));
  exchange(std::vector<at::Tensor>(static_cast<size_t>(size_), own), slices);
  return finished();
}

WorkPtr MessageBackend::allgather(std::vector<std::vector<at::Tensor>>& outputs, std::vector<at::Tensor>& inputs,
                                  const c10d::AllgatherOptions& /*options*/) {
  const at::NoGradGuard no_grad;
  const at::Tensor& own = one_of(inputs, "all-gather");
  if (outputs.size() != 1 || static_cast<int>(outputs[0].size()) != size_)
    throw_misuse("all-gather without a place for each rank", "one tensor a rank");
  exchange(std::vector<at::Tensor>(static_cast<size_t>(size_), own), outputs[0]);
  outputs[0][static_cast<size_t>(rank_)].copy_(own);
  return finished();
}

WorkPtr MessageBackend::_allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) {
  std::vector<std::vector<at::Tensor>> outputs = {equal_slices(output.view(-1), size_)};
  std::vector<at::Tensor> inputs = {input.view(-1)};
  return allgather(outputs, inputs, options);
}

WorkPtr MessageBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) {
  const at::NoGradGuard no_grad;
  if (input.numel() != output.numel() * size_) {
    throw_misuse(fmt::format("reduce-scatter of {} values into {} on {} ranks", input.numel(), output.numel(), size_), "one equal part a rank");
  }
  output.view(-1).copy_(reduce_slices(equal_slices(input.view(-1), size_), options.reduceOp));
  return finished();
}

WorkPtr MessageBackend::alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_sizes, std::vector<int64_t>& input_sizes,
                                      const c10d::AllToAllOptions& options) {
  std::vector<at::Tensor> places = parts_of(output, output_sizes, size_), parts = parts_of(input, input_sizes, size_);
  return alltoall(places, parts, options);
}

WorkPtr MessageBackend::alltoall(std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs, const c10d::AllToAllOptions& /*options*/) {
  const at::NoGradGuard no_grad;
  if (static_cast<int>(outputs.size()) != size_ || static_cast<int>(inputs.size()) != size_) {
    throw_misuse(fmt::format("all-to-all of {} parts into {} places on {} ranks", inputs.size(), outputs.size(), size_), "one of each a rank");
  }
  exchange(inputs, outputs);
  outputs[static_cast<size_t>(rank_)].copy_(inputs[static_cast<size_t>(rank_)]);
  return finished();
}

// Dissemination: after log2(n) rounds each rank has heard, directly or not, of every other.
WorkPtr MessageBackend::barrier(const c10d::BarrierOptions& /*options*/) {
  const at::Tensor sent = at::zeros({1}, at::kByte), received = at::empty({1}, at::kByte);
  for (int distance = 1; distance < size_; distance *= 2) {
    const auto in = messages_->receive(received, (rank_ - distance + size_) % size_, kCollectiveTag);
    messages_->wait(messages_->send(sent, (rank_ + distance) % size_, kCollectiveTag), timeout_);
    messages_->wait(in, timeout_);
  }
  return finished();
}

}  // namespace ringwright::worker
