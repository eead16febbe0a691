// Packs: several documents in one stream train as they would alone, on one rank and on several, in every flavour.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>

#include "daemon/worker/algorithms/sft_trainer.h"
#include "daemon/worker/context_parallel/attention_method.h"
#include "shared/layout/methods.h"
#include "tests/daemon/worker/algorithms/small_training.h"
#include "tests/daemon/worker/support/rank_threads.h"
#include "tests/deep_tier.h"

namespace ringwright::worker {
namespace {

SftTrainerOptions options_with(const std::string& flavour, std::string_view method) {
  SftTrainerOptions options = options_of(flavour);
  options.cp_method = method;
  options.sharding.chunk = 4;  // several chunks a rank, whatever the stream
  return options;
}

// Losses of `steps` training steps on two global batches in turn.
using Batches = std::array<std::vector<Row>, 2>;
std::vector<double> losses(const ProcessGroup& group, const recipe::SftConfig& config, const SftTrainerOptions& options, int steps,
                           const Batches& batches = {make_rows({33, 64, 5, 17, 21, 40}), make_rows({12, 9, 50, 31}, 512, 7)}) {
  Training training(group, at::kFloat, config, options);
  std::vector<double> result;
  for (int step = 0; step < steps; ++step) {
    const SftStep done = training.trainer.step(pointers(batches[static_cast<size_t>(step % 2)]));
    EXPECT_GT(done.rank_target_count, options.cp_flavour == "balanced" ? 0 : -1) << "a rank without a target shows nothing";
    result.push_back(done.loss);
  }
  return result;
}

void expect_equal_losses(const std::vector<double>& got, const std::vector<double>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t step = 0; step < got.size(); ++step) EXPECT_NEAR(got[step], want[step], 1e-4 * want[step]) << what << ", step " << step;
}

int step_count() { return test::by_tier(2, 50); }

// Every flavour with every method against one rank, packed or not; only exchanges of heads may refuse, and then all steps.
void expect_flavours_equal(int cp, bool packed) {
  const recipe::SftConfig config = packed ? packed_config() : small_config();
  const std::vector<double> whole = losses({}, config, {}, step_count());
  for (const std::string& flavour : layout::flavour_names())
    for (const layout::MethodEntry& method : layout::methods())
      test::run_on_threads(cp, [&](const worker::ProcessGroups& ranks) {
        const std::string what = flavour + " " + std::string(method.name) + (packed ? " packed" : "");
        try {
          expect_equal_losses(losses(ranks.group("cp"), config, options_with(flavour, method.name), step_count()), whole, what);
        } catch (const Error& error) {
          EXPECT_EQ(error.parts().code, "RW-CP-002") << what << ": " << describe(error.parts());
          EXPECT_TRUE(method.name.starts_with("all_to_all")) << what << " takes every layout and mask: " << describe(error.parts());
        }
      });
}

TEST(PackedTraining, EveryFlavourAndMethodOnTwoRanksRows) { expect_flavours_equal(2, false); }
TEST(PackedTraining, EveryFlavourAndMethodOnTwoRanksPacks) { expect_flavours_equal(2, true); }
TEST(PackedTraining, EveryFlavourAndMethodOnFourRanksRows) { expect_flavours_equal(4, false); }
TEST(PackedTraining, EveryFlavourAndMethodOnFourRanksPacks) { expect_flavours_equal(4, true); }

// Fifty steps in every run of the tests; every flavour and method, also over two ranks, is the deep tier's.
TEST(PackedTraining, FiftyStepsOnFourRanksRowsAndPacks) {
  const Batches batches = {make_rows({33, 21}), make_rows({12, 40}, 512, 7)};
  for (const recipe::SftConfig& config : {small_config(), packed_config()}) {
    const std::vector<double> whole = losses({}, config, {}, 50, batches);
    EXPECT_LT(whole.back(), whole.front() - 1) << "it trains";
    test::run_on_threads(4, [&](const worker::ProcessGroups& ranks) {
      expect_equal_losses(losses(ranks.group("cp"), config, options_with("thd", "ring"), 50, batches), whole, "thd ring");
    });
  }
}

// With the same rows in a step, packs and rows have the same loss: the divisor counts real tokens.
TEST(PackedTraining, PacksAndRowsGiveTheSameLosses) {
  expect_equal_losses(losses({}, packed_config(), {}, 8), losses({}, small_config(), {}, 8), "one rank");
}

TEST(PackedTraining, DynamicBatchesAndRowsGiveTheSameLosses) {
  recipe::SftConfig config = small_config();
  config.dynamic_batching = {true, 96, 8};
  const std::vector<double> rows = losses({}, small_config(), {}, 8);
  expect_equal_losses(losses({}, config, {}, 8), rows, "one rank");
  test::run_on_threads(2, [&](const worker::ProcessGroups& ranks) {
    expect_equal_losses(losses(ranks.group("cp"), config, options_of("round_robin"), 8), rows, "two ranks");
  });
}

std::vector<at::Tensor> logprobs(const ProcessGroup& group, const recipe::SftConfig& config, const SftTrainerOptions& options,
                                 const std::vector<Row>& rows) {
  Training training(group, at::kFloat, config, options);
  std::vector<at::Tensor> result;
  training.trainer.accumulate_gradients(pointers(rows), &result);
  return result;
}

TEST(PackedTraining, ADocumentInAPackGivesTheValuesThatItGivesAlone) {
  const std::vector<Row> rows = make_rows({20, 13, 7});
  std::vector<at::Tensor> alone;
  for (const Row& row : rows) alone.push_back(logprobs({}, small_config(), {}, {row}).front());
  const auto expect_alone = [&](const std::vector<at::Tensor>& together, const std::string& what) {
    ASSERT_EQ(together.size(), rows.size()) << what;
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_TRUE(at::allclose(together[i], alone[i], 1e-5, 1e-5)) << what << ", document " << i;
      EXPECT_EQ(together[i].size(0), static_cast<int64_t>(rows[i].ids.size())) << what;
    }
  };
  expect_alone(logprobs({}, packed_config(), {}, rows), "one rank");
  for (const std::string& flavour : layout::flavour_names())
    test::run_on_threads(2, [&](const worker::ProcessGroups& ranks) {
      expect_alone(logprobs(ranks.group("cp"), packed_config(), options_with(flavour, layout::names::kRing), rows), flavour);
    });
}

