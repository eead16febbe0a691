#include "shared/layout/layout.h"

#include <gmock/gmock.h>

#include "shared/layout/mask_area.h"
#include "tests/shared/layout/support.h"

namespace ringwright::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// T02: ids 0..7, one sequence, cp 2, head-tail.
TEST(Layout, T02HeadTailPositions) {
  const auto layout = make_layout("round_robin", 2);
  EXPECT_THAT(layout->local_token_global_indices(8, 0), ElementsAre(0, 1, 6, 7));
  EXPECT_THAT(layout->local_token_global_indices(8, 1), ElementsAre(2, 3, 4, 5));
}

// T03 (a): 7 tokens at cp 2 are padded to 8, never cut to 6; position 7 is padding.
TEST(Layout, T03aOddLengthIsPaddedUp) {
  const auto layout = make_layout("round_robin", 2);
  EXPECT_EQ(layout->padded_length(7), 8);
  EXPECT_THAT(layout->local_token_global_indices(8, 0), ElementsAre(0, 1, 6, 7));
}

// T03 (b): 2999 tokens at cp 4 are padded to 3000, chunks of 375.
TEST(Layout, T03bChunksOf375) {
  const auto layout = make_layout("round_robin", 4);
  EXPECT_EQ(layout->padded_length(2999), 3000);
  for (int rank = 0; rank < 3; ++rank) {
    const std::vector<layout::Run> runs = layout->runs(3000, rank);
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0], (layout::Run{rank, 0, rank * 375, 375, 0}));
    EXPECT_EQ(runs[1], (layout::Run{rank, 375, (7 - rank) * 375, 375, 0}));
  }
  EXPECT_THAT(layout->runs(3000, 3), ElementsAre(layout::Run{3, 0, 3 * 375, 750, 0}));  // its two chunks touch
}

TEST(Layout, AMissedDivisorNamesTheNumbersAndOffersLengths) {
  const ErrorParts parts = refusal([] { make_layout("round_robin", 4)->local_token_global_indices(2999, 0); });
  EXPECT_EQ(parts.code, "RW-LAYOUT-001");
  EXPECT_THAT(parts.what, HasSubstr("2999"));
  EXPECT_THAT(parts.what, HasSubstr("divisible"));
  EXPECT_THAT(parts.what, HasSubstr("cp = 4"));
  EXPECT_THAT(parts.expected, HasSubstr("2992 or 3000"));
}

