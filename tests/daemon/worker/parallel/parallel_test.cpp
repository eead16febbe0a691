// Process groups over real processes, and what goes wrong with them.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/parallel/process_groups.h"
#include "daemon/worker/torch_environment.h"
#include "shared/base/error.h"
#include "shared/base/network_interface.h"
#include "tests/daemon/worker/support/rank_test.h"
#include "tests/support/error_of.h"

namespace ringwright::worker {
namespace {

using test::error_of;

mesh::Mesh mesh_of(int cp) {
  mesh::ParallelismSizes sizes;
  sizes.cp = cp;
  return mesh::Mesh::build(cp, sizes);
}

TEST(ProcessGroups, OneRankNeedsNoRendezvous) {
  const ProcessGroups ranks(mesh_of(1), Rendezvous{});
  EXPECT_EQ(ranks.world_size(), 1);
  EXPECT_EQ(ranks.group("cp").size, 1);
  EXPECT_FALSE(ranks.group("dp_cp").backend);
  at::Tensor x = at::ones({3});
  all_reduce_sum(x, ranks.group("world"));
  broadcast(x, 0, ranks.group("world"));
  barrier(ranks.group("world"));
  EXPECT_EQ(all_gather(x, ranks.group("cp")).size(), 1u);
  EXPECT_TRUE(at::equal(x, at::ones({3})));
}

TEST(ProcessGroups, RefusesRanksThatDoNotFitTheMesh) {
  Rendezvous rendezvous;
  rendezvous.world_size = 2;
  EXPECT_EQ(error_of([&] { ProcessGroups(mesh_of(4), rendezvous); }).code, "RW-GROUP-003");
  rendezvous.rank = 2;
  EXPECT_EQ(error_of([&] { ProcessGroups(mesh_of(2), rendezvous); }).code, "RW-GROUP-003");
  EXPECT_EQ(error_of([] { ProcessGroups(mesh_of(1), Rendezvous{}).group("zp"); }).code, "RW-GROUP-005");
}

mesh::Mesh two_of_four() {
  mesh::ParallelismSizes sizes;
  sizes.cp = 2;
  return mesh::Mesh::build(std::vector<int>{3, 1}, sizes);
}

// The list's order is the group's; ranks outside of it have the world alone.
WORLD_TEST(ProcessGroups, ARankSubsetLeavesTheOthersOut, 4, two_of_four(), "auto") {
  at::Tensor sum = at::full({1}, ranks.rank() + 1.0, at::kDouble);
  if (ranks.rank() % 2 == 0) {
    EXPECT_FALSE(ranks.member());
    EXPECT_EQ(error_of([&] { ranks.group("cp"); }).code, "RW-GROUP-009");
  } else {
    const ProcessGroup& cp = ranks.group("cp");
    EXPECT_EQ(cp.global_ranks, (std::vector<int>{3, 1}));
    EXPECT_EQ(cp.rank, ranks.rank() == 3 ? 0 : 1);
    all_reduce_sum(sum, cp);
    EXPECT_EQ(sum.item<double>(), 6.0);
    sum.fill_(ranks.rank() + 1.0);
  }
  all_reduce_sum(sum, ranks.group("world"));
  EXPECT_EQ(sum.item<double>(), 10.0);
}

MESH_TEST(ProcessGroups, DataAndContextRanksMeetInTheirOwnGroups, test::data_mesh(2, 2)) {
  const int rank = ranks.rank();
  EXPECT_EQ(ranks.group("cp").global_ranks, (std::vector<int>{rank / 2 * 2, rank / 2 * 2 + 1}));
  EXPECT_EQ(ranks.group("dp").global_ranks, (std::vector<int>{rank % 2, rank % 2 + 2}));
  EXPECT_EQ(ranks.group("dp_cp").global_ranks, (std::vector<int>{0, 1, 2, 3}));
  for (const auto& [axis, expected] : {std::pair("cp", rank / 2 * 4 + 1), std::pair("dp", rank % 2 * 2 + 2), std::pair("dp_cp", 6)}) {
    at::Tensor sum = at::full({1}, rank, at::kLong);
    all_reduce_sum(sum, ranks.group(axis));
    EXPECT_EQ(sum.item<int64_t>(), expected) << axis;
  }
}

// T42 (b)-(d): exactly one existing interface name; the error lists those of this machine.
TEST(ProcessGroups, T42RefusesWrongInterfaceNames) {
  for (const char* name : {"^lo,docker", "10.0.0.5", "127.0.0.1", "nosuch0", "lo,eth0", ""}) {
    const ErrorParts error = error_of([&] { net::check_network_interface(name); });
    EXPECT_EQ(error.code, "RW-GROUP-001") << name;
    EXPECT_THAT(error.expected, testing::HasSubstr("lo")) << name;
  }
  EXPECT_EQ(error_of([] { net::check_network_interface("lo"); }).code, "");
  ProcessGroupOptions options;
  options.network_interface = "nosuch0";
  Rendezvous rendezvous;
  rendezvous.world_size = 2;
  EXPECT_EQ(error_of([&] { ProcessGroups(mesh_of(2), rendezvous, options); }).code, "RW-GROUP-001");
}

TEST(ProcessGroups, ARankWhoseRendezvousIsNotThereSaysWhere) {
  ProcessGroupOptions options;
  options.connect_timeout = std::chrono::seconds(1);
  Rendezvous rendezvous;
  rendezvous.rank = 1;
  rendezvous.world_size = 2;
  rendezvous.port = 1;  // nobody listens there
  configure_torch(1, 1);
  testing::internal::CaptureStderr();
  const ErrorParts error = error_of([&] { ProcessGroups(mesh_of(2), rendezvous, options); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // no stack of addresses in the log
  EXPECT_EQ(error.code, "RW-GROUP-002");
  EXPECT_THAT(error.where, testing::HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(error.what, testing::Not(testing::HasSubstr("\n")));
}

RANK_TEST(Collectives, CarryValuesBetweenFourRanks, 4) {
  const ProcessGroup& cp = ranks.group("cp");
  EXPECT_EQ(cp.rank, ranks.rank());
  EXPECT_EQ(cp.global_ranks, (std::vector<int>{0, 1, 2, 3}));
  at::Tensor sum = at::full({5}, cp.rank + 1.0, at::kDouble);
  all_reduce_sum(sum, cp);
  EXPECT_TRUE(at::equal(sum, at::full({5}, 10.0, at::kDouble)));
  at::Tensor sent = at::full({2}, cp.rank, at::kLong);
  broadcast(sent, 2, cp);
  EXPECT_TRUE(at::equal(sent, at::full({2}, 2, at::kLong)));
  const auto gathered = all_gather(at::full({1, 2}, cp.rank, at::kFloat), cp);
  std::vector<at::Tensor> parts;
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(gathered[static_cast<size_t>(rank)].sum().item<double>(), 2.0 * rank);
    parts.push_back(at::full({3}, 10.0 * cp.rank + rank));
  }
  const auto received = all_to_all(parts, cp);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(received[static_cast<size_t>(rank)][0].item<double>(), 10.0 * rank + cp.rank);
  }
}

// Large enough that both directions are under way at once; an empty tensor is left out on both sides.
RANK_TEST(Collectives, TransfersShiftRoundTheRing, 3) {
  const ProcessGroup& cp = ranks.group("cp");
  const int next = (cp.rank + 1) % 3, previous = (cp.rank + 2) % 3;
  for (int round = 0; round < 3; ++round) {
    const at::Tensor out = at::full({1 << 20}, cp.rank + 3.0 * round), in = at::empty({1 << 20});
    Transfers transfers(cp, {{out, next, 0}, {at::empty({0}), next, 1}}, {{in, previous, 0}, {at::empty({0}), previous, 1}});
    transfers.wait();
    transfers.wait();
    EXPECT_TRUE(at::equal(in, at::full({1 << 20}, previous + 3.0 * round)));
  }
}

RANK_TEST(Collectives, ALostPeerIsOneClearError, 2) {
  if (ranks.rank() == 1) {
    _exit(0);
  }
  at::Tensor x = at::ones({1 << 16});
  const ErrorParts error = error_of([&] { all_reduce_sum(x, ranks.group("cp")); });
  EXPECT_EQ(error.code, "RW-GROUP-004");
  EXPECT_EQ(error.exit_code, ExitCode::run_failed);
  EXPECT_THAT(error.what, testing::Not(testing::HasSubstr("\n")));
  fflush(nullptr);
  _exit(testing::Test::HasFailure() ? 1 : 0);  // there is nobody left for a barrier
}

}  // namespace
}  // namespace ringwright::worker
