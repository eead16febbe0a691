// Explicit meshes: a named grid of ranks is the same topology as one that was built from sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "shared/mesh/mesh.h"
#include "tests/support/error_of.h"

namespace ringwright::mesh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string code_of(const Submesh& grid, int ep = 1) {
  return test::refusal([&] { Mesh::from_grid(grid, ep); }).code;
}

std::vector<int> count_to(int size) {
  std::vector<int> ranks(static_cast<size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

TEST(ExplicitMesh, AnswersAsTheSameMeshFromSizes) {
  const Mesh built = Mesh::build(16, {.dp_replicate = 2, .tp = 2, .cp = 2});
  const Mesh given = Mesh::from_grid({{"dp_replicate", "dp_shard", "cp", "tp"}, {2, 2, 2, 2}, count_to(16)});
  for (const std::string& axis : built.group_axes()) EXPECT_EQ(given.groups(axis), built.groups(axis)) << axis;
  EXPECT_EQ(given.sizes().cp, 2);
  EXPECT_EQ(given.sizes().pp, 1);  // an axis that is not there
  EXPECT_EQ(given.sizes().dp, 4);
  EXPECT_THAT(*given.coordinate(5), ElementsAre(0, 1, 0, 1));
}

// The grid's own order of axes stays: its ranks are found where the grid has them.
TEST(ExplicitMesh, AxesMayComeInAnyOrder) {
  const Mesh mesh = Mesh::from_grid({{"cp", "dp_shard"}, {2, 3}, {5, 4, 3, 2, 1, 0}});
  EXPECT_THAT(mesh.group("cp", 5), ElementsAre(5, 2));
  EXPECT_THAT(mesh.group("dp_shard", 5), ElementsAre(5, 4, 3));
  EXPECT_THAT(mesh.group("dp_shard_cp", 1), ElementsAre(5, 2, 4, 1, 3, 0));  // dp_shard before cp, whatever the grid's order
  EXPECT_THAT(*mesh.coordinate(1), ElementsAre(1, 1));
  EXPECT_THAT(mesh.root().axes, ElementsAre("cp", "dp_shard"));
}

TEST(ExplicitMesh, OneDataAxisAsMegatronHasIt) {
  const Mesh mesh = Mesh::from_grid({{"pp", "dp", "cp"}, {2, 2, 2}, count_to(8)});
  EXPECT_EQ(mesh.sizes().dp, 2);
  EXPECT_FALSE(mesh.sizes().dp_replicate.has_value());
  EXPECT_THAT(mesh.group("dp_cp", 6), ElementsAre(4, 5, 6, 7));
  EXPECT_THROW(mesh.group("dp_shard", 0), Error);
  EXPECT_FALSE(mesh.fsdp_mesh(0).has_value());
}

TEST(ExplicitMesh, ExpertsLieOverEachStage) {
  const Mesh mesh = Mesh::from_grid({{"pp", "dp_shard", "cp"}, {2, 2, 2}, count_to(8)}, 2);
  EXPECT_THAT(mesh.group("ep", 6), ElementsAre(6, 7));
  EXPECT_THAT(mesh.group("ep_shard", 6), ElementsAre(4, 6));
  EXPECT_EQ(code_of({{"cp"}, {6}, count_to(6)}, 4), "RW-MESH-005");
}

TEST(ExplicitMesh, RefusesGridsThatAreNone) {
  EXPECT_EQ(code_of({{"data", "cp"}, {2, 2}, count_to(4)}), "RW-MESH-007");
  EXPECT_EQ(code_of({{"cp", "cp"}, {2, 2}, count_to(4)}), "RW-MESH-011");
  EXPECT_EQ(code_of({{"dp_shard_cp"}, {4}, count_to(4)}), "RW-MESH-011");
  EXPECT_EQ(code_of({{"dp", "dp_shard"}, {2, 2}, count_to(4)}), "RW-MESH-011");
  EXPECT_EQ(code_of({{"dp_shard", "cp"}, {4}, count_to(4)}), "RW-MESH-011");
  EXPECT_EQ(code_of({{"dp_shard", "cp"}, {2, 0}, count_to(4)}), "RW-MESH-011");
  EXPECT_EQ(code_of({{"dp_shard", "cp"}, {2, 3}, count_to(4)}), "RW-MESH-011");
  EXPECT_EQ(code_of({{"dp_shard", "cp"}, {65536, 65536}, count_to(4)}), "RW-MESH-011");
  EXPECT_EQ(code_of({{"cp"}, {2}, {3, 3}}), "RW-MESH-006");
  EXPECT_EQ(code_of({{}, {}, {}}), "RW-MESH-011");
}

TEST(MeshAxisNames, KnowRootsViewsAndExperts) {
  EXPECT_NO_THROW(check_axis_names({"pp", "dp_replicate", "dp_shard", "cp", "tp", "dp", "dp_shard_cp", "dp_cp", "ep", "ep_shard"}));
  try {
    check_axis_names({"cp", "DP"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-MESH-007");
    EXPECT_THAT(error.parts().what, HasSubstr("DP"));
    EXPECT_THAT(error.parts().expected, HasSubstr("ep_shard"));
  }
}

// Shuffling the axes and the grid alike changes no group.
TEST(MeshProperties, TheOrderOfTheAxesOfAGridChangesNoGroup) {
  EXPECT_TRUE(rc::check([] {
    const int dp = *rc::gen::inRange(1, 4), cp = *rc::gen::inRange(1, 4), tp = *rc::gen::inRange(1, 4);
    const std::vector<int> ranks = count_to(dp * cp * tp);
    std::vector<int> transposed;
    for (int t = 0; t < tp; ++t)
      for (int d = 0; d < dp; ++d)
        for (int c = 0; c < cp; ++c) transposed.push_back((d * cp + c) * tp + t);
    const Mesh one = Mesh::from_grid({{"dp_shard", "cp", "tp"}, {dp, cp, tp}, ranks});
    const Mesh other = Mesh::from_grid({{"tp", "dp_shard", "cp"}, {tp, dp, cp}, transposed});
    for (const std::string& axis : one.group_axes()) RC_ASSERT(one.groups(axis) == other.groups(axis));
  }));
}

}  // namespace
}  // namespace ringwright::mesh