TEST(Layout, ContiguousPadsToItsMultipleAndMapsWhateverDividesByCp) {
  const auto layout = make_layout("contiguous", 2, {.pad_multiple = 4});
  EXPECT_EQ(layout->padded_length(6), 8);
  EXPECT_THAT(layout->local_token_global_indices(8, 1), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(layout->local_token_global_indices(6, 1), ElementsAre(3, 4, 5));
}

TEST(Layout, BadArgumentsAreRefused) {
  EXPECT_EQ(refusal([] { make_layout("round-robin", 2); }).code, "RW-LAYOUT-003");
  EXPECT_THAT(refusal([] { make_layout("round-robin", 2); }).action, HasSubstr("round_robin"));
  EXPECT_EQ(refusal([] { make_layout("none", 0); }).code, "RW-LAYOUT-004");
  EXPECT_EQ(refusal([] { make_layout("none", kCpMax + 1); }).code, "RW-LAYOUT-004");
  EXPECT_EQ(refusal([] { make_layout("contiguous", 2, {.pad_multiple = -1}); }).code, "RW-LAYOUT-004");
  EXPECT_EQ(refusal([] { make_layout("round_robin", 2)->local_token_global_indices(8, 2); }).code, "RW-LAYOUT-002");
  EXPECT_EQ(refusal([] { make_layout("round_robin", 2)->owner(8, 8); }).code, "RW-LAYOUT-006");
  EXPECT_EQ(refusal([] { make_layout("round_robin", 2)->owner(0, 0); }).code, "RW-LAYOUT-006");
  EXPECT_EQ(refusal([] { make_layout("round_robin", 2)->padded_length(-1); }).code, "RW-LAYOUT-005");
  EXPECT_EQ(refusal([] { make_layout("round_robin", 2)->padded_length(INT64_MAX); }).code, "RW-LAYOUT-005");
}

TEST(Layout, HeadTailBalancesCausalWorkAndContiguousDoesNot) {
  const auto head_tail = make_layout("round_robin", 4);
  const auto contiguous = make_layout("contiguous", 4);
  const MaskArea area({}, 4096);
  EXPECT_EQ(head_tail->work(area, 4096, 0), head_tail->work(area, 4096, 3));
  EXPECT_GT(contiguous->work(area, 4096, 3), 6 * contiguous->work(area, 4096, 0));
}

TEST(Layout, ThdIsHeadTailInsideEachDocument) {
  const auto layout = make_layout("thd", 2, {.document_offsets = {0, 4, 4, 12}});
  EXPECT_THAT(layout->local_token_global_indices(12, 0), ElementsAre(0, 3, 4, 5, 10, 11));
  EXPECT_THAT(layout->local_token_global_indices(12, 1), ElementsAre(1, 2, 6, 7, 8, 9));
  EXPECT_EQ(layout->runs(12, 0).back().document, 2);
  EXPECT_EQ(layout->stream_length(), 12);
  EXPECT_EQ(layout->facts(2, 6), (Facts{.index_map = true, .padded_length = 12, .row_shape = {2, 6}}));
}

TEST(Layout, ThdAtOneRankTakesDocumentsOfAnyLength) {
  EXPECT_THAT(make_layout("thd", 1, {.document_offsets = {0, 3, 5}})->local_token_global_indices(5, 0), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Layout, ThdRefusesDocumentsThatDoNotSplit) {
  const auto of = [](std::vector<int64_t> offsets) { return refusal([&] { make_layout("thd", 4, {.document_offsets = offsets}); }); };
  EXPECT_EQ(of({}).code, "RW-LAYOUT-007");
  EXPECT_EQ(of({0}).code, "RW-LAYOUT-009");
  EXPECT_EQ(of({0, 0}).code, "RW-LAYOUT-009");
  EXPECT_EQ(of({8, 16}).code, "RW-LAYOUT-009");
  EXPECT_EQ(of({0, 16, 8}).code, "RW-LAYOUT-009");
  EXPECT_THAT(of({0, 8, 20}).what, HasSubstr("offset 2 is 20, which is not divisible by 8"));
}

TEST(Layout, AStreamsLayoutKnowsNoOtherLength) {
  const auto thd = make_layout("thd", 2, {.document_offsets = {0, 4, 12}});
  EXPECT_THAT(refusal([&] { thd->local_token_global_indices(16, 0); }).what, HasSubstr("16 does not match the map, which was made for 12"));
  EXPECT_EQ(refusal([&] { thd->padded_length(8); }).code, "RW-LAYOUT-008");
  const auto balanced = make_layout("balanced", 2, {.sequence_length = 30, .chunk = 8});
  EXPECT_EQ(balanced->padded_length(30), 32);
  EXPECT_EQ(balanced->padded_length(32), 32);
  EXPECT_EQ(refusal([&] { balanced->padded_length(31); }).code, "RW-LAYOUT-008");
  EXPECT_EQ(refusal([] { make_layout("balanced", 2); }).code, "RW-LAYOUT-007");
  EXPECT_EQ(refusal([] { make_layout("balanced", 2, {.sequence_length = 8, .chunk = 0}); }).code, "RW-LAYOUT-004");
}

TEST(Layout, BalancedDealsWholeChunksInAscendingOrder) {
  const auto layout = make_layout("balanced", 2, {.sequence_length = 30, .chunk = 8});
  EXPECT_THAT(layout->local_token_global_indices(32, 0), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31));
  EXPECT_EQ(layout->facts(1, 30), (Facts{.index_map = true, .original_length = 30, .padded_length = 32}));
  EXPECT_EQ(layout->facts(1, 32), (Facts{.index_map = true, .padded_length = 32, .row_shape = {1, 32}}));
  EXPECT_EQ(layout->facts(2, 15), (Facts{.index_map = true, .padded_length = 32}));
}

// Chunks of 512 would leave all of a short stream to one rank.
TEST(Layout, BalancedDealsSixteenChunksARankWhereTheStreamAllows) {
  for (const int cp : {1, 2, 3, 4, 64}) {
    for (const int64_t length : {1, 15, 32, 100, 128, 1000, 8192, 100'000}) {
      const auto layout = make_layout("balanced", cp, {.sequence_length = length});
      const int64_t chunk = layout->divisor() / cp, padded = layout->padded_length(length);
      EXPECT_LE(chunk, kChunkDefault);
      EXPECT_EQ(chunk & (chunk - 1), 0) << "a power of two: " << chunk;
      if (length >= kChunksOfRank * cp) {
        EXPECT_GE(padded / chunk, kChunksOfRank * cp) << length << " tokens at cp " << cp;
      }
      for (int rank = 0; rank < cp && cp <= length; ++rank)
        EXPECT_LT(layout->local_token_global_indices(padded, rank).front(), length) << "rank " << rank << " of " << cp << " has padding alone";
    }
  }
  EXPECT_EQ(default_chunk(1 << 20, 64), kChunkDefault);
  EXPECT_EQ(make_layout("balanced", 2, {.sequence_length = 128, .chunk = 512})->padded_length(128), 1024) << "what is asked for";
}

TEST(Layout, GlmNeverPads) {
  const auto layout = make_layout("glm", 4);
  EXPECT_EQ(layout->padded_length(12), 12);
  const ErrorParts parts = refusal([&] { layout->padded_length(14); });
  EXPECT_EQ(parts.code, "RW-LAYOUT-001");
  EXPECT_THAT(parts.what, HasSubstr("14 tokens is not divisible by cp = 4 (remainder 2)"));
  EXPECT_EQ(layout->facts(2, 6), (Facts{.padded_length = 12, .row_shape = {2, 6}}));
}

TEST(Layout, AnInstalledPermutationIsABijection) {
  const auto layout = install_permutation({{4, 5, 0, 1}, {2, 3, 6, 7}});
  EXPECT_THAT(layout->local_token_global_indices(8, 0), ElementsAre(4, 5, 0, 1));
  EXPECT_EQ(layout->owner(8, 6).index, 2);
  EXPECT_EQ(layout->name(), "magi");
  EXPECT_EQ(install_permutation({{0, 1, 6, 7}, {2, 3, 4, 5}}, 6)->padded_length(6), 8);
  EXPECT_EQ(refusal([] { install_permutation({}); }).code, "RW-LAYOUT-010");
  EXPECT_THAT(refusal([] { install_permutation({{0, 1}, {2}}); }).what, HasSubstr("rank 1 has 1 positions, rank 0 has 2"));
  EXPECT_THAT(refusal([] { install_permutation({{0, 1}, {2, 4}}); }).what, HasSubstr("position 4 of 4"));
  EXPECT_THAT(refusal([] { install_permutation({{0, 1}, {2, 1}}); }).what, HasSubstr("position 1 is there twice"));
}

TEST(Layout, FactsOfLayoutsWhoseMapFollowsFromTheLength) {
  EXPECT_EQ(make_layout("none", 2)->facts(3, 7), (Facts{.original_length = 7, .padded_length = 7}));
  EXPECT_EQ(make_layout("round_robin", 2)->facts(3, 7), (Facts{.original_length = 7, .padded_length = 8}));
  EXPECT_EQ(make_layout("deepseek_v4", 2, {.pad_multiple = 8})->facts(3, 7), (Facts{.original_length = 7, .padded_length = 16}));
  EXPECT_EQ(make_layout("gemma4", 2, {.pad_multiple = 8})->facts(3, 7), (Facts{.original_length = 7, .padded_length = 8}));
}

// Limits: cp up to 1,024, streams up to 2^31 - 1 tokens.
TEST(LayoutLimits, TheLargestStreamsKeepTheirLastToken) {
  const int64_t chunk = 1 << 14, length = kSequenceLengthMax / (kCpMax * chunk) * (kCpMax * chunk);
  for (const std::string name : {"round_robin", "contiguous", "thd", "balanced", "deepseek_v4", "glm", "gemma4"}) {
    const auto layout = make_layout(name, kCpMax, {.document_offsets = {0, length}, .sequence_length = length, .chunk = chunk});
    const int64_t padded = layout->padded_length(length);
    const Slot last = layout->owner(padded, length - 1);
    bool found = false;
    for (const layout::Run& run : layout->runs(padded, last.rank)) {
      const int64_t offset = length - 1 - run.global_start;
      if (offset >= 0 && offset < run.length) found = run.local_start + offset == last.index;
    }
    EXPECT_TRUE(found) << name;
  }
  EXPECT_EQ(make_layout("none", 1)->padded_length(kSequenceLengthMax), kSequenceLengthMax);
  EXPECT_EQ(refusal([] { make_layout("round_robin", 2)->padded_length(kSequenceLengthMax); }).code, "RW-LAYOUT-005");
  EXPECT_EQ(refusal([] { make_layout("balanced", 2, {.sequence_length = kSequenceLengthMax}); }).code, "RW-LAYOUT-005");
}

struct Drawn {
  std::unique_ptr<Layout> layout;
  int64_t length;
  int64_t padded;
  Mask mask;
};

Drawn draw(const std::vector<std::string>& names) {
  const std::string name = *rc::gen::elementOf(names);
  const int cp = *rc::gen::inRange(1, 9);
  int64_t length = *rc::gen::inRange<int64_t>(0, 200);
  Options options{.pad_multiple = *rc::gen::inRange<int64_t>(0, 9), .chunk = *rc::gen::inRange<int64_t>(1, 9)};
  if (name == "glm") length -= length % cp;
  if (name == "thd") {
    std::vector<int64_t> lengths = {2 * cp};
    for (const int64_t chunk : *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 5))) lengths.push_back(2 * cp * chunk);
    options.document_offsets = offsets_of(lengths);
    length = options.document_offsets.back();
  }
  options.mask = any_mask(length);
  options.sequence_length = length;
  Drawn drawn{make_layout(name, cp, options), length, 0, options.mask};
  drawn.padded = drawn.layout->padded_length(drawn.length);
  return drawn;
}

