#include "shared/layout/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "shared/base/error.h"

namespace ringwright::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Call>
ErrorParts refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    return error.parts();
  }
  return {};
}

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
  EXPECT_EQ(head_tail->causal_work(4096, 4096, 0), head_tail->causal_work(4096, 4096, 3));
  EXPECT_GT(contiguous->causal_work(4096, 4096, 3), 6 * contiguous->causal_work(4096, 4096, 0));
  EXPECT_EQ(make_layout("none", 1)->causal_work(kSequenceLengthMax, kSequenceLengthMax, 0), kSequenceLengthMax / 2 * (kSequenceLengthMax + 1));
}

struct Drawn {
  std::unique_ptr<Layout> layout;
  int64_t length;
  int64_t padded;
};

Drawn draw(const std::vector<std::string>& names) {
  const std::string name = *rc::gen::elementOf(names);
  const int cp = *rc::gen::inRange(1, 9);
  const Options options{.pad_multiple = *rc::gen::inRange<int64_t>(0, 9)};
  Drawn drawn{make_layout(name, cp, options), *rc::gen::inRange<int64_t>(0, 200), 0};
  drawn.padded = drawn.layout->padded_length(drawn.length);
  return drawn;
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
    const Drawn d = draw({"round_robin", "contiguous"});
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
      if (k > 0 && runs[k - 1].rank == run.rank) RC_ASSERT(runs[k - 1].global_start + runs[k - 1].length != run.global_start);
      if (k > 0) RC_ASSERT(runs[k - 1].rank <= run.rank);
      for (int64_t i = 0; i < run.length; ++i) map.push_back(run.global_start + i);
    }
    for (int rank = 0; rank < d.layout->cp(); ++rank)
      RC_ASSERT(rebuilt[static_cast<size_t>(rank)] == d.layout->local_token_global_indices(d.padded, rank));
  }));
}

TEST(LayoutProperties, CausalWorkCountsThePairs) {
  EXPECT_TRUE(rc::check([] {
    const Drawn d = draw(layout_names());
    for (int rank = 0; rank < d.layout->cp(); ++rank) {
      int64_t pairs = 0;
      for (int64_t position : d.layout->local_token_global_indices(d.padded, rank)) pairs += position < d.length ? position + 1 : 0;
      RC_ASSERT(pairs == d.layout->causal_work(d.padded, d.length, rank));
    }
  }));
}

}  // namespace
}  // namespace ringwright::layout
