// Two runs side by side: the arithmetic, and what tells that they were not trained on the same batches.
#include <gtest/gtest.h>

#include <cmath>

#include "shared/history/comparability.h"
#include "shared/history/comparison.h"
#include "tests/shared/history/temporary_store.h"

namespace ringwright::history {
namespace {

std::vector<MetricPoint> points(const std::vector<std::pair<int64_t, double>>& values) {
  std::vector<MetricPoint> points;
  for (const auto& [step, value] : values) points.push_back({step, value, -1, 0, 0});
  return points;
}

TEST(Comparison, FindsTheLargestRelativeDifference) {
  const Comparison result = compare(points({{1, 4.0}, {2, 2.0}, {3, 1.0}}), points({{1, 4.0}, {2, 2.002}, {3, 1.0001}}));
  EXPECT_EQ(result.common, 3);
  EXPECT_EQ(result.largest->step, 2);
  EXPECT_NEAR(*result.largest->relative_difference, 0.002 / 2.002, 1e-12);
  EXPECT_EQ(*result.steps[0].relative_difference, 0.0);
  EXPECT_TRUE(is_within(result, 1e-3));
  EXPECT_FALSE(is_within(result, 9e-4));
}

TEST(Comparison, AStepThatOneLacksIsBeyondAnyTolerance) {
  const Comparison result = compare(points({{1, 4.0}, {2, 2.0}}), points({{2, 2.0}, {3, 1.0}}));
  EXPECT_EQ(result.common, 1);
  EXPECT_EQ(result.only_a, 1);
  EXPECT_EQ(result.only_b, 1);
  ASSERT_EQ(result.steps.size(), 3u);
  EXPECT_FALSE(result.steps[0].relative_difference);
  EXPECT_FALSE(is_within(result, 1e9));
  EXPECT_TRUE(values_are_within(result, 0)) << "the step that both have is the same";
  EXPECT_FALSE(is_within(compare({}, {}), 1e9));
  EXPECT_FALSE(values_are_within(compare({}, {}), 1e9));
}

TEST(Comparison, NumbersThatAreNone) {
  const double nan = std::nan(""), infinity = HUGE_VAL;
  EXPECT_EQ(relative_difference(nan, nan), 0);
  EXPECT_EQ(relative_difference(infinity, infinity), 0);
  EXPECT_EQ(relative_difference(infinity, -infinity), infinity);
  EXPECT_EQ(relative_difference(1, nan), infinity);
  EXPECT_EQ(relative_difference(0, 0), 0);
  EXPECT_EQ(relative_difference(0, 1e-30), 1);
  EXPECT_EQ(relative_difference(-1, 1), 2);
}

TEST(Comparison, CountsEqualBitsAndNamesTheFirstStepThatDiffers) {
  const double next = std::nextafter(2.0, 3.0);
  const Comparison result =
      compare(points({{1, 4.0}, {2, std::nan("")}, {3, 2.0}, {4, 1.0}}), points({{1, 4.0}, {2, std::nan("")}, {3, next}, {4, 3.0}}));
  EXPECT_EQ(result.equal_bits, 2);
  EXPECT_EQ(result.first_different_step, 3);
  EXPECT_DOUBLE_EQ(result.largest_difference, 2.0);
  EXPECT_DOUBLE_EQ(result.mean_difference, (next - 2.0 + 2.0) / 4);
  EXPECT_DOUBLE_EQ(result.mean_relative_difference, ((next - 2.0) / next + 2.0 / 3.0) / 4);
  EXPECT_FALSE(compare(points({{1, 4.0}}), points({{1, 4.0}})).first_different_step);
  EXPECT_EQ(compare(points({{1, 0.0}}), points({{1, -0.0}})).first_different_step, 1) << "the sign of zero is a bit too";
  EXPECT_EQ(compare(points({{1, 4.0}, {2, 1.0}}), points({{1, 4.0}})).first_different_step, 2) << "a step that one run lacks";
}

TEST(Comparison, TheFirstBatchThatDiffersIsFound) {
  const testing::TemporaryFolder folder;
  const RunRecord a = testing::make_run("r_0000000a", "a"), b = testing::make_run("r_0000000b", "b"), c = testing::make_run("r_0000000c", "c");
  {
    Writer writer(folder.store(), {});
    for (const RunRecord& run : {a, b, c}) writer.create_run(run);
    for (const int64_t step : {1, 2, 3})
      for (const RunRecord& run : {a, b, c}) {
        const auto sequence = static_cast<uint64_t>(2 * step);
        writer.append(testing::metric(run.id, 0, sequence, step, "train/global_valid_toks", 100));
        const double packs = run.id == b.id && step > 1 ? 4 : 3;
        if (run.id != c.id) writer.append(testing::metric(run.id, 0, sequence + 1, step, "train/packs", packs));
      }
  }
  const Reader reader(folder.store());
  const auto difference = first_batch_difference(reader, a, b);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->what, "packs");
  EXPECT_EQ(difference->step, 2);
  EXPECT_EQ(difference->a, 3);
  EXPECT_EQ(difference->b, 4);
  EXPECT_FALSE(first_batch_difference(reader, a, a));
  EXPECT_FALSE(first_batch_difference(reader, a, c)) << "rows and packs of the same targets can be compared";
  const auto why = why_not_comparable(reader, a, b);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->what, "step 2 has 3 packs in one and 4 in the other");
  EXPECT_NE(why->action.find("ringwright.packing.document_divisor"), std::string::npos);
  EXPECT_FALSE(why_not_comparable(reader, a, c));
}