std::vector<std::string> all_but(const std::vector<std::string>& left_out) {
  std::vector<std::string> names;
  for (const std::string& name : layout_names()) {
    if (std::find(left_out.begin(), left_out.end(), name) == left_out.end()) names.push_back(name);
  }
  return names;
}

TEST(LayoutProperties, PaddingIsTheNextMultiple) {
  EXPECT_TRUE(rc::check([] {
    const Drawn d = draw(layout_names());
    RC_ASSERT(d.padded >= d.length);
    RC_ASSERT(d.padded - d.length < d.layout->divisor());
    RC_ASSERT(d.padded % d.layout->divisor() == 0);
  }));
}

TEST(LayoutProperties, EveryPositionIsOwnedOnceAndOwnerInvertsTheMap) {
  EXPECT_TRUE(rc::check([] {
    const Drawn d = draw(all_but({"none"}));
    std::vector<int> times(static_cast<size_t>(d.padded), 0);
    for (int rank = 0; rank < d.layout->cp(); ++rank) {
      const std::vector<int64_t> map = d.layout->local_token_global_indices(d.padded, rank);
      RC_ASSERT(static_cast<int64_t>(map.size()) == d.layout->local_length(d.padded));
      for (size_t i = 0; i < map.size(); ++i) {
        ++times.at(static_cast<size_t>(map[i]));
        const Slot slot = d.layout->owner(d.padded, map[i]);
        RC_ASSERT(slot.rank == rank);
        RC_ASSERT(slot.index == static_cast<int64_t>(i));
      }
    }
    for (int count : times) RC_ASSERT(count == 1);
  }));
}

