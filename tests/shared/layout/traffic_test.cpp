#include "shared/layout/traffic.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <set>

#include "shared/layout/methods.h"
#include "tests/shared/layout/support.h"

namespace ringwright::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr AttentionShape kOneByte{.heads = 4, .kv_heads = 2, .head_size = 1, .element_bytes = 1};  // 4 bytes a key slot

// Head-tail at cp 2 over 8 causal positions: rank 0 (0, 1, 6, 7) reads all of rank 1 (2..5); rank 1 reads 0 and 1 alone.
TEST(Traffic, ARingSendsWhatIsRead) {
  const auto layout = make_layout("round_robin", 2);
  const auto ring = traffic("ring", *layout, MaskArea({}, 8), 8, kOneByte);
  ASSERT_TRUE(ring);
  EXPECT_THAT(*ring, ElementsAre(RankTraffic{4 * 4, 2 * 16}, RankTraffic{2 * 4, 4 * 16}));  // the first block is kept for the way back
  EXPECT_THAT(*traffic("ranged", *layout, MaskArea({}, 8), 8, kOneByte),
              ElementsAre(RankTraffic{4 * 4, 4 * 4 + 2 * 16}, RankTraffic{2 * 4, 2 * 4 + 4 * 16}));
  EXPECT_THAT(*traffic("all_gather", *layout, MaskArea({}, 8), 8, kOneByte), ElementsAre(RankTraffic{16, 16 + 64}, RankTraffic{16, 16 + 64}));
}

TEST(Traffic, AllToAllMovesHeadsWhereTheyDivide) {
  const auto layout = make_layout("round_robin", 2);
  const MaskArea area({}, 8);
  // 4 slots of the other rank: 2 of 4 heads of queries and outputs, 1 of 2 of keys and values.
  EXPECT_EQ(traffic("all_to_all", *layout, area, 8, kOneByte)->front().forward_bytes, 4 * (2 + 2 + 1 + 1));
  EXPECT_FALSE(traffic("all_to_all", *layout, area, 8, {.heads = 3, .kv_heads = 3, .head_size = 1, .element_bytes = 1}));
  // One KV head goes to both ranks.
  EXPECT_EQ(traffic("all_to_all", *layout, area, 8, {.heads = 4, .kv_heads = 1, .head_size = 1, .element_bytes = 1})->front().forward_bytes, 24);
}

__extension__ using Wide = __int128;

// The largest that is let in counts right, by arithmetic that has more bits; beyond it nothing wraps.
TEST(Traffic, BytesBeyond64BitsAreRefused) {
  // Rank 1 reads the other half, keys and values. Bytes of the backward pass, of both ranks together, in halves: keys again where they were not
  // kept, gradients of keys and values.
  const std::map<std::string, int> backward_halves = {{"ring", 1}, {"ranged", 2}, {"all_gather", 4}, {"all_to_all", 2}};
  const auto layout = make_layout("contiguous", 2);
  const int64_t length = int64_t{1} << 30;
  const MaskArea area({}, length);
  const AttentionShape large{.heads = 1 << 12, .kv_heads = 1 << 12, .head_size = 1 << 12, .element_bytes = 16};
  for (const std::string& method : method_names()) {
    const auto ranks = traffic(method, *layout, area, length, large).value_or(std::vector<RankTraffic>());
    if (const auto halves = backward_halves.find(method); halves != backward_halves.end()) {
      const Wide half = Wide{length} / 2 * 2 * large.kv_heads * large.head_size * large.element_bytes;
      ASSERT_EQ(ranks.size(), 2U) << method;
      EXPECT_TRUE(Wide{ranks[1].forward_bytes} == half) << method << ": " << ranks[1].forward_bytes;
      EXPECT_TRUE(Wide{ranks[0].backward_bytes} + ranks[1].backward_bytes == halves->second * half) << method;
    }
    AttentionShape next = large;
    next.element_bytes *= 2;
    EXPECT_EQ(refusal([&] { traffic(method, *layout, area, length, next); }).code, "RW-LAYOUT-004") << method << ": twice the largest";
    const int64_t huge = std::numeric_limits<int32_t>::max();
    EXPECT_EQ(refusal([&] { traffic(method, *layout, area, length, {huge, huge, huge, huge}); }).code, "RW-LAYOUT-004") << method;
    const int64_t most = std::numeric_limits<int64_t>::max();
    EXPECT_EQ(refusal([&] { traffic(method, *layout, area, length, {most, most, most, most}); }).code, "RW-LAYOUT-004") << method;
  }
}

