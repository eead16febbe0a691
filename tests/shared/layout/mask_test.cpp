#include "shared/layout/mask.h"

#include <gmock/gmock.h>

#include "shared/layout/mask_area.h"
#include "tests/shared/layout/support.h"

namespace ringwright::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MaskBlocks, OneSquareForASequence) {
  EXPECT_THAT(mask_blocks({}, 5), ElementsAre(MaskBlock{0, 5, 0, 5, true}));
  EXPECT_THAT(mask_blocks({.kind = Mask::Kind::full}, 5), ElementsAre(MaskBlock{0, 5, 0, 5, false}));
  EXPECT_TRUE(mask_blocks({}, 0).empty());
}

TEST(MaskBlocks, OneSquareForEachDocumentAndNoneForEmptyOnes) {
  EXPECT_THAT(mask_blocks({.document_offsets = {0, 3, 3, 7, 8}}, 10),
              ElementsAre(MaskBlock{0, 3, 0, 3, true}, MaskBlock{3, 4, 3, 4, true}, MaskBlock{7, 1, 7, 1, true}));
}

TEST(MaskBlocks, ATreeNodeSeesItselfThenItsAncestorsFromTheRootDown) {
  const Mask mask{.prefix_tree = prefix_tree_of({2, 2, 2, 1, 3}, {{0, 1, 3}, {0, 1, 4}, {0, 2}})};
  EXPECT_THAT(mask_blocks(mask, 10), ElementsAre(MaskBlock{0, 2, 0, 2, true}, MaskBlock{2, 2, 2, 2, true}, MaskBlock{2, 2, 0, 2, false, 0},
                                                 MaskBlock{6, 1, 6, 1, true}, MaskBlock{6, 1, 0, 2, false, 2}, MaskBlock{6, 1, 2, 2, false, 2},
                                                 MaskBlock{7, 3, 7, 3, true}, MaskBlock{7, 3, 0, 2, false, 3}, MaskBlock{7, 3, 2, 2, false, 3},
                                                 MaskBlock{4, 2, 4, 2, true}, MaskBlock{4, 2, 0, 2, false, 2}));
}

TEST(MaskErrors, DocumentsNameTheirNumbers) {
  const auto code = [](std::vector<int64_t> offsets) { return refusal([&] { check_mask({.document_offsets = offsets}, 8); }); };
  EXPECT_EQ(code({1, 4}).code, "RW-MASK-001");
  EXPECT_THAT(code({0, 4, 3}).what, HasSubstr("falls from 4 to 3"));
  EXPECT_THAT(code({0, 4, 9}).what, HasSubstr("end at 9, behind the stream of 8"));
  EXPECT_EQ(code({0, 4, 8}).code, "");
}

TEST(MaskErrors, AWindowNeedsACausalMask) {
  EXPECT_EQ(refusal([] { check_mask({.window = -1}, 8); }).code, "RW-MASK-002");
  EXPECT_EQ(refusal([] { check_mask({.kind = Mask::Kind::full, .window = 4}, 8); }).code, "RW-MASK-002");
  EXPECT_EQ(refusal([] { check_mask({}, -1); }).code, "RW-LAYOUT-005");
  EXPECT_EQ(refusal([] { check_mask({}, kSequenceLengthMax + 1); }).code, "RW-LAYOUT-005");
}

TEST(MaskErrors, TreesThatAreNone) {
  const auto what = [](std::vector<PrefixNode> tree) {
    const ErrorParts parts = refusal([&] { check_mask({.prefix_tree = tree}, 8); });
    EXPECT_EQ(parts.code, "RW-MASK-003");
    return parts.what;
  };
  EXPECT_THAT(what({{0, 9, -1}}), HasSubstr("has 9 tokens, in a stream of 8"));
  EXPECT_THAT(what({{-1, 2, -1}}), HasSubstr("starts at -1"));
  EXPECT_THAT(what({{0, 2, 0}}), HasSubstr("does not stand before it"));
  EXPECT_THAT(what({{0, 4, -1}, {2, 2, -1}}), HasSubstr("inside another one that ends at 4"));
  EXPECT_THAT(what({{4, 2, -1}, {0, 2, 0}}), HasSubstr("before its parent's end at 6"));
  EXPECT_EQ(refusal([] { check_mask({.document_offsets = {0, 4}, .prefix_tree = {{0, 4, -1}}}, 8); }).code, "RW-MASK-003");
  EXPECT_EQ(refusal([] { check_mask({.kind = Mask::Kind::full, .prefix_tree = {{0, 4, -1}}}, 8); }).code, "RW-MASK-003");
}

