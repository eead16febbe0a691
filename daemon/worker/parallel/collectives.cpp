#include "daemon/worker/parallel/collectives.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "daemon/worker/parallel/transport/rank_board.h"
#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

constexpr std::string_view kTransfer = "a transfer between ranks";

[[noreturn]] void throw_unfinished(std::string_view operation, const std::string& reason) {
  throw Error({.code = "RW-GROUP-004",
               .what = fmt::format("{} did not finish: {}", operation, reason),
               .where = "process group",
               .expected = "every rank of the group alive and in the same operation",
               .action = "look at the log of the rank that failed first",
               .exit_code = ExitCode::run_failed});
}

// A connection breaks a moment before the kernel says that its process has ended.
constexpr std::chrono::seconds kLostRankDelayMax(2);

// The rank that was lost first: of the whole run where its board knows, else as the group's own transport saw it.
std::string name_lost(const ProcessGroup& group, const LostRank* seen, const std::string& otherwise) {
  const auto name = [](int global_rank, const LostRank& lost) { return fmt::format("rank {} {}", global_rank, lost.what()); };
  if (group.world_board) {
    if (const auto lost = group.world_board->await_lost(kLostRankDelayMax)) return name(lost->rank(), *lost);
  }
  return seen != nullptr ? name(group.global_ranks[static_cast<size_t>(seen->rank())], *seen) : otherwise;
}

// Calls, and turns what a backend throws into the one error for it.
template <typename Call>
void guard(std::string_view operation, const ProcessGroup& group, Call&& call) {
  try {
    call();
  } catch (const Error&) {
    throw;
  } catch (const LostRank& lost) {
    throw_unfinished(operation, name_lost(group, &lost, ""));
  } catch (const std::exception& error) {
    throw_unfinished(operation, name_lost(group, nullptr, first_line(error.what())));
  }
}

// Runs one c10d call to its end.
template <typename Call>
void complete(std::string_view operation, const ProcessGroup& group, Call&& call) {
  if (group.size > 1) guard(operation, group, [&] { call(*group.backend)->wait(); });
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
  if (group.size == 1 || parts[0].numel() == 0) {
    return parts;
  }
  at::Tensor input = at::stack(parts).contiguous();
  at::Tensor output = at::empty_like(input);
  std::vector<int64_t> equal_splits;
  complete("all-to-all", group,
           [&](c10d::Backend& backend) { return backend.alltoall_base(output, input, equal_splits, equal_splits, c10d::AllToAllOptions()); });
  return output.unbind(0);
}

Transfers::Transfers(const ProcessGroup& group, std::vector<Send> sends, std::vector<Receive> receives) : group_(group) {
  // NCCL needs the calls of both directions in one group, or two ranks that both send first wait for each other.
  const bool coalesce = group.backend->supportsCoalescing();
  guard(kTransfer, group_, [&] {
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
  });
}

void Transfers::wait() {
  guard(kTransfer, group_, [&] {
    for (const auto& work : works_) {
      work->wait();
    }
  });
  works_.clear();
  tensors_.clear();
}

}  // namespace ringwright::worker
