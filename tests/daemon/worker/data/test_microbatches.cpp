// How a global batch's rows become microbatches.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "daemon/worker/data/microbatches.h"
#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

recipe::SftConfig packed(int cp, int64_t divisor) {
  recipe::SftConfig config;
  config.cp = cp;
  config.packing.enabled = true;
  config.packing.pack_tokens = 64;
  config.packing.document_divisor = divisor;
  return config;
}

std::vector<size_t> all_rows(const std::vector<Microbatch>& microbatches) {
  std::vector<size_t> rows;
  for (const Microbatch& microbatch : microbatches) rows.insert(rows.end(), microbatch.rows.begin(), microbatch.rows.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(Microbatches, RowsOfOneSizeKeepTheirOrder) {
  recipe::SftConfig config;
  config.train_micro_batch_size = 2, config.val_micro_batch_size = 3;
  const auto training = split_into_microbatches({5, 6, 7, 8, 9}, training_rules(config));
  ASSERT_EQ(training.size(), 3u);
  EXPECT_EQ(training[1].rows, (std::vector<size_t>{2, 3}));
  EXPECT_EQ(training[2].rows, (std::vector<size_t>{4}));
  EXPECT_TRUE(training[0].slot_lengths.empty());
  EXPECT_EQ(split_into_microbatches({5, 6, 7, 8, 9}, validation_rules(config)).size(), 2u);
  EXPECT_TRUE(split_into_microbatches({}, training_rules(config)).empty()) << "a data rank without rows";
}

TEST(Microbatches, PacksHoldEveryRowOnceInSlotsThatTheRanksCanCut) {
  const std::vector<int64_t> lengths = {33, 30, 20, 9, 61, 2, 17};
  const auto packs = split_into_microbatches(lengths, training_rules(packed(2, 0)));
  EXPECT_EQ(all_rows(packs), (std::vector<size_t>{0, 1, 2, 3, 4, 5, 6}));
  for (const Microbatch& pack : packs) {
    ASSERT_EQ(pack.rows.size(), pack.slot_lengths.size());
    for (size_t i = 0; i < pack.rows.size(); ++i) {
      EXPECT_EQ(pack.slot_lengths[i] % 4, 0) << "2 * cp";
      EXPECT_GE(pack.slot_lengths[i], lengths[pack.rows[i]]);
    }
    EXPECT_LE(std::accumulate(pack.slot_lengths.begin(), pack.slot_lengths.end(), int64_t{0}), 64);
  }
}

// What makes runs at several cp comparable.
TEST(Microbatches, OneDivisorGivesTheSamePacksAtEveryCp) {
  const std::vector<int64_t> lengths = {33, 30, 20, 9, 61, 2, 17};
  const auto one = split_into_microbatches(lengths, training_rules(packed(1, 8)));
  for (const int cp : {2, 4}) {
    const auto more = split_into_microbatches(lengths, training_rules(packed(cp, 8)));
    ASSERT_EQ(more.size(), one.size());
    for (size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(more[i].rows, one[i].rows);
      EXPECT_EQ(more[i].slot_lengths, one[i].slot_lengths);
    }
  }
  const auto other = split_into_microbatches(lengths, training_rules(packed(4, 0)));
  EXPECT_NE(other.front().slot_lengths, split_into_microbatches(lengths, training_rules(packed(1, 0))).front().slot_lengths);
}

TEST(Microbatches, TheLargestPackMayComeFirst) {
  recipe::SftConfig config = packed(1, 1);
  config.packing.algorithm = "concatenative";
  EXPECT_EQ(split_into_microbatches({10, 60, 50}, training_rules(config)).front().rows, (std::vector<size_t>{0}));
  config.packing.largest_first = true;
  EXPECT_EQ(split_into_microbatches({10, 60, 50}, training_rules(config)).front().rows, (std::vector<size_t>{1}));
}

TEST(Microbatches, DynamicOnesHoldAsManyRowsOfLikeLengthAsFit) {
  recipe::SftConfig config;
  config.dynamic_batching = {true, 64, 8};
  const auto microbatches = split_into_microbatches({30, 7, 16, 8, 33}, training_rules(config));
  EXPECT_EQ(all_rows(microbatches), (std::vector<size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(microbatches.front().rows, (std::vector<size_t>{1, 3, 2})) << "8, 8 and 16 tokens: 3 x 16 fit, a fourth row of 32 would not";
  EXPECT_EQ(microbatches.size(), 3u);
}

// policy.make_sequence_length_divisible_by and the rounds of packs and dynamic batches are lengths that rows really get.
TEST(Microbatches, RowsArePaddedToWhatTheRecipeAsksFor) {
  recipe::SftConfig config;
  config.train_micro_batch_size = 2;
  EXPECT_EQ(split_into_microbatches({5, 6, 7}, training_rules(config)).front().row_length, 6);
  config.make_sequence_length_divisible_by = 8;
  const auto rows = split_into_microbatches({5, 6, 17}, training_rules(config));
  EXPECT_EQ(rows[0].row_length, 8);
  EXPECT_EQ(rows[1].row_length, 24);
  config.dynamic_batching = {true, 96, 12};
  const auto dynamic = split_into_microbatches({30, 7, 16}, training_rules(config));
  ASSERT_EQ(dynamic.size(), 2u);
  EXPECT_EQ(dynamic[0].row_length, 24) << "a multiple of 8 and of 12";
  EXPECT_EQ(dynamic[1].row_length, 48);
  config = packed(1, 1);
  config.packing.sequence_length_round = 6, config.make_sequence_length_divisible_by = 4;
  const auto packs = split_into_microbatches({20, 5}, training_rules(config));
  EXPECT_EQ(std::accumulate(packs[0].slot_lengths.begin(), packs[0].slot_lengths.end(), int64_t{0}), 36);
}

TEST(Microbatches, RowsThatNoPackHoldsAreLeftOutWhereThatIsAskedFor) {
  recipe::SftConfig config = packed(2, 0);
  config.max_total_sequence_length = 100;
  EXPECT_EQ(longest_row(config), 100);
  config.packing.skip_long = true;
  EXPECT_EQ(longest_row(config), 64);
  config.packing.pack_tokens = 63;
  EXPECT_EQ(longest_row(config), 60) << "slots of 4";
  config.packing.enabled = false;
  EXPECT_EQ(longest_row(config), 100);
}

TEST(Microbatches, TheSmallerOfTheTwoLimitsOfARowHolds) {
  recipe::SftConfig config = packed(2, 0);
  config.packing.enabled = false, config.max_total_sequence_length = 100;
  config.max_input_length = 40;
  EXPECT_EQ(longest_row(config), 40);
  config.max_input_length = 400;
  EXPECT_EQ(longest_row(config), 100);
  config.max_input_length = 70, config.packing = {.enabled = true, .pack_tokens = 64, .skip_long = true};
  EXPECT_EQ(longest_row(config), 64);
}

TEST(Microbatches, WhatFitsNowhereIsRefused) {
  recipe::SftConfig config;
  config.dynamic_batching = {true, 64, 8};
  EXPECT_THROW(split_into_microbatches({65}, training_rules(config)), Error);
  EXPECT_THROW(split_into_microbatches({65}, training_rules(packed(1, 1))), Error);
}

}  // namespace
}  // namespace ringwright::worker
