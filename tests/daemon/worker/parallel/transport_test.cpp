// Transports between processes: each passes the same suite, and a rank that dies is named.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "daemon/worker/kernels/plugin.h"
#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/parallel/nccl.h"
#include "daemon/worker/torch_environment.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/parallel/collective_suite.h"
#include "tests/daemon/worker/support/rank_processes.h"
#include "tests/daemon/worker/support/rank_test.h"
#include "tests/support/error_of.h"

namespace ringwright::worker {
namespace {

void expect_transport(const ProcessGroup& group, const char* name) {
  EXPECT_EQ(group.backend->getBackendName(), name);
  EXPECT_NE(group.transport_reason, "");
  test::expect_collectives(group);
}

RANK_TEST_OVER(Transports, GlooPassesTheCollectiveSuite, 3, "gloo") { expect_transport(ranks.group("cp"), "gloo"); }
RANK_TEST_OVER(Transports, SharedMemoryPassesTheCollectiveSuite, 3, "shared_memory") { expect_transport(ranks.group("cp"), "shared_memory"); }
RANK_TEST(Transports, RanksOfOneHostShareMemory, 2) { expect_transport(ranks.group("cp"), "shared_memory"); }

TEST(Transports, RefusesAnUnknownName) {
  try {
    transport_from_name("infiniband");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-GROUP-007");
    EXPECT_THAT(error.parts().expected, testing::HasSubstr("shared_memory"));
  }
}

// Before anything is connected: no rank waits for one that was refused.
TEST(Transports, NcclWithoutAGpuIsRefusedWithTheReason) {
  if (cuda_plugin().functions != nullptr) GTEST_SKIP() << "there is a GPU";
  ProcessGroupOptions options;
  options.transport = transport_from_name("nccl");
  const ErrorParts parts = test::refusal([&] { backend_factory(options); });
  EXPECT_EQ(parts.code, "RW-CUDA-001");
  EXPECT_THAT(parts.what, testing::HasSubstr(cuda_plugin().reason));
}

TEST(Transports, NcclTakesAGpuForEachRank) {
  const auto refusal_on = [](const std::vector<std::string>& devices) {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    std::vector<ErrorParts> refusals(devices.size());
    {
      std::vector<std::jthread> ranks;
      for (size_t i = 0; i < devices.size(); ++i) {
        ranks.emplace_back([&, i] {
          ProcessGroup group;
          group.rank = static_cast<int>(i), group.size = static_cast<int>(devices.size());
          group.global_ranks = {4, 5, 6};
          refusals[i] = test::refusal([&] { require_own_device(store, group, devices[i]); });
        });
      }
    }
    for (const ErrorParts& each : refusals) EXPECT_EQ(each.what, refusals[0].what) << "all ranks alike";
    return refusals[0];
  };
  EXPECT_EQ(refusal_on({"a:0", "a:1", "b:0"}).code, "");
  const ErrorParts parts = refusal_on({"a:0", "b:0", "a:0"});
  EXPECT_EQ(parts.code, "RW-GROUP-010");
  EXPECT_THAT(parts.what, testing::HasSubstr("ranks 4 and 6 would both take the GPU a:0"));
}

constexpr int kWorld = 4, kVictim = 2, kVictimStep = 5;

// Blocks go round a ring for ever; the victim is killed while its own are under way.
void go_round(const ProcessGroup& cp) {
  const int next = (cp.rank + 1) % cp.size, previous = (cp.rank + cp.size - 1) % cp.size;
  for (int step = 0;; ++step) {
    const at::Tensor out = at::full({1 << 18}, static_cast<double>(step)), in = at::empty({1 << 18});
    Transfers transfers(cp, {{out, next, 0}}, {{in, previous, 0}});
    if (cp.rank == kVictim && step == kVictimStep) kill(getpid(), SIGKILL);
    transfers.wait();
  }
}

void run_until_a_rank_dies(const Rendezvous& rendezvous, Transport transport) {
  configure_torch(1, 1);
  ProcessGroupOptions options;
  options.transport = transport;
  const ProcessGroups ranks = test::connect_ranks(rendezvous, test::data_mesh(1, rendezvous.world_size), options);
  const auto begin = std::chrono::steady_clock::now();
  try {
    go_round(ranks.group("cp"));
  } catch (const Error& error) {
    fputs(describe(error.parts()).c_str(), stdout);
    fflush(stdout);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    throw;
  }
}

// As in a run: a rank that fails ends, which its own peers see; all of them must name the one that was killed.
void expect_death_is_named(Transport transport) {
  if (const auto rendezvous = test::rank_rendezvous()) {
    EXPECT_THROW(run_until_a_rank_dies(*rendezvous, transport), Error);
    return;
  }
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const auto exits = test::run_rank_processes(kWorld, {std::string("--gtest_filter=Transports.") + info->name()}, std::chrono::seconds(60));
  for (int rank = 0; rank < kWorld; ++rank) {
    const test::RankExit& exit = exits[static_cast<size_t>(rank)];
    if (rank == kVictim) {
      EXPECT_TRUE(WIFSIGNALED(exit.status) && WTERMSIG(exit.status) == SIGKILL) << exit.status << exit.output;
    } else {
      EXPECT_EQ(exit.status, 0) << exit.output;
      EXPECT_THAT(exit.output, testing::HasSubstr("RW-GROUP-004")) << "rank " << rank;
      EXPECT_THAT(exit.output, testing::HasSubstr("rank 2 has ended")) << "rank " << rank;
    }
  }
}

TEST(Transports, ADeathInsideARingStepIsNamedOverGloo) { expect_death_is_named(Transport::gloo); }
TEST(Transports, ADeathInsideARingStepIsNamedOverSharedMemory) { expect_death_is_named(Transport::shared_memory); }

}  // namespace
}  // namespace ringwright::worker
