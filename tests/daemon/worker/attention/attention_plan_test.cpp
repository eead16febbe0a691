// Which tiles a rank computes and what each rank reads of the others, against the mask pair by pair. Pure arithmetic.
#include "daemon/worker/context_parallel/attention_plan.h"

#include <gtest/gtest.h>

#include "tests/daemon/worker/attention/mask_reference.h"
#include "tests/deep_tier.h"

namespace ringwright::worker {
namespace {

using test::NamedLayout;
using test::NamedMask;
using Kind = AttentionTile::Kind;

bool tile_sees(const AttentionTile& tile, int64_t i, int64_t j) {
  if (tile.kind == Kind::full) return true;
  if (tile.kind == Kind::causal) return j <= i;
  const int64_t distance = tile.distance + i - j;
  return distance >= 0 && distance < tile.window;
}

// How often each pair of local slots is computed.
std::vector<int> computed(const std::vector<AttentionTile>& tiles, int64_t queries, int64_t keys) {
  std::vector<int> counts(static_cast<size_t>(queries * keys), 0);
  for (const AttentionTile& tile : tiles) {
    for (int64_t i = 0; i < tile.queries.length; ++i) {
      for (int64_t j = 0; j < tile.keys.length; ++j) {
        if (tile_sees(tile, i, j)) ++counts[static_cast<size_t>((tile.queries.start + i) * keys + tile.keys.start + j)];
      }
    }
  }
  return counts;
}

void expect_exactly_the_mask(const NamedLayout& c, int rank) {
  const int64_t local = c.padded_length / c.layout->cp();
  const AttentionPlan plan(*c.layout, local, rank, c.mask);
  const std::vector<int64_t> own = c.layout->local_token_global_indices(c.padded_length, rank);
  for (int source = 0; source < c.layout->cp(); ++source) {
    const std::vector<int64_t> theirs = c.layout->local_token_global_indices(c.padded_length, source);
    const std::vector<int> counts = computed(plan.tiles(source), local, local);
    std::vector<SlotRange> read;
    for (int64_t j = 0; j < local; ++j) {
      bool any = false;
      for (int64_t i = 0; i < local; ++i) {
        const bool visible = test::sees(c.mask, own[static_cast<size_t>(i)], theirs[static_cast<size_t>(j)]);
        ASSERT_EQ(counts[static_cast<size_t>(i * local + j)], visible ? 1 : 0)
            << "rank " << rank << " source " << source << " pair " << i << "," << j;
        any = any || visible;
      }
      if (any) read.push_back({j, 1});
    }
    if (source == rank) continue;
    EXPECT_EQ(plan.reads(rank, source), SlotRanges(read)) << "rank " << rank << " source " << source;
  }
}

// T04 and packed documents: nothing of a mask is dropped, nothing is added, and a key that nobody reads does not travel.
TEST(AttentionPlan, ComputesEveryVisiblePairOnceAndReadsNothingElse) {
  const std::vector<int64_t> lengths = test::by_tier<std::vector<int64_t>>({1, 7, 60}, {1, 2, 3, 5, 8, 13, 33, 60, 131, 200});
  for (const int64_t tokens : lengths) {
    for (const NamedMask& mask : test::all_masks(tokens)) {
      for (int cp = 1; cp <= 4; ++cp) {
        for (const NamedLayout& c : test::all_layouts(cp, tokens, mask.mask)) {
          SCOPED_TRACE(mask.name + ", " + c.name + ", cp " + std::to_string(cp) + ", " + std::to_string(tokens) + " tokens");
          for (int rank = 0; rank < cp; ++rank) expect_exactly_the_mask(c, rank);
        }
      }
    }
  }
}

// Windows around the widths at which the cut into blocks changes.
TEST(AttentionPlan, WindowsOfAllWidthsAreExact) {
  const int64_t tokens = test::by_tier<int64_t>(1300, 2600);
  for (const int64_t window : {2, 127, 128, 129, 512, 513, 700, 1299, 1300, 5000}) {
    const layout::Mask mask{.kind = layout::Mask::Kind::causal, .document_offsets = {}, .window = window, .prefix_tree = {}};
    SCOPED_TRACE(window);
    expect_exactly_the_mask({"round_robin", layout::make_layout("round_robin", 2), tokens, mask}, 0);
    expect_exactly_the_mask({"none", layout::make_layout("none", 1), tokens, mask}, 0);
  }
}

// The area that a window's tiles compute stays near that of the mask: no S x S work for a narrow band.
TEST(AttentionPlan, AWindowCostsItsBand) {
  const int64_t tokens = 16384;
  for (const int64_t window : {64, 1024, 4096}) {
    const layout::Mask mask{.kind = layout::Mask::Kind::causal, .document_offsets = {}, .window = window, .prefix_tree = {}};
    const AttentionPlan plan(*layout::make_layout("none", 1), tokens, 0, mask);
    int64_t area = 0;
    for (const AttentionTile& tile : plan.tiles(0)) {
      area += tile.kind == Kind::causal ? tile.queries.length * (tile.queries.length + 1) / 2 : tile.queries.length * tile.keys.length;
    }
    EXPECT_LE(area, tokens * (window + 512)) << window;
  }
}

// cp 2, 16 tokens: rank 0 holds [0,4) and [12,16), rank 1 [4,12).
TEST(AttentionPlan, RoundRobinIsOneSquareAndOneRectangleASource) {
  const auto layout = layout::make_layout("round_robin", 2);
  const RingPlan first(*layout, 8, 0, {}), second(*layout, 8, 1, {});
  const std::vector<AttentionTile> square = {{Kind::causal, {0, 8}, {0, 8}}};
  EXPECT_EQ(first.attention().tiles(0), square);
  EXPECT_EQ(second.attention().tiles(1), square);
  EXPECT_EQ(first.attention().tiles(1), (std::vector<AttentionTile>{{Kind::full, {4, 4}, {0, 8}}}));  // the tail sees all of rank 1, the head nothing
  EXPECT_EQ(second.attention().tiles(0), (std::vector<AttentionTile>{{Kind::full, {0, 8}, {0, 4}}}));  // all see rank 0's head, none its tail
  EXPECT_EQ(first.outgoing(1), SlotRanges({{0, 4}}));                                                  // so only rank 0's head travels
  EXPECT_EQ(first.incoming(1), SlotRanges({{0, 8}}));
  EXPECT_EQ(first.outgoing_gradient(1), SlotRanges({{0, 8}}));
  EXPECT_EQ(first.incoming_gradient(1), SlotRanges({{0, 4}}));
}

TEST(AttentionPlan, RoundRobinStaysOneCallASourceOnManyRanks) {
  for (const int cp : {3, 4, 8}) {
    const auto layout = layout::make_layout("round_robin", cp);
    for (int rank = 0; rank < cp; ++rank) {
      const AttentionPlan plan(*layout, 24, rank, {});
      for (int source = 0; source < cp; ++source) EXPECT_EQ(plan.tiles(source).size(), 1U) << cp << " " << rank << " " << source;
    }
  }
}

TEST(AttentionPlan, PackedDocumentsAreOneSquareEach) {
  const layout::Mask mask{.kind = layout::Mask::Kind::causal, .document_offsets = {0, 8, 24, 32}, .window = 0, .prefix_tree = {}};
  layout::Options options;
  options.document_offsets = mask.document_offsets;
  const AttentionPlan plan(*layout::make_layout("thd", 2, options), 16, 0, mask);
  EXPECT_EQ(plan.tiles(0),
            (std::vector<AttentionTile>{{Kind::causal, {0, 4}, {0, 4}}, {Kind::causal, {4, 8}, {4, 8}}, {Kind::causal, {12, 4}, {12, 4}}}));
  EXPECT_EQ(plan.tiles(1), (std::vector<AttentionTile>{{Kind::full, {2, 2}, {0, 4}}, {Kind::full, {8, 4}, {4, 8}}, {Kind::full, {14, 2}, {12, 4}}}));
}

// What makes a hop is what the ranks behind it read; what a rank sends is what the next one expects.
TEST(RingPlan, NeighboursAgreeOnWhatTravels) {
  for (const NamedMask& mask : test::all_masks(60)) {
    for (const int cp : {2, 3, 4}) {
      for (const NamedLayout& c : test::all_layouts(cp, 60, mask.mask)) {
        SCOPED_TRACE(mask.name + ", " + c.name + ", cp " + std::to_string(cp));
        const int64_t local = c.padded_length / cp;
        for (int rank = 0; rank < cp; ++rank) {
          const RingPlan own(*c.layout, local, rank, c.mask), next(*c.layout, local, (rank + 1) % cp, c.mask);
          for (int step = 1; step < cp; ++step) {
            EXPECT_EQ(own.outgoing(step), next.incoming(step));
            EXPECT_EQ(own.outgoing_gradient(step), next.incoming_gradient(step));
            for (const SlotRange& range : own.attention().reads(rank, own.source(step)).ranges()) EXPECT_TRUE(own.incoming(step).contains(range));
          }
        }
      }
    }
  }
}

TEST(SlotRanges, JoinsTouchingRangesAndFindsGaps) {
  SlotRanges ranges({{8, 2}, {0, 3}, {3, 1}, {6, 0}});
  EXPECT_EQ(ranges.ranges(), (std::vector<SlotRange>{{0, 4}, {8, 2}}));
  EXPECT_EQ(ranges.length(), 6);
  EXPECT_EQ(ranges.packed_offset(9), 5);
  EXPECT_EQ(ranges.gaps({2, 10}), (std::vector<SlotRange>{{4, 4}, {10, 2}}));
  EXPECT_TRUE(ranges.contains({1, 3}));
  EXPECT_FALSE(ranges.contains({3, 2}));
  EXPECT_FALSE(ranges.intersects({4, 4}));
  ranges.add({4, 4});
  EXPECT_EQ(ranges.ranges(), (std::vector<SlotRange>{{0, 10}}));
}

}  // namespace
}  // namespace ringwright::worker
