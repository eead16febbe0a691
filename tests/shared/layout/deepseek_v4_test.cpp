#include "shared/layout/deepseek_v4.h"

#include <gmock/gmock.h>

#include "tests/shared/layout/support.h"

namespace ringwright::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DeepseekV4, TheContractsExample) {
  const RepackedRows rows = repack_rows({{3, 5}}, {{4, 5}}, 10, 2, 4);
  EXPECT_EQ(rows.row_length, 16);
  EXPECT_THAT(rows.rows[0].new_positions, ElementsAre(0, 1, 2, -1, 4, 5, 6, 7, 8, -1));
  EXPECT_THAT(rows.rows[0].slot_lengths, ElementsAre(4, 8));
  EXPECT_THAT(rows.rows[0].old_positions, ElementsAre(0, 1, 2, -1, 4, 5, 6, 7, 8, -1, -1, -1, -1, -1, -1, -1));
  EXPECT_THAT(rows.rows[0].position_ids, ElementsAre(0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0));
  EXPECT_THAT(rows.rows[0].packed_seq_ids, ElementsAre(1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0));
}

TEST(DeepseekV4, RowsAreAsLongAsTheLongestAndAsTheOtherRanks) {
  EXPECT_EQ(repack_rows({{3}, {6}}, {}, 6, 2, 2).row_length, 8);
  EXPECT_EQ(repack_rows({{3}, {6}}, {}, 6, 2, 2, 17).row_length, 20);
}

TEST(DeepseekV4, FillersGoNegativesAreNothingAndShortSlotsAreCompleted) {
  const RepackedRows rows = repack_rows({{2, -5, 3, -1000}}, {{4, -1000}}, 8, 1, 2);
  EXPECT_THAT(rows.rows[0].real_lengths, ElementsAre(2, 0, 3));
  EXPECT_THAT(rows.rows[0].slot_lengths, ElementsAre(2, 0, 4));
  EXPECT_THAT(rows.rows[0].new_positions, ElementsAre(0, 1, -1, -1, 2, 3, 4, -1));
  EXPECT_THAT(rows.rows[0].packed_seq_ids, ElementsAre(1, 1, 3, 3, 3, 3));  // the empty document uses number 2
}

TEST(DeepseekV4, DocumentsBehindTheirRowAreRefused) {
  const ErrorParts parts = refusal([] { repack_rows({{7}}, {{7}}, 6, 2, 2); });
  EXPECT_EQ(parts.code, "RW-DSV4-001");
  EXPECT_THAT(parts.what, HasSubstr("ends at 7, behind the row's 6 slots"));
  EXPECT_EQ(refusal([] { repack_rows({{7}}, {{7}, {7}}, 8, 2, 2); }).code, "RW-DSV4-002");
}

TEST(DeepseekV4, TheMultipleCoversAllCompressionRatios) {
  EXPECT_EQ(deepseek_v4_multiple({0, 4, 128, 4}), 128);
  EXPECT_EQ(deepseek_v4_multiple({4, 6}), 24);
  EXPECT_EQ(deepseek_v4_multiple({}), 1);
}

TEST(DeepseekV4Properties, EveryRealTokenIsMovedOnceAndInOrder) {
  EXPECT_TRUE(rc::check([] {
    const auto lengths = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 9));
    std::vector<int64_t> slots = lengths;
    for (int64_t& slot : slots) slot += *rc::gen::inRange<int64_t>(0, 4);
    const int64_t width = std::accumulate(slots.begin(), slots.end(), *rc::gen::inRange<int64_t>(0, 5));
    const int cp = *rc::gen::inRange(1, 5);
    const int64_t multiple = *rc::gen::inRange<int64_t>(0, 9);
    const RepackedRows rows = repack_rows({lengths}, {slots}, width, cp, multiple);
    const RepackedRow& row = rows.rows[0];
    RC_ASSERT(rows.row_length % (cp * std::max<int64_t>(multiple, 2)) == 0);
    int64_t moved = 0, last = -1;
    for (size_t old = 0; old < row.new_positions.size(); ++old) {
      if (row.new_positions[old] < 0) continue;
      ++moved;
      RC_ASSERT(row.new_positions[old] > last);
      last = row.new_positions[old];
      RC_ASSERT(row.old_positions.at(static_cast<size_t>(last)) == static_cast<int64_t>(old));
    }
    RC_ASSERT(moved == std::accumulate(lengths.begin(), lengths.end(), int64_t{0}));
  }));
}

}  // namespace
}  // namespace ringwright::layout