// cp 4: pairs of ranks exchange heads over their 4 tokens each, then the two pairs are a ring: pair 0 has positions 0..3 and 12..15.
TEST(Traffic, AGridExchangesHeadsAndSendsARingOfTheRest) {
  const auto layout = make_layout("round_robin", 4);
  const MaskArea area({}, 16);
  const AttentionShape shape{.heads = 2, .kv_heads = 2, .head_size = 1, .element_bytes = 1};
  const auto grid = traffic("all_to_all+ring", *layout, area, 16, shape);
  ASSERT_TRUE(grid);
  const AttentionShape one_head{.heads = 1, .kv_heads = 1, .head_size = 1, .element_bytes = 1};
  const auto ring = traffic("ring", *merge_ranks(*layout, 16, 2), area, 16, one_head);
  for (size_t rank = 0; rank < 4; ++rank) {
    const int64_t exchanged = 4 * (1 + 1 + 1 + 1);  // one head of the neighbour's 4 tokens: q, k, v; and of the outputs
    EXPECT_EQ((*grid)[rank].forward_bytes, exchanged + (*ring)[rank / 2].forward_bytes);
    EXPECT_EQ((*grid)[rank].backward_bytes, exchanged + (*ring)[rank / 2].backward_bytes);
  }
  EXPECT_EQ((*grid)[0].forward_bytes, 16 + 8 * 2) << "pair 0 ends the sequence and reads all 8 keys of pair 1";
  EXPECT_FALSE(traffic("all_to_all+ring", *make_layout("round_robin", 3), MaskArea({}, 12), 12, shape)) << "3 has no proper divisor";
}

TEST(Traffic, EveryMethodHasAnAnswer) {
  const auto layout = make_layout("contiguous", 4);
  for (const MethodEntry& method : methods()) {
    EXPECT_TRUE(traffic(method.name, *layout, MaskArea({}, 64), 64, {.heads = 4, .kv_heads = 4})) << method.name;
    EXPECT_FALSE(method.about.empty());
  }
}

TEST(Traffic, NothingMovesWhereEveryRankHoldsAll) {
  EXPECT_THAT(*traffic("ring", *make_layout("none", 2), MaskArea({}, 8), 8, kOneByte), ElementsAre(RankTraffic{}, RankTraffic{}));
}

TEST(Traffic, DocumentsOnOneRankDoNotTravel) {
  const auto layout = make_layout("contiguous", 2);
  const MaskArea area({.document_offsets = {0, 4, 8}}, 8);
  EXPECT_THAT(*traffic("ranged", *layout, area, 8, kOneByte), ElementsAre(RankTraffic{}, RankTraffic{}));
  EXPECT_THAT(*traffic("ring", *layout, area, 8, kOneByte), ElementsAre(RankTraffic{}, RankTraffic{}));
}

TEST(Traffic, BadArguments) {
  const auto layout = make_layout("contiguous", 2);
  const MaskArea area({}, 8);
  EXPECT_THAT(refusal([&] { traffic("rings", *layout, area, 8, kOneByte); }).action, HasSubstr("ring"));
  EXPECT_EQ(refusal([&] { traffic("ring", *layout, area, 8, {.heads = 3, .kv_heads = 2}); }).code, "RW-LAYOUT-004");
}

// The definition, position by position and hop by hop.
TEST(TrafficProperties, EqualTheDefinition) {
  EXPECT_TRUE(rc::check([] {
    const int cp = *rc::gen::inRange(1, 6);
    const int64_t length = *rc::gen::inRange<int64_t>(0, 70);
    const Mask mask = any_mask(length);
    const auto layout = make_layout(*rc::gen::element<std::string>("round_robin", "contiguous", "balanced"), cp,
                                    {.sequence_length = length, .chunk = 4, .mask = mask});
    const int64_t padded = layout->padded_length(length);
    const MaskArea area(mask, length);
    std::vector<int64_t> ring(static_cast<size_t>(cp), 0), again = ring, home = ring, ranged = ring, owners = ring;
    for (int64_t key = 0; key < padded; ++key) {
      const int owner = layout->owner(padded, key).rank;
      std::set<int> hops;
      for (int64_t query = 0; query < length; ++query) {
        if (key < length && sees(mask, query, key)) hops.insert((layout->owner(padded, query).rank - owner + cp) % cp);
      }
      hops.erase(0);
      for (int hop : hops) ++ranged[static_cast<size_t>((owner + hop) % cp)];
      owners[static_cast<size_t>(owner)] += static_cast<int64_t>(hops.size());
      if (hops.empty()) continue;
      for (int hop = 1; hop <= *hops.rbegin(); ++hop) ++ring[static_cast<size_t>((owner + hop) % cp)];
      for (int hop = 2; hop <= *hops.rbegin(); ++hop) ++again[static_cast<size_t>((owner + hop) % cp)];
      for (int hop = *hops.begin() + 1; hop <= cp; ++hop) ++home[static_cast<size_t>((owner + hop) % cp)];
    }
    const auto by_ring = traffic("ring", *layout, area, padded, kOneByte), by_range = traffic("ranged", *layout, area, padded, kOneByte);
    for (size_t rank = 0; rank < static_cast<size_t>(cp); ++rank) {
      RC_ASSERT((*by_ring)[rank] == (RankTraffic{4 * ring[rank], 4 * again[rank] + 16 * home[rank]}));
      RC_ASSERT((*by_range)[rank] == (RankTraffic{4 * ranged[rank], 4 * ranged[rank] + 16 * owners[rank]}));
    }
  }));
}

}  // namespace
}  // namespace ringwright::layout