TEST(LayoutProperties, TheIdentityHoldsEverythingOnEveryRank) {
  EXPECT_TRUE(rc::check([] {
    const Drawn d = draw({"none"});
    for (int rank = 0; rank < d.layout->cp(); ++rank) {
      const std::vector<int64_t> map = d.layout->local_token_global_indices(d.padded, rank);
      RC_ASSERT(static_cast<int64_t>(map.size()) == d.length);
      for (size_t i = 0; i < map.size(); ++i) RC_ASSERT(map[i] == static_cast<int64_t>(i));
    }
  }));
}

TEST(LayoutProperties, RunsAreMaximalOrderedAndCoverTheMap) {
  EXPECT_TRUE(rc::check([] {
    const Drawn d = draw(layout_names());
    std::vector<std::vector<int64_t>> rebuilt(static_cast<size_t>(d.layout->cp()));
    const std::vector<layout::Run> runs = d.layout->runs(d.padded);
    for (size_t k = 0; k < runs.size(); ++k) {
      const layout::Run& run = runs[k];
      std::vector<int64_t>& map = rebuilt.at(static_cast<size_t>(run.rank));
      RC_ASSERT(run.length > 0);
      RC_ASSERT(run.local_start == static_cast<int64_t>(map.size()));
      if (k > 0 && runs[k - 1].rank == run.rank && runs[k - 1].document == run.document)
        RC_ASSERT(runs[k - 1].global_start + runs[k - 1].length != run.global_start);
      if (k > 0) RC_ASSERT(runs[k - 1].rank <= run.rank);
      for (int64_t i = 0; i < run.length; ++i) map.push_back(run.global_start + i);
    }
    for (int rank = 0; rank < d.layout->cp(); ++rank)
      RC_ASSERT(rebuilt[static_cast<size_t>(rank)] == d.layout->local_token_global_indices(d.padded, rank));
  }));
}

