// The training step: one rank and several must do the same, whatever the layout, the length and the mask.
#include "daemon/worker/algorithms/sft_trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "shared/base/error.h"
#include "tests/daemon/worker/algorithms/small_training.h"
#include "tests/daemon/worker/support/rank_test.h"
#include "tests/deep_tier.h"

namespace ringwright::worker {
namespace {

void expect_same_gradients(const ProcessGroups& ranks, const std::string& flavour, const std::vector<int64_t>& lengths) {
  for (const auto& [type, tolerance] : {std::pair(at::kDouble, 1e-10), std::pair(at::kFloat, 1e-5)}) {
    Training sharded(ranks.group("cp"), type, flavour), whole(ProcessGroup{}, type);
    const std::vector<Row> rows = make_rows(lengths, whole.checkpoint.config.vocab_size);
    const double sharded_loss = sharded.trainer.accumulate_gradients(pointers(rows));
    const double whole_loss = whole.trainer.accumulate_gradients(pointers(rows));
    EXPECT_NEAR(sharded_loss, whole_loss, 1e-6 * whole_loss) << flavour;
    EXPECT_LT(largest_relative_difference(sharded.model, whole.model), tolerance) << flavour << " " << at::toString(type);
  }
}

// T05 at dp = 1: four sequences of 8 tokens; (dp, cp) = (1, 1), (1, 2), (1, 4) give the same gradient.
RANK_TEST(SftTrainer, T05GradientsDoNotDependOnTheSplitOverTwoRanks, 2) { expect_same_gradients(ranks, "round_robin", {8, 8, 8, 8}); }
RANK_TEST(SftTrainer, T05GradientsDoNotDependOnTheSplitOverFourRanks, 4) { expect_same_gradients(ranks, "round_robin", {8, 8, 8, 8}); }
// T03: lengths that do not split evenly are padded up, never cut; rows of different lengths share a microbatch.
RANK_TEST(SftTrainer, T03OddLengthsArePadded, 2) { expect_same_gradients(ranks, "round_robin", {7, 13, 3, 29, 2}); }
RANK_TEST(SftTrainer, ContiguousShardsGiveTheSameGradients, 2) { expect_same_gradients(ranks, "contiguous", {9, 8, 31}); }
RANK_TEST(SftTrainer, ThreeRanksGiveTheSameGradients, 3) { expect_same_gradients(ranks, "round_robin", {17, 12}); }

// A grid of lengths, alone and together, in both layouts; the deep tier takes every length up to 48.
void sweep(const ProcessGroups& ranks) {
  const int64_t stride = test::by_tier<int64_t>(11, 1);
  for (const char* flavour : {"round_robin", "contiguous"})
    for (int64_t length = 2; length <= 48; length += stride) expect_same_gradients(ranks, flavour, {length, 50 - length});
}
RANK_TEST(SftTrainer, SweepOfLengthsOverTwoRanks, 2) { sweep(ranks); }
RANK_TEST(SftTrainer, SweepOfLengthsOverThreeRanks, 3) { sweep(ranks); }
RANK_TEST(SftTrainer, SweepOfLengthsOverEightRanks, 8) { sweep(ranks); }

RANK_TEST(SftTrainer, TwentyStepsGiveTheSameLosses, 2) {
  Training sharded(ranks.group("cp"), at::kFloat), whole(ProcessGroup{}, at::kFloat);
  const std::vector<Row> rows = make_rows({33, 64, 50, 17}, whole.checkpoint.config.vocab_size);
  double first = 0, last = 0;
  for (int step = 0; step < 20; ++step) {
    const SftStep a = sharded.trainer.step(pointers(rows)), b = whole.trainer.step(pointers(rows));
    EXPECT_NEAR(a.loss, b.loss, 1e-4 * b.loss) << step;
    EXPECT_NEAR(a.grad_norm, b.grad_norm, 1e-3 * b.grad_norm) << step;
    if (step == 0) first = b.loss;
    last = b.loss;
  }
  EXPECT_LT(last, first - 0.5);
}

// T06: the divisor is the count over all ranks and microbatches. One trained target in all: the loss is that target's.
RANK_TEST(SftTrainer, T06TheDivisorIsTheGlobalTokenCount, 2) {
  Training sharded(ranks.group("cp"), at::kFloat), whole(ProcessGroup{}, at::kFloat);
  std::vector<Row> rows = make_rows({8, 8, 8}, whole.checkpoint.config.vocab_size);
  for (Row& row : rows) std::fill(row.trained.begin(), row.trained.end(), uint8_t{0});
  rows[1].trained[7] = 1;
  EXPECT_EQ(count_targets(pointers(rows)), 1);
  const double alone = whole.trainer.evaluate({&rows[1]});
  EXPECT_NEAR(sharded.trainer.accumulate_gradients(pointers(rows)), alone, 1e-5);
  EXPECT_NEAR(sharded.trainer.evaluate(pointers(rows)), alone, 1e-5);
}

TEST(SftTrainer, MicrobatchesAddUpToTheBatch) {
  Training whole(ProcessGroup{}, at::kDouble), split(ProcessGroup{}, at::kDouble);
  const std::vector<Row> rows = make_rows({11, 40, 5, 23, 8}, whole.checkpoint.config.vocab_size);
  recipe::SftConfig one_microbatch = small_config();
  one_microbatch.train_micro_batch_size = 5;
  SftTrainer all_at_once(whole.model, one_microbatch, {}, {});
  const double loss = all_at_once.accumulate_gradients(pointers(rows));
  EXPECT_NEAR(split.trainer.accumulate_gradients(pointers(rows)), loss, 1e-9);
  EXPECT_LT(largest_relative_difference(split.model, whole.model), 1e-10);
}

TEST(SftTrainer, ALossThatIsNotFiniteStopsTheStepAndLeavesTheWeights) {
  Training training(ProcessGroup{}, at::kFloat);
  const std::vector<Row> rows = make_rows({9}, training.checkpoint.config.vocab_size);
  {
    const at::NoGradGuard no_grad;
    training.model.parameters().at("model.norm.weight").fill_(std::numeric_limits<float>::quiet_NaN());
  }
  const at::Tensor before = training.model.parameters().at("lm_head.weight").detach().clone();
  try {
    training.trainer.step(pointers(rows));
    FAIL() << "a NaN loss went through";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-TRAIN-001");
    EXPECT_EQ(error.parts().where, "step 1");
  }
  EXPECT_TRUE(at::equal(before, training.model.parameters().at("lm_head.weight")));
  EXPECT_EQ(training.trainer.step_count(), 0);
}

// Resolution at one rank gives the identity, or a stream that is not cut: a step through it is the step that asks for no sharder at all.
TEST(SftTrainer, OneRankIsTheSameWithAndWithoutASharderBitForBit) {
  for (const recipe::SftConfig& config : {small_config(), packed_config()}) {
    for (const char* flavour : {"round_robin", "thd", "balanced"}) {
      SftTrainerOptions resolved;
      resolved.shard = make_shard_function(sharded_model(flavour, 1), ProcessGroup{});
      Training with(ProcessGroup{}, at::kFloat, config, resolved), without(ProcessGroup{}, at::kFloat, config);
      const std::vector<Row> rows = make_rows({33, 20, 7, 12, 41});
      for (int step = 0; step < 3; ++step) {
        const SftStep a = with.trainer.step(pointers(rows)), b = without.trainer.step(pointers(rows));
        EXPECT_EQ(a.loss, b.loss) << flavour;
        EXPECT_EQ(a.grad_norm, b.grad_norm) << flavour;
      }
      for (const auto& [name, parameter] : with.model.parameters())
        EXPECT_TRUE(at::equal(parameter, without.model.parameters().at(name))) << flavour << " " << name;
    }
  }
}

// policy.make_sequence_length_divisible_by: rows get longer, nothing else changes.
TEST(SftTrainer, PaddingOfRowsChangesNothing) {
  recipe::SftConfig padded_config = small_config();
  padded_config.make_sequence_length_divisible_by = 32;
  Training padded(ProcessGroup{}, at::kDouble, padded_config), plain(ProcessGroup{}, at::kDouble);
  const std::vector<Row> rows = make_rows({33, 20, 7});
  const double loss = plain.trainer.accumulate_gradients(pointers(rows));
  EXPECT_NEAR(padded.trainer.accumulate_gradients(pointers(rows)), loss, 1e-9);
  EXPECT_LT(largest_relative_difference(padded.model, plain.model), 1e-10);
}

TEST(SftBatch, RowsAreAsLongAsTheirMicrobatchSays) {
  const std::vector<Row> rows = {{{5, 6, 7}, {1, 1, 1}}};
  const SftBatch batch = make_batch(pointers(rows), {{0}, {}, 8}, 9, 2);
  EXPECT_EQ(batch.ids_BS.sizes(), at::IntArrayRef({1, 8}));
  EXPECT_EQ(batch.ids_BS[0][7].item<int64_t>(), 9);
  EXPECT_EQ(batch.token_count, 2);
  EXPECT_EQ(batch.longest_length, 8);
}

TEST(SftBatch, TargetsAreShiftedOnTheWholeRowAndWeightedByTheGlobalCount) {
  const std::vector<Row> rows = {{{5, 6, 7, 8}, {1, 0, 1, 1}}, {{9, 4}, {1, 1}}};
  const SftBatch batch = make_batch(pointers(rows), {{0, 1}, {}, 4}, 0, 4);
  EXPECT_EQ(batch.token_count, 3);
  EXPECT_TRUE(at::equal(batch.ids_BS, at::tensor({5, 6, 7, 8, 9, 4, 0, 0}, at::kLong).view({2, 4})));
  EXPECT_TRUE(at::equal(batch.targets_BS, at::tensor({-100, 7, 8, -100, 4, -100, -100, -100}, at::kLong).view({2, 4})));
  EXPECT_TRUE(at::equal(batch.weights_BS, at::tensor({0.0F, 0.25F, 0.25F, 0.0F, 0.25F, 0.0F, 0.0F, 0.0F}).view({2, 4})));
}

// T01: in a pack, targets stop at document edges; padding has neither target nor weight, and its positions count on.
TEST(SftBatch, T01APackKeepsItsDocumentsApart) {
  const std::vector<Row> rows = {{{10, 11, 12}, {1, 1, 1}}, {{20, 21}, {1, 1}}};
  const SftBatch batch = make_batch(pointers(rows), {{0, 1}, {4, 4}, 0}, 7, 3);
  EXPECT_TRUE(at::equal(batch.ids_BS, at::tensor({10, 11, 12, 7, 20, 21, 7, 7}, at::kLong).view({1, 8})));
  EXPECT_TRUE(at::equal(batch.targets_BS, at::tensor({11, 12, -100, -100, 21, -100, -100, -100}, at::kLong).view({1, 8})));
  EXPECT_TRUE(at::equal(batch.positions_BS, at::tensor({0, 1, 2, 3, 0, 1, 2, 3}, at::kLong).view({1, 8})));
  EXPECT_EQ((batch.weights_BS != 0).sum().item<int64_t>(), 3);
  EXPECT_EQ(batch.token_count, 3);
  EXPECT_EQ(batch.document_offsets, (std::vector<int64_t>{0, 4, 8}));
  EXPECT_EQ(batch.longest_length, 4);
  EXPECT_TRUE(at::equal(tokens_of(batch, batch.ids_BS, 1), at::tensor({20, 21}, at::kLong)));
}

}  // namespace
}  // namespace ringwright::worker