TEST(PackedTraining, ChangingOneDocumentLeavesTheNextAsItWasBitForBit) {
  std::vector<Row> rows = make_rows({20, 13, 7});
  std::vector<Row> changed = rows;
  for (int64_t& id : changed[0].ids) id = (id + 11) % 512;
  const auto expect_untouched = [&](const ProcessGroup& group, const std::string& flavour) {
    const std::vector<at::Tensor> before = logprobs(group, packed_config(), options_with(flavour, layout::names::kRing), rows);
    const std::vector<at::Tensor> after = logprobs(group, packed_config(), options_with(flavour, layout::names::kRing), changed);
    EXPECT_FALSE(at::equal(before[0], after[0])) << flavour;
    for (const size_t i : {1, 2}) EXPECT_TRUE(at::equal(before[i], after[i])) << flavour << ", document " << i;
  };
  expect_untouched({}, "round_robin");
  for (const std::string& flavour : layout::flavour_names())
    test::run_on_threads(2, [&](const worker::ProcessGroups& ranks) { expect_untouched(ranks.group("cp"), flavour); });
}

// The demo over two ranks, a row at a time, without ringwright.cp.chunk.
TEST(PackedTraining, BalancedGivesEveryRankTargetsOfShortStreams) {
  recipe::SftConfig config = small_config();
  config.train_micro_batch_size = 1;
  const std::vector<double> whole = losses({}, config, {}, 2);
  for (const int cp : {2, 4})
    test::run_on_threads(cp, [&](const worker::ProcessGroups& ranks) {
      expect_equal_losses(losses(ranks.group("cp"), config, options_of("balanced"), 2), whole, "balanced");
    });
}

TEST(PackedTraining, AStepCountsItsPacksAndTheirSlots) {
  Training training({}, at::kFloat, packed_config(64));
  const std::vector<Row> rows = make_rows({33, 30, 20});  // slots 40, 32, 24
  const SftStep step = training.trainer.step(pointers(rows));
  EXPECT_EQ(step.pack_count, 2);
  EXPECT_EQ(step.pack_slot_count, 40 + 32 + 24);
  EXPECT_EQ(step.token_count, 83);
  Training unpacked({}, at::kFloat);
  EXPECT_EQ(unpacked.trainer.step(pointers(rows)).pack_count, 0);
}

TEST(PackedTraining, ValidationIsPackedTooAndGivesTheMeanOverItsTargets) {
  const std::vector<Row> rows = make_rows({33, 30, 20});
  Training packed({}, at::kFloat, packed_config()), plain({}, at::kFloat);
  EXPECT_NEAR(packed.trainer.evaluate(pointers(rows)), plain.trainer.evaluate(pointers(rows)), 1e-5);
}

}  // namespace
}  // namespace ringwright::worker