TEST(LayoutProperties, TheGatherOrderPutsRankOrderBackIntoGlobalOrder) {
  EXPECT_TRUE(rc::check([] {
    const Drawn d = draw(layout_names());
    std::vector<int64_t> gathered;
    for (int rank = 0; rank < d.layout->cp(); ++rank) {
      const std::vector<int64_t> map = d.layout->local_token_global_indices(d.padded, rank);
      gathered.insert(gathered.end(), map.begin(), map.end());
    }
    const std::vector<int64_t> order = d.layout->gather_order(d.padded);
    RC_ASSERT(static_cast<int64_t>(order.size()) == d.padded);
    for (int64_t p = 0; p < d.padded; ++p) RC_ASSERT(gathered.at(static_cast<size_t>(order[static_cast<size_t>(p)])) == p);
  }));
}

TEST(LayoutProperties, WorkCountsThePairsOfTheMask) {
  EXPECT_TRUE(rc::check([] {
    const Drawn d = draw(layout_names());
    const MaskArea area(d.mask, d.length);
    for (int rank = 0; rank < d.layout->cp(); ++rank) {
      int64_t pairs = 0;
      for (int64_t position : d.layout->local_token_global_indices(d.padded, rank)) {
        for (int64_t key = 0; key < d.length; ++key) pairs += position < d.length && sees(d.mask, position, key) ? 1 : 0;
      }
      RC_ASSERT(pairs == d.layout->work(area, d.padded, rank));
    }
  }));
}

// Neighbouring ranks as one: each member holds what its ranks hold, in global order.
TEST(LayoutProperties, MergedRanksHoldWhatTheirRanksHold) {
  EXPECT_TRUE(rc::check([] {
    const int ranks = *rc::gen::inRange(1, 4), members = *rc::gen::inRange(1, 4);
    const int64_t length = *rc::gen::inRange<int64_t>(0, 90);
    const auto layout = make_layout(*rc::gen::element<std::string>("round_robin", "contiguous", "balanced"), ranks * members,
                                    {.sequence_length = length, .chunk = 3});
    const int64_t padded = layout->padded_length(length);
    const auto merged = merge_ranks(*layout, padded, ranks);
    RC_ASSERT(merged->cp() == members);
    for (int member = 0; member < members; ++member) {
      std::vector<int64_t> wanted;
      for (int rank = member * ranks; rank < (member + 1) * ranks; ++rank) {
        const std::vector<int64_t> own = layout->local_token_global_indices(padded, rank);
        wanted.insert(wanted.end(), own.begin(), own.end());
      }
      std::sort(wanted.begin(), wanted.end());
      RC_ASSERT(merged->local_token_global_indices(padded, member) == wanted);
    }
    for (int64_t position = 0; position < padded; ++position)
      RC_ASSERT(merged->owner(padded, position).rank == layout->owner(padded, position).rank / ranks);
  }));
}

TEST(Layout, FlavoursAreTheLayoutsThatSpread) {
  EXPECT_EQ(flavour_names().size() + 1, layout_names().size());
  for (const std::string& name : flavour_names()) EXPECT_NE(name, "none");
  EXPECT_TRUE(joins_rows("thd") && joins_rows("balanced") && joins_rows("glm"));
  EXPECT_FALSE(joins_rows("round_robin") || joins_rows("gemma4") || joins_rows(""));
}

}  // namespace
}  // namespace ringwright::layout
