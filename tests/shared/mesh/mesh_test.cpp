#include "shared/mesh/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "tests/support/error_of.h"

namespace ringwright::mesh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ErrorParts refusal(int world, const ParallelismSizes& sizes, Strategy strategy = Strategy::fsdp2) {
  return test::refusal([&] { Mesh::build(world, sizes, strategy); });
}

// T28: dimensions against the world size, world 8.
TEST(Mesh, T28aProductMustBeTheWorld) {
  const ErrorParts parts = refusal(8, {.dp = 3, .tp = 2, .cp = 2});
  EXPECT_EQ(parts.code, "RW-MESH-002");
  EXPECT_THAT(parts.what, HasSubstr("= 12"));
  EXPECT_THAT(parts.what, HasSubstr("8 ranks"));
  EXPECT_THAT(parts.action, HasSubstr("dp = 2"));
}

TEST(Mesh, T28bWorldMustDivide) {
  const ErrorParts parts = refusal(8, {.tp = 3});
  EXPECT_EQ(parts.code, "RW-MESH-001");
  EXPECT_THAT(parts.what, HasSubstr("world of 8"));
  EXPECT_THAT(parts.what, HasSubstr("= 3"));
  EXPECT_THAT(parts.action, HasSubstr("tp = 1 or 2 or 4 or 8"));
}

TEST(Mesh, T28cDpOfZeroOrLessIsInferred) {
  for (int dp : {0, -1}) {
    const ParallelismSizes sizes{.dp = dp, .tp = 2, .cp = 2};
    EXPECT_EQ(Mesh::build(8, sizes).axis_size("dp"), 2);
    EXPECT_THAT(size_warnings(sizes), ElementsAre(HasSubstr("dp = " + std::to_string(dp))));
  }
}

TEST(Mesh, T28dReplicateMustBeLessThanDp) {
  const ErrorParts parts = refusal(8, {.dp = 2, .dp_replicate = 2, .tp = 2, .cp = 2});
  EXPECT_EQ(parts.code, "RW-MESH-004");
  EXPECT_THAT(parts.what, HasSubstr("dp = 2"));
  EXPECT_THAT(parts.action, HasSubstr("dp_replicate = 1"));
}

TEST(Mesh, T28eDpMustBeAMultipleOfReplicate) {
  const ErrorParts parts = refusal(8, {.dp = 4, .dp_replicate = 3, .tp = 2});
  EXPECT_EQ(parts.code, "RW-MESH-003");
  EXPECT_THAT(parts.what, HasSubstr("dp = 4"));
  EXPECT_THAT(parts.what, HasSubstr("dp_replicate = 3"));
  EXPECT_THAT(parts.action, HasSubstr("dp_replicate = 1 or 2"));
}

// T27: expert-parallel sizes against the ranks and the experts; world 8, dp 4, cp 2.
TEST(Mesh, T27ExpertsAndRanksMustDivide) {
  const auto sizes = [](int ep) { return ParallelismSizes{.dp = 4, .cp = 2, .ep = ep}; };
  for (const int ep : {3, 16}) {
    const ErrorParts parts = refusal(8, sizes(ep));  // a, d
    EXPECT_EQ(parts.code, "RW-MESH-005");
    EXPECT_THAT(parts.action, HasSubstr("ep = 1 or 2 or 4 or 8"));
  }
  const ErrorParts parts = test::error_of([&] { check_experts(6, 8, sizes(4)); });  // b
  EXPECT_EQ(parts.code, "RW-MESH-012");
  EXPECT_THAT(parts.what, HasSubstr("6 experts"));
  EXPECT_THAT(parts.action, HasSubstr("ep = 1 or 2"));
  check_experts(8, 8, sizes(8));  // c
  EXPECT_EQ(Mesh::build(8, sizes(8)).axis_size("ep_shard"), 1);
  check_experts(6, 8, sizes(1));
}

TEST(Mesh, T28fDpIsInferredAsOne) { EXPECT_EQ(Mesh::build(8, {.tp = 2, .pp = 2, .cp = 2}).axis_size("dp"), 1); }

TEST(Mesh, ExpertSizeMustDivideItsRegion) {
  const ErrorParts parts = refusal(8, {.dp = 4, .cp = 2, .ep = 3});
  EXPECT_EQ(parts.code, "RW-MESH-005");
  EXPECT_THAT(parts.action, HasSubstr("ep = 1 or 2 or 4 or 8"));
  EXPECT_EQ(refusal(8, {.dp = 4, .cp = 2, .ep = 16}).code, "RW-MESH-005");
  EXPECT_EQ(Mesh::build(8, {.dp = 4, .cp = 2, .ep = 8}).axis_size("ep_shard"), 1);
}