TEST(MaskErrors, PathsThatMakeNoTree) {
  const auto what = [](std::vector<std::vector<int>> paths) {
    const ErrorParts parts = refusal([&] { prefix_tree_of({1, 1, 1}, paths); });
    EXPECT_EQ(parts.code, "RW-MASK-003");
    return parts.what;
  };
  EXPECT_THAT(what({{0, 3}}), HasSubstr("names node 3 of 3"));
  EXPECT_THAT(what({{0, 1}, {}}), HasSubstr("no nodes"));
  EXPECT_THAT(what({{1, 0}}), HasSubstr("goes from node 1 back to 0"));
  EXPECT_THAT(what({{0, 2}, {1, 2}}), HasSubstr("another parent"));
  EXPECT_THAT(what({{0, 1}}), HasSubstr("node 2 is on no path"));
}

TEST(MaskDescribe, IsForPeople) {
  EXPECT_EQ(describe({}), "causal");
  EXPECT_EQ(describe({.document_offsets = {0, 1, 2, 3}, .window = 128}), "3 documents, causal, window 128");
  EXPECT_EQ(describe({.prefix_tree = {{0, 1, -1}, {1, 1, 0}}}), "prefix tree of 2 nodes");
}

TEST(MaskArea, CountsWithoutWalkingTokens) {
  EXPECT_EQ(MaskArea({}, kSequenceLengthMax).total(), (kSequenceLengthMax + 1) / 2 * kSequenceLengthMax);
  EXPECT_EQ(MaskArea({.kind = Mask::Kind::full}, kSequenceLengthMax).total(), kSequenceLengthMax * kSequenceLengthMax);
  EXPECT_EQ(MaskArea({.window = 3}, 10).total(), 1 + 2 + 3 * 8);
  EXPECT_EQ(MaskArea({.document_offsets = {0, 3, 5}}, 8).pairs(2, 6), 3 + 1 + 2);
}

// A branch of a tree sees what it would see alone, with a window too.
TEST(MaskArea, AWindowCountsTheTokensOfThePathAlone) {
  const Mask tree{.window = 4, .prefix_tree = prefix_tree_of({3, 5, 4}, {{0, 1}, {0, 2}})};
  const MaskArea area(tree, 12);
  EXPECT_EQ(area.pairs(8, 4), MaskArea({.window = 4}, 7).pairs(3, 4));
}

TEST(MaskProperties, BlocksAndAreasEqualTheDefinition) {
  EXPECT_TRUE(rc::check([] {
    const int64_t length = *rc::gen::inRange<int64_t>(0, 90);
    const Mask mask = any_mask(length);
    const MaskArea area(mask, length);
    const int64_t first = *rc::gen::inRange<int64_t>(0, length + 1), count = *rc::gen::inRange<int64_t>(0, length + 8);
    int64_t pairs = 0;
    for (int64_t q = 0; q < length; ++q) {
      for (int64_t k = 0; k < length; ++k) {
        int covered = 0;
        for (const MaskBlock& block : area.blocks()) {
          const bool inside = q >= block.query_start && q < block.query_start + block.query_length && k >= block.key_start &&
                              k < block.key_start + block.key_length && (!block.causal || k <= q);
          const bool near = mask.window == 0 || q - k - block.skipped < mask.window;
          covered += inside && near ? 1 : 0;
        }
        RC_ASSERT(covered == (sees(mask, q, k) ? 1 : 0));
        pairs += q >= first && q < first + count ? covered : 0;
      }
    }
    RC_ASSERT(area.pairs(first, count) == pairs);
  }));
}

}  // namespace
}  // namespace ringwright::layout
