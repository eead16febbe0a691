// What `explain flow` prints is what a step goes through: the same stages in the same order, with the same shapes.
#include <gtest/gtest.h>

#include "shared/flow/flow.h"
#include "tests/daemon/worker/algorithms/small_training.h"
#include "tests/daemon/worker/support/rank_test.h"

namespace ringwright::worker {
namespace {

struct Reached {
  flow::Stage stage;
  std::vector<int64_t> shape;
  friend bool operator==(const Reached&, const Reached&) = default;
};

std::vector<Reached> step_of(const ProcessGroup& cp_group, recipe::SftConfig config, SftTrainerOptions options, const std::vector<int64_t>& lengths,
                             SftStep* step = nullptr, int64_t trained_from = 0) {
  std::vector<Reached> reached;
  options.stage = [&](flow::Stage stage, at::IntArrayRef shape) { reached.push_back({stage, shape.vec()}); };
  config.train_micro_batch_size = static_cast<int64_t>(lengths.size());
  Training training(cp_group, at::kFloat, config, std::move(options));
  std::vector<Row> rows = make_rows(lengths, training.checkpoint.config.vocab_size);
  for (Row& row : rows)
    for (size_t t = 0; t < row.trained.size(); ++t) row.trained[t] = static_cast<int64_t>(t) >= trained_from;
  const SftStep taken = training.trainer.step(pointers(rows));
  if (step) *step = taken;
  return reached;
}

std::vector<Reached> described(const flow::StepSizes& sizes) {
  std::vector<Reached> stages;
  for (const flow::StageText& text : flow::path(flow::Engine::ringwright, flow::LossKind::partitioned, sizes)) {
    Reached stage{text.stage, {}};
    for (const flow::Dimension& each : text.shape) stage.shape.push_back(each.size);
    stages.push_back(std::move(stage));
  }
  return stages;
}

int64_t hidden_size() { return model::read_model_config(kModel).hidden_size; }

TEST(StepFlow, RowsOnOneRank) {
  EXPECT_EQ(step_of(ProcessGroup{}, small_config(), {}, {13, 9}), described({.rows = 2, .length = 13, .padded_length = 13, .hidden = hidden_size()}));
}

TEST(StepFlow, APackOnOneRank) {
  EXPECT_EQ(step_of(ProcessGroup{}, packed_config(32), {}, {13, 9}),
            described({.rows = 1, .length = 32, .padded_length = 32, .hidden = hidden_size(), .packed = true}));
}

RANK_TEST(StepFlow, RowsOverTwoRanks, 2) {
  EXPECT_EQ(step_of(ranks.group("cp"), small_config(), options_of("round_robin"), {13, 9}),
            described({.rows = 2, .length = 13, .padded_length = 16, .hidden = hidden_size(), .cp = 2}));
}

// A rank all of whose tokens are masked is what row RW-GUARD-503 is about: with contiguous shards the first rank has the prompts alone.
RANK_TEST(StepFlow, ARankCountsItsOwnTargets, 2) {
  SftStep step;
  step_of(ranks.group("cp"), small_config(), options_of("contiguous"), {16, 16}, &step, 12);
  EXPECT_EQ(step.rank_slot_count, 16);
  EXPECT_EQ(step.rank_target_count, ranks.group("cp").rank == 0 ? 0 : 8);
}

}  // namespace
}  // namespace ringwright::worker