TEST(Mesh, WorkedExampleOfTheContract) {
  const Mesh mesh = Mesh::build(16, {.tp = 2, .pp = 2, .cp = 2, .ep = 4});
  EXPECT_THAT(mesh.root().shape, ElementsAre(2, 1, 2, 2, 2));
  EXPECT_THAT(*mesh.coordinate(5), ElementsAre(0, 0, 1, 0, 1));
  EXPECT_THAT(mesh.group("cp", 5), ElementsAre(5, 7));
  EXPECT_THAT(mesh.group("dp_shard_cp", 5), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(mesh.group("ep", 5), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(mesh.group("ep_shard", 5), ElementsAre(1, 5));
}

TEST(Mesh, SizesThatWrapAroundAreRefused) {
  EXPECT_EQ(refusal(8, {.tp = 65536, .pp = 65536, .cp = 65536}).code, "RW-MESH-001");
  EXPECT_EQ(refusal(8, {.dp = 2147483647, .tp = 2147483647, .pp = 2147483647, .cp = 2147483647}).code, "RW-MESH-002");
  EXPECT_EQ(refusal(0, {}).code, "RW-MESH-009");
  EXPECT_EQ(refusal(2147483647, {}).code, "RW-MESH-009");
}

TEST(Mesh, RankListsMustBeDistinctAndFit) {
  EXPECT_THROW(Mesh::build(std::vector<int>{4, 4, 6, 7}, {.cp = 2}), Error);
  EXPECT_THROW(Mesh::build(std::vector<int>{4, 5, 6}, {.dp = 2, .cp = 2}), Error);
  const Mesh mesh = Mesh::build(std::vector<int>{7, 5, 3, 1}, {.dp = 2, .cp = 2});
  EXPECT_THAT(mesh.group("cp", 1), ElementsAre(3, 1));
  EXPECT_FALSE(mesh.coordinate(0).has_value());
  EXPECT_TRUE(mesh.group("cp", 0).empty());
  EXPECT_EQ(mesh.axis_size("cp"), 2);
}

TEST(Mesh, UnknownNamesListTheKnown) {
  const Mesh mesh = Mesh::build(4, {.cp = 2});
  try {
    mesh.group("CP", 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-MESH-007");
    EXPECT_THAT(error.parts().expected, HasSubstr("dp_shard_cp"));
  }
  EXPECT_THROW(valid_values("ring", 8, {}), Error);
  EXPECT_EQ(strategy_from_name("FSDP2"), Strategy::fsdp2);
  EXPECT_EQ(strategy_from_name("mfsdp"), Strategy::megatron_fsdp);
  EXPECT_THROW(strategy_from_name("zero3"), Error);
}

TEST(Mesh, StrategiesRefuseSizesThatTheyHaveNoAxisFor) {
  EXPECT_EQ(refusal(8, {.pp = 2}, Strategy::megatron_fsdp).code, "RW-MESH-008");
  EXPECT_EQ(refusal(8, {.cp = 2}, Strategy::ddp).code, "RW-MESH-008");
  EXPECT_THAT(Mesh::build(8, {.tp = 2, .cp = 2}, Strategy::megatron_fsdp).root().shape, ElementsAre(2, 2, 2));
  EXPECT_FALSE(Mesh::build(8, {}, Strategy::ddp).sizes().dp.has_value());
}

ParallelismSizes random_sizes() {
  ParallelismSizes sizes;
  sizes.pp = *rc::gen::inRange(1, 4);
  sizes.cp = *rc::gen::inRange(1, 5);
  sizes.tp = *rc::gen::inRange(1, 4);
  sizes.dp_replicate = *rc::gen::inRange(1, 4);
  return sizes;
}

TEST(MeshProperties, GroupsPartitionTheRanks) {
  EXPECT_TRUE(rc::check([] {
    ParallelismSizes sizes = random_sizes();
    const int dp = *sizes.dp_replicate * *rc::gen::inRange(2, 4);
    sizes.ep = *rc::gen::elementOf(std::vector<int>{1, sizes.tp, sizes.cp * sizes.tp, dp});
    const int world = sizes.pp * sizes.cp * sizes.tp * dp;
    const Mesh mesh = Mesh::build(world, sizes);
    for (const std::string& axis : mesh.group_axes()) {
      std::multiset<int> seen;
      for (const std::vector<int>& group : mesh.groups(axis)) {
        RC_ASSERT(static_cast<int>(group.size()) == mesh.axis_size(axis));
        seen.insert(group.begin(), group.end());
        for (int rank : group) RC_ASSERT(mesh.group(axis, rank) == group);
      }
      RC_ASSERT(static_cast<int>(seen.size()) == world);
      for (int rank = 0; rank < world; ++rank) RC_ASSERT(seen.count(rank) == 1u);
    }
  }));
}

TEST(MeshProperties, ValidValuesAreThoseThatBuild) {
  EXPECT_TRUE(rc::check([] {
    const ParallelismSizes sizes = random_sizes();
    const int world = *rc::gen::inRange(1, 49);
    const std::vector<int> values = valid_values("cp", world, sizes);
    for (int cp = 1; cp <= world + 1; ++cp) {
      ParallelismSizes candidate = sizes;
      candidate.cp = cp;
      bool builds = true;
      try {
        Mesh::build(world, candidate);
      } catch (const Error&) {
        builds = false;
      }
      RC_ASSERT(builds == (std::find(values.begin(), values.end(), cp) != values.end()));
    }
  }));
}

}  // namespace
}  // namespace ringwright::mesh
