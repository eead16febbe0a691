// Which rank takes which heads.
#include "shared/layout/head_split.h"

#include <gmock/gmock.h>

namespace ringwright::layout {
namespace {

using testing::HasSubstr;

TEST(HeadSplit, EachQueryHeadIsOnOneRankBesideTheKeysThatItReads) {
  for (const int64_t heads : {4, 8, 12, 24}) {
    for (int64_t kv_heads = 1; kv_heads <= heads; ++kv_heads) {
      if (heads % kv_heads != 0) continue;
      for (int ranks = 1; ranks <= 12; ++ranks) {
        const HeadCounts counts{heads, kv_heads};
        if (!head_split_refusal(counts, ranks).empty()) continue;
        int64_t next = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const HeadRange queries = query_heads_of(counts, ranks, rank), keys = key_heads_of(counts, ranks, rank);
          EXPECT_EQ(queries.start, next);
          next = queries.end();
          ASSERT_EQ(queries.length % keys.length, 0);
          const int64_t local_ratio = queries.length / keys.length, ratio = heads / kv_heads;
          for (int64_t head = 0; head < queries.length; ++head) {
            EXPECT_EQ(keys.start + head / local_ratio, (queries.start + head) / ratio) << heads << "/" << kv_heads << " on " << ranks;
          }
        }
        EXPECT_EQ(next, heads);
      }
    }
  }
}

TEST(HeadSplit, WhatCannotBeDealtIsRefusedWithItsNumbers) {
  EXPECT_THAT(head_split_refusal({12, 12}, 5), HasSubstr("12 query heads cannot be dealt to 5"));
  EXPECT_THAT(head_split_refusal({12, 6}, 4), HasSubstr("6 key/value heads"));
  EXPECT_EQ(head_split_refusal({12, 2}, 4), "");  // two ranks share a head
  EXPECT_EQ(head_split_refusal({12, 12}, 1), "");
}

TEST(HeadSplit, AGridPrefersRanksThatShareNoKeyHead) {
  EXPECT_EQ(head_ranks_of_grid({12, 12}, 4), 2);
  EXPECT_EQ(head_ranks_of_grid({12, 12}, 6), 3);
  EXPECT_EQ(head_ranks_of_grid({12, 2}, 6), 2);
  EXPECT_EQ(head_ranks_of_grid({12, 1}, 6), 3);
  EXPECT_EQ(head_ranks_of_grid({12, 12}, 5), 0);
  EXPECT_EQ(head_ranks_of_grid({12, 12}, 2), 0);
  EXPECT_EQ(head_ranks_of_grid({5, 5}, 4), 0);
}

}  // namespace
}  // namespace ringwright::layout
