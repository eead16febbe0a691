// What each rank sees of the others' keys, and how much of them travels. Pure arithmetic.
#include "daemon/worker/context_parallel/ring_plan.h"

#include <gtest/gtest.h>

#include <tuple>

namespace ringwright::worker {
namespace {

using Part = std::tuple<int64_t, int64_t, int64_t>;

std::vector<Part> parts(const RingPlan& plan, int source) {
  std::vector<Part> result;
  for (const Rectangle& rectangle : plan.rectangles(source)) {
    result.emplace_back(rectangle.query_start, rectangle.query_length, rectangle.key_length);
  }
  return result;
}

// cp 2, 16 tokens: rank 0 holds [0,4) and [12,16), rank 1 [4,12).
TEST(RingPlan, RoundRobinHasOneRectangleASource) {
  const auto layout = layout::make_layout("round_robin", 2);
  const RingPlan first(*layout, 8, 0, true), second(*layout, 8, 1, true);
  EXPECT_EQ(parts(first, 1), (std::vector<Part>{{4, 4, 8}}));   // the tail sees all of rank 1, the head nothing
  EXPECT_EQ(parts(second, 0), (std::vector<Part>{{0, 8, 4}}));  // all see rank 0's head, none its tail
  EXPECT_EQ(first.key_length(0, 1), 4);                         // so only rank 0's head travels
  EXPECT_EQ(first.key_length(1, 1), 8);
  EXPECT_EQ(first.gradient_length(0, 1), 4);
}

TEST(RingPlan, ContiguousLooksBackOnly) {
  const auto layout = layout::make_layout("contiguous", 3);
  const RingPlan middle(*layout, 4, 1, true);
  EXPECT_EQ(parts(middle, 0), (std::vector<Part>{{0, 4, 4}}));
  EXPECT_EQ(parts(middle, 2), (std::vector<Part>{}));
  EXPECT_EQ(middle.key_length(0, 2), 4);  // rank 2 still needs rank 0's keys
  EXPECT_EQ(middle.key_length(1, 2), 0);  // rank 0 needs none of rank 1's
  EXPECT_EQ(middle.key_length(2, 1), 0);  // nobody needs rank 2's
  EXPECT_EQ(middle.gradient_length(2, 2), 0);
}

// Every (query, key) pair of the causal triangle is computed exactly once, and every rank has the same number of them.
TEST(RingPlan, CoversTheCausalTriangleEvenly) {
  for (const char* name : {"round_robin", "contiguous"}) {
    for (int cp = 1; cp <= 8; ++cp) {
      const auto layout = layout::make_layout(name, cp);
      const int64_t local = 6, length = local * cp;
      int64_t pairs = 0, most = 0, least = length * length;
      for (int rank = 0; rank < cp; ++rank) {
        const RingPlan plan(*layout, local, rank, true);
        int64_t own = local * (local + 1) / 2;
        for (int source = 0; source < cp; ++source) {
          for (const Rectangle& rectangle : plan.rectangles(source)) {
            own += rectangle.query_length * rectangle.key_length;
            EXPECT_LE(rectangle.key_length, plan.key_length(source, (rank - source + cp) % cp));
          }
        }
        pairs += own;
        most = std::max(most, own);
        least = std::min(least, own);
      }
      EXPECT_EQ(pairs, length * (length + 1) / 2) << name << " " << cp;
      if (std::string(name) == "round_robin") {
        EXPECT_EQ(most, least) << cp;
      }
    }
  }
}

TEST(RingPlan, FullMaskSeesEverything) {
  const auto layout = layout::make_layout("round_robin", 3);
  const RingPlan plan(*layout, 4, 0, false);
  EXPECT_EQ(parts(plan, 1), (std::vector<Part>{{0, 4, 4}}));
  EXPECT_EQ(parts(plan, 2), (std::vector<Part>{{0, 4, 4}}));
}

}  // namespace
}  // namespace ringwright::worker
