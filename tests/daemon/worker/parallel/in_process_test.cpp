// Ranks as threads of one process.
#include "daemon/worker/parallel/in_process.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <torch/csrc/autograd/custom_function.h>

#include <latch>

#include "daemon/worker/parallel/collectives.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/parallel/collective_suite.h"
#include "tests/daemon/worker/support/rank_threads.h"

namespace ringwright::test {
namespace {

using worker::ProcessGroups;

TEST(InProcess, PassesTheCollectiveSuite) {
  for (const int size : {2, 3, 4}) run_on_threads(size, [](const ProcessGroups& ranks) { expect_collectives(ranks.group("cp")); });
}

TEST(InProcess, GroupsOfAMeshKeepTheirMessagesApart) {
  mesh::ParallelismSizes sizes;
  sizes.cp = 2;
  sizes.dp = 3;
  const auto body = [](const ProcessGroups& ranks) {
    for (const char* axis : {"cp", "dp", "dp_cp"}) {
      SCOPED_TRACE(axis);
      expect_collectives(ranks.group(axis));
    }
    EXPECT_EQ(ranks.group("cp").size, 2);
    EXPECT_EQ(ranks.group("dp").size, 3);
  };
  run_on_threads(6, body, sizes);
}

TEST(InProcess, AGroupSplitsIntoAGrid) {
  run_on_threads(6, [](const ProcessGroups& ranks) {
    const worker::SplitGroup split = worker::split_group(ranks.group("cp"), 2);
    const int rank = ranks.rank();
    EXPECT_EQ(split.inner.global_ranks, (std::vector<int>{rank / 2 * 2, rank / 2 * 2 + 1}));
    EXPECT_EQ(split.outer.global_ranks, (std::vector<int>{rank % 2, rank % 2 + 2, rank % 2 + 4}));
    expect_collectives(split.inner);
    expect_collectives(split.outer);
    EXPECT_EQ(worker::split_group(ranks.group("cp"), 6).inner.backend, ranks.group("cp").backend);
    EXPECT_THROW(worker::split_group(ranks.group("cp"), 4), Error);
  });
}

// Nothing may wait for ever: neither in a collective, nor for a rank that returned too early.
TEST(InProcess, TheFirstFailureEndsAllRanks) {
  const auto body = [](const ProcessGroups& ranks) {
    if (ranks.rank() == 2) throw std::out_of_range("rank 2 looked too far");
    at::Tensor x = at::ones({100});
    worker::all_reduce_sum(x, ranks.group("cp"));
  };
  EXPECT_THROW(run_on_threads(4, body), std::out_of_range);
}

TEST(InProcess, ThePeersOfALostRankNameIt) {
  std::array<std::string, 3> told;
  std::latch connected(3);
  const auto body = [&](const ProcessGroups& ranks) {
    connected.arrive_and_wait();
    if (ranks.rank() == 1) throw std::out_of_range("rank 1 looked too far");
    try {
      worker::barrier(ranks.group("cp"));
    } catch (const Error& error) {
      EXPECT_EQ(error.parts().code, "RW-GROUP-004");
      told[static_cast<size_t>(ranks.rank())] = error.parts().what;
      throw;
    }
  };
  EXPECT_THROW(run_on_threads(3, body), std::out_of_range);
  EXPECT_THAT(told[0], testing::HasSubstr("rank 1 has failed: rank 1 looked too far"));
  EXPECT_THAT(told[2], testing::HasSubstr("rank 1 has failed: rank 1 looked too far"));
}

TEST(InProcess, ARankThatEndsEarlyIsMissed) {
  const auto body = [](const ProcessGroups& ranks) {
    if (ranks.rank() == 0) worker::barrier(ranks.group("cp"));
  };
  EXPECT_THROW(run_on_threads(2, body), Error);
}

// Each rank's backward waits for the other's, so they must not share a thread.
TEST(InProcess, BackwardsOfAllRanksRunAtOnce) {
  struct Shift : torch::autograd::Function<Shift> {
    static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) { return x.clone(); }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext*, torch::autograd::variable_list grads) {
      return {current_sum(grads[0])};
    }
    static at::Tensor current_sum(const at::Tensor& grad) {
      at::Tensor sum = grad.clone();
      worker::all_reduce_sum(sum, *group());
      return sum;
    }
    static const worker::ProcessGroup*& group() {
      thread_local const worker::ProcessGroup* current = nullptr;
      return current;
    }
  };
  run_on_threads(3, [](const ProcessGroups& ranks) {
    Shift::group() = &ranks.group("cp");
    const at::Tensor x = at::ones({4}).requires_grad_();
    Shift::apply(x).backward(at::full({4}, ranks.rank() + 1.0));
    EXPECT_TRUE(at::equal(x.grad(), at::full({4}, 6.0)));
  });
}

}  // namespace
}  // namespace ringwright::test
