#include "shared/flow/flow.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringwright::flow {
namespace {

std::vector<std::string> names(Engine engine, LossKind loss, const StepSizes& sizes) {
  std::vector<std::string> result;
  for (const StageText& stage : path(engine, loss, sizes)) result.emplace_back(stage.name);
  return result;
}

std::string shape_of(const std::vector<StageText>& stages, Stage stage) {
  const auto found = std::find_if(stages.begin(), stages.end(), [&](const StageText& each) { return each.stage == stage; });
  return found == stages.end() ? "none" : shape_text(found->shape);
}

TEST(Flow, OursTakesTheGradientOfAChunkBeforeItGathers) {
  EXPECT_EQ(names(Engine::ringwright, LossKind::partitioned, {.length = 7, .padded_length = 8, .cp = 2}),
            (std::vector<std::string>{"canonical batch", "shift", "shard", "forward", "log-probabilities", "backward", "gather and trim",
                                      "sum of gradients", "update"}));
}

TEST(Flow, NemoRlGathersBeforeTheLoss) {
  const auto stages = names(Engine::automodel_0_6, LossKind::replicated, {.length = 8, .padded_length = 8});
  const auto at = [&](const char* name) { return std::find(stages.begin(), stages.end(), name) - stages.begin(); };
  EXPECT_LT(at("gather and trim"), at("loss"));
  EXPECT_LT(at("loss"), at("backward"));
}

TEST(Flow, TeachersOfOtherTokenizersHaveAWindow) {
  const StepSizes sizes{.rows = 2, .length = 12, .padded_length = 12, .cp = 2, .teacher_length = 16, .teacher_vocabulary = 64, .teachers = true};
  const auto stages = path(Engine::automodel_0_6, LossKind::partitioned, sizes);
  EXPECT_EQ(shape_of(stages, Stage::teacher_window), "[B 2, T/cp 8, U 64]");
  EXPECT_EQ(shape_of(stages, Stage::window), "[B 2, S/cp 6]");
  EXPECT_EQ(shape_of(path(Engine::automodel_0_6, LossKind::replicated, {.length = 8, .padded_length = 8}), Stage::teacher_window), "none");
}

TEST(Flow, ShapesCountPaddingOnRanksAndNotInTheBatch) {
  const auto stages = path(Engine::ringwright, LossKind::partitioned, {.rows = 3, .length = 7, .padded_length = 8, .hidden = 16, .cp = 2});
  EXPECT_EQ(shape_of(stages, Stage::batch), "[B 3, S 7]");
  EXPECT_EQ(shape_of(stages, Stage::shard), "[B 3, L 4]");
  EXPECT_EQ(shape_of(stages, Stage::forward), "[B 3, L 4, d 16]");
  EXPECT_EQ(shape_of(stages, Stage::gather), "[B 3, S 7]");
}

TEST(Flow, WhatIsNotKnownIsALetter) {
  EXPECT_EQ(shape_of(path(Engine::ringwright, LossKind::partitioned, {.length = 8, .padded_length = 8}), Stage::forward), "[B 1, L 8, d]");
}

TEST(Flow, TheLegendHasTheLettersOfThePathAndNoOthers) {
  const StepSizes sizes{.rows = 2, .length = 12, .padded_length = 12, .cp = 2, .teacher_length = 16, .teacher_vocabulary = 64, .teachers = true};
  EXPECT_EQ(legend(path(Engine::ringwright, LossKind::partitioned, {.length = 8, .padded_length = 8})),
            "B rows, S tokens of a row, L of them on one rank, d hidden size");
  EXPECT_EQ(legend(path(Engine::automodel_0_6, LossKind::partitioned, sizes)),
            "B rows, S tokens of a row, L of them on one rank, d hidden size, T tokens of a teacher's row, U the teacher's vocabulary");
  EXPECT_THROW(legend({StageText{Stage::batch, "", "", {{"Q", 1}}, ""}}), std::logic_error);
}

// The gradient of the sum of w x token over a batch, as dp x cp ranks with `tokens_per_rank` each come by it.
double gradient_of_ranks(Engine engine, LossKind loss, int dp, int cp, int tokens_per_rank) {
  const double factor = loss_scale(engine, loss, dp, cp).factor;
  double sum = 0;
  for (int rank = 0; rank < dp * cp; ++rank) {
    double own = 0;
    for (int token = rank * tokens_per_rank; token < (rank + 1) * tokens_per_rank; ++token) own += token + 1;
    // A replicated loss is evaluated by each of the cp ranks. The gather's backward hands a part the gradients of all of them since Automodel 0.6;
    // before, that of its own rank alone.
    const int copies = loss == LossKind::replicated && engine == Engine::automodel_0_6 ? cp : 1;
    for (int copy = 0; copy < copies; ++copy) sum += factor * own;
  }
  return engine == Engine::ringwright ? sum : sum / (dp * cp);
}

// T05: the factor undoes what averaging and the gather's backward do, whatever the split.
TEST(Flow, EverySplitHasTheGradientOfOneRank) {
  constexpr int kTokens = 144;  // divided by every dp x cp below
  for (const Engine engine : {Engine::ringwright, Engine::automodel_0_4, Engine::automodel_0_6})
    for (const LossKind loss : {LossKind::partitioned, LossKind::replicated})
      for (const int dp : {1, 2, 3, 4})
        for (const int cp : {1, 2, 3, 4})
          EXPECT_DOUBLE_EQ(gradient_of_ranks(engine, loss, dp, cp, kTokens / (dp * cp)), gradient_of_ranks(engine, loss, 1, 1, kTokens))
              << "dp " << dp << ", cp " << cp;
  EXPECT_DOUBLE_EQ(gradient_of_ranks(Engine::ringwright, LossKind::partitioned, 1, 1, kTokens), kTokens * (kTokens + 1) / 2.0);
}

TEST(Flow, FactorsOfTheThreeEngines) {
  EXPECT_EQ(loss_scale(Engine::automodel_0_4, LossKind::replicated, 2, 4).factor, 8);
  EXPECT_EQ(loss_scale(Engine::automodel_0_6, LossKind::replicated, 2, 4).factor, 2);
  EXPECT_EQ(loss_scale(Engine::automodel_0_6, LossKind::partitioned, 2, 4).factor, 8);
  EXPECT_EQ(loss_scale(Engine::ringwright, LossKind::partitioned, 2, 4).factor, 1);
}

}  // namespace
}  // namespace ringwright::flow