RunRecord run_with_recipe(const std::string& id) {
  RunRecord run = testing::make_run(id, id);
  run.recipe = {{"sft", {{"max_num_steps", 5}, {"seed", 1}}},
                {"policy", {{"model_name", "tiny"}, {"train_global_batch_size", 4}, {"max_total_sequence_length", 512}}},
                {"data", {{"shuffle", true}, {"train", {{"dataset_name", "verse"}}}}},
                {"cluster", {{"num_nodes", 1}, {"gpus_per_node", 1}}}};
  return run;
}

TEST(Comparable, OnlyRunsOfTheSameRowsInTheSameOrder) {
  struct Case {
    const char* place;
    nlohmann::json value;
    const char* key;
  };
  const Case cases[] = {{"/sft/seed", 2, "sft.seed is 1 in one and 2 in the other"},
                        {"/data/shuffle", false, "data.shuffle is true in one and false in the other"},
                        {"/policy/train_global_batch_size", 8, "policy.train_global_batch_size is 4 in one and 8"},
                        {"/policy/max_total_sequence_length", 256, "policy.max_total_sequence_length is 512 in one and 256"}};
  const testing::TemporaryFolder folder;
  const Writer writer(folder.store(), {});
  const Reader reader(folder.store());
  const RunRecord a = run_with_recipe("r_0000000a");
  for (const Case& each : cases) {
    RunRecord b = run_with_recipe("r_0000000b");
    EXPECT_FALSE(why_not_comparable(reader, a, b)) << each.key;
    b.recipe[nlohmann::json::json_pointer(each.place)] = each.value;
    const auto why = why_not_comparable(reader, a, b);
    ASSERT_TRUE(why) << each.key;
    EXPECT_TRUE(why->what.starts_with(each.key)) << why->what;
  }
  RunRecord other = run_with_recipe("r_0000000b");
  other.recipe = {{"sft", {{"seed", 7}}}};
  EXPECT_FALSE(why_not_comparable(reader, a, other)) << "a recipe that this release does not read says nothing";
}

TEST(Comparable, NotWithOtherTrainingData) {
  const testing::TemporaryFolder folder;
  const Writer writer(folder.store(), {});
  const Reader reader(folder.store());
  RunRecord a = run_with_recipe("r_0000000a"), b = run_with_recipe("r_0000000b");
  const nlohmann::json::json_pointer hash("/workers/0/inputs/train/xxh3");
  a.fingerprint = nlohmann::json{{"workers", nlohmann::json::array({{{"inputs", {{"train", {{"xxh3", "1"}}}}}}})}};
  EXPECT_FALSE(why_not_comparable(reader, a, b)) << "what is not known does not differ";
  b.fingerprint = a.fingerprint;
  EXPECT_FALSE(why_not_comparable(reader, a, b));
  b.fingerprint[hash] = "2";
  ASSERT_TRUE(why_not_comparable(reader, a, b));
  EXPECT_EQ(why_not_comparable(reader, a, b)->what, "their training data differ");
}

}  // namespace
}  // namespace ringwright::history
