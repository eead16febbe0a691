// T05, T06: the split of the ranks into data and context ranks changes nothing: not a gradient, not a loss, not a weight.
#include <gtest/gtest.h>

#include <map>

#include "daemon/worker/parallel/collectives.h"
#include "tests/daemon/worker/algorithms/small_training.h"
#include "tests/daemon/worker/support/rank_test.h"
#include "tests/deep_tier.h"

namespace ringwright::worker {
namespace {

void expect_same_gradients(const ProcessGroups& ranks, const std::vector<int64_t>& lengths) {
  for (const auto& [type, tolerance] : {std::pair(at::kDouble, 1e-10), std::pair(at::kFloat, 1e-5)}) {
    Training split(ranks, type), whole(ProcessGroup{}, type);
    const std::vector<Row> rows = make_rows(lengths, whole.checkpoint.config.vocab_size);
    const double loss = whole.trainer.accumulate_gradients(pointers(rows));
    EXPECT_NEAR(split.trainer.accumulate_gradients(pointers(rows)), loss, 1e-6 * loss);
    EXPECT_LT(largest_relative_difference(split.model, whole.model), tolerance) << at::toString(type);
    EXPECT_NEAR(split.trainer.evaluate(pointers(rows)), whole.trainer.evaluate(pointers(rows)), 1e-6 * loss);
  }
}

// Uneven rows, uneven counts of trained targets, and a number of rows that no data group divides.
void expect_same_steps(const ProcessGroups& ranks) {
  Training split(ranks, at::kFloat), whole(ProcessGroup{}, at::kFloat);
  const int step_count = test::by_tier(5, 50);
  for (int step = 0; step < step_count; ++step) {
    const std::vector<Row> rows = make_rows({33 + step, 64, 50, 17, 21}, whole.checkpoint.config.vocab_size);
    const SftStep a = split.trainer.step(pointers(rows)), b = whole.trainer.step(pointers(rows));
    ASSERT_NEAR(a.loss, b.loss, 1e-4 * b.loss) << step;
    ASSERT_NEAR(a.grad_norm, b.grad_norm, 1e-3 * b.grad_norm) << step;  // T07: what every rank holds whole counts once
    ASSERT_EQ(a.target_count, b.target_count);
    ASSERT_EQ(a.token_count, b.token_count);
  }
  // One update everywhere: what rank 0 saves is what every rank has.
  for (const auto& [name, parameter] : split.model.parameters()) {
    const at::Tensor first = parameter.detach().clone();
    broadcast(first, 0, ranks.group("world"));
    EXPECT_TRUE(at::equal(first, parameter)) << name;
  }
}

MESH_TEST(DataParallel, T05GradientsAtDp2Cp1, test::data_mesh(2, 1)) { expect_same_gradients(ranks, {8, 8, 8, 8}); }
MESH_TEST(DataParallel, T05GradientsAtDp1Cp2, test::data_mesh(1, 2)) { expect_same_gradients(ranks, {8, 8, 8, 8}); }
MESH_TEST(DataParallel, T05GradientsAtDp2Cp2, test::data_mesh(2, 2)) { expect_same_gradients(ranks, {8, 8, 8, 8}); }
MESH_TEST(DataParallel, T05GradientsAtDp1Cp4, test::data_mesh(1, 4)) { expect_same_gradients(ranks, {8, 8, 8, 8}); }
MESH_TEST(DataParallel, T05GradientsOfUnevenRowsAtDp2Cp2, test::data_mesh(2, 2)) { expect_same_gradients(ranks, {31, 2, 9, 17, 5}); }

MESH_TEST(DataParallel, StepsAtDp2Cp1, test::data_mesh(2, 1)) { expect_same_steps(ranks); }
MESH_TEST(DataParallel, StepsAtDp1Cp2, test::data_mesh(1, 2)) { expect_same_steps(ranks); }
MESH_TEST(DataParallel, StepsAtDp2Cp2, test::data_mesh(2, 2)) { expect_same_steps(ranks); }
MESH_TEST(DataParallel, StepsAtDp1Cp4, test::data_mesh(1, 4)) { expect_same_steps(ranks); }

// T06: one trained target in the whole batch; the data rank without any must not change the divisor.
MESH_TEST(DataParallel, T06TheDivisorCountsTheWholeBatch, test::data_mesh(2, 2)) {
  Training split(ranks, at::kFloat), whole(ProcessGroup{}, at::kFloat);
  std::vector<Row> rows = make_rows({8, 8, 8, 8}, whole.checkpoint.config.vocab_size);
  for (Row& row : rows) std::fill(row.trained.begin(), row.trained.end(), uint8_t{0});
  rows[3].trained[7] = 1;
  const double alone = whole.trainer.evaluate({&rows[3]});
  EXPECT_NEAR(split.trainer.accumulate_gradients(pointers(rows)), alone, 1e-5);
}

// More data ranks than rows: the ranks without a row still take part.
MESH_TEST(DataParallel, ARankWithoutRowsTakesPart, test::data_mesh(3, 1)) { expect_same_gradients(ranks, {12, 7}); }

TEST(DataParallel, RowsAreDealtInStretchesOnceEach) {
  const std::vector<Row> rows = make_rows({2, 2, 2, 2, 2, 2, 2}, 10);
  for (int size = 1; size <= 9; ++size) {
    std::vector<const Row*> joined;
    for (int rank = 0; rank < size; ++rank) {
      const std::vector<const Row*> part = rows_of_rank(pointers(rows), rank, size);
      EXPECT_LE(part.size(), 7 / static_cast<size_t>(size) + 1);
      joined.insert(joined.end(), part.begin(), part.end());
    }
    EXPECT_EQ(joined, pointers(rows)) << size;
  }
}

}  // namespace
}  // namespace ringwright::worker
