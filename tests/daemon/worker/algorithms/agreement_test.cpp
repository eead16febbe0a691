#include "daemon/worker/algorithms/agreement.h"

#include <gtest/gtest.h>

#include "tests/daemon/worker/support/rank_test.h"

namespace ringwright::worker {
namespace {

Wishes nothing() { return {.settings = std::vector<std::optional<double>>(3)}; }

void expect_equal(const Wishes& a, const Wishes& b) {
  EXPECT_EQ(a.stop, b.stop);
  EXPECT_EQ(a.stop_after_checkpoint, b.stop_after_checkpoint);
  EXPECT_EQ(a.pause, b.pause);
  EXPECT_EQ(a.checkpoint, b.checkpoint);
  EXPECT_EQ(a.settings, b.settings);
}

// Each word alone and all at once: what rank 0 wants, all ranks do; what another rank wants alone, none does, but for a stop.
RANK_TEST(Agreement, RankZeroDecidesForAll, 3) {
  const ProcessGroup& world = ranks.group("world");
  Wishes all = nothing();
  all.stop_after_checkpoint = all.pause = all.checkpoint = true;
  all.settings = {0.1, std::nullopt, 1.0 / 3};
  expect_equal(agree(world.rank == 0 ? all : nothing(), world), all);
  expect_equal(agree(world.rank == 2 ? all : nothing(), world), nothing());
  Wishes stop = nothing();
  stop.stop = true;
  for (int asked = 0; asked < world.size; ++asked) expect_equal(agree(world.rank == asked ? stop : nothing(), world), stop);
}

TEST(Agreement, OneRankAgreesWithItself) {
  Wishes wishes = nothing();
  wishes.pause = true;
  wishes.settings[1] = 2.5;
  expect_equal(agree(wishes, ProcessGroup{}), wishes);
}

}  // namespace
}  // namespace ringwright::worker
