#include "daemon/worker/parallel/collectives.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

[[noreturn]] void throw_lost_peer(std::string_view operation, const std::exception& error) {
  throw Error({.code = "RW-GROUP-004",
               .what = fmt::format("{} did not finish: {}", operation, first_line(error.what())),
               .where = "process group",
               .expected = "every rank of the group alive and in the same operation",
               .action = "look at the log of the rank that failed first",
               .exit_code = ExitCode::run_failed});
}

// Runs one c10d call to its end.
template <typename Call>
void complete(std::string_view operation, const ProcessGroup& group, Call&& call) {
  if (group.size == 1) {
    return;
  }
  try {
    call(*group.backend)->wait();
  } catch (const std::exception& error) {
    throw_lost_peer(operation, error);
  }
}

}  // namespace

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

void all_reduce_sum(at::Tensor tensor, const ProcessGroup& group) {
  complete("all-reduce", group, [&](c10d::Backend& backend) {
    std::vector<at::Tensor> tensors = {tensor};
    return backend.allreduce(tensors, c10d::AllreduceOptions());
  });
}

void broadcast(at::Tensor tensor, int root, const ProcessGroup& group) {
  complete("broadcast", group, [&](c10d::Backend& backend) {
    std::vector<at::Tensor> tensors = {tensor};
    c10d::BroadcastOptions options;
    options.rootRank = root;
    return backend.broadcast(tensors, options);
  });
}

void barrier(const ProcessGroup& group) {
  complete("barrier", group, [](c10d::Backend& backend) { return backend.barrier(c10d::BarrierOptions()); });
}

std::vector<at::Tensor> all_gather(const at::Tensor& tensor, const ProcessGroup& group) {
  if (group.size == 1) {
    return {tensor};
  }
  std::vector<at::Tensor> inputs = {tensor.contiguous()};
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int rank = 0; rank < group.size; ++rank) {
    outputs[0].push_back(at::empty_like(inputs[0]));
  }
  complete("all-gather", group, [&](c10d::Backend& backend) { return backend.allgather(outputs, inputs, c10d::AllgatherOptions()); });
  return outputs[0];
}

std::vector<at::Tensor> all_to_all(const std::vector<at::Tensor>& parts, const ProcessGroup& group) {
  if (group.size == 1) {
    return parts;
  }
  at::Tensor input = at::stack(parts).contiguous();
  at::Tensor output = at::empty_like(input);
  std::vector<int64_t> equal_splits;
  complete("all-to-all", group,
           [&](c10d::Backend& backend) { return backend.alltoall_base(output, input, equal_splits, equal_splits, c10d::AllToAllOptions()); });
  return output.unbind(0);
}

Transfers::Transfers(const ProcessGroup& group, std::vector<Send> sends, std::vector<Receive> receives) {
  // NCCL needs the calls of both directions in one group, or two ranks that both send first wait for each other.
  const bool coalesce = group.backend->supportsCoalescing();
  try {
    if (coalesce) {
      group.backend->startCoalescing();
    }
    for (auto& receive : receives) {
      if (receive.tensor.numel() > 0) {
        std::vector<at::Tensor> tensors = {receive.tensor};
        works_.push_back(group.backend->recv(tensors, receive.rank, receive.tag));
        tensors_.push_back(receive.tensor);
      }
    }
    for (auto& send : sends) {
      if (send.tensor.numel() > 0) {
        std::vector<at::Tensor> tensors = {send.tensor};
        works_.push_back(group.backend->send(tensors, send.rank, send.tag));
        tensors_.push_back(send.tensor);
      }
    }
    if (coalesce) {
      works_ = {group.backend->endCoalescing()};
    }
  } catch (const std::exception& error) {
    throw_lost_peer("a transfer between ranks", error);
  }
}

void Transfers::wait() {
  try {
    for (const auto& work : works_) {
      work->wait();
    }
  } catch (const std::exception& error) {
    throw_lost_peer("a transfer between ranks", error);
  }
  works_.clear();
  tensors_.clear();
}

}  // namespace ringwright::worker
