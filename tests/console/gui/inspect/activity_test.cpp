// What Rollout, Teacher, Alignment and Memory say of a run, word by word.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/console/gui/inspect/hands.h"
#include "tests/console/gui/inspect/words_test.h"

namespace ringwright::gui {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kRolloutRun = "grpo-sums-cp2";
constexpr const char* kDistillationRun = "distill-other-tokens-cp2";

class Activities : public WordsTest {
 protected:
  void open_run(const std::string& view, const std::string& run, const std::filesystem::path& recipe = {}) {
    Options options = scene_options(data_scenes()[1], folder_.path());
    options.demo_runs = 14;
    options.view = view;
    options.run = run;
    if (!recipe.empty()) options.recipe = recipe;
    open(options);
    EXPECT_TRUE(eventually([&] { return !app().is_reading() && context().run() != nullptr && context().run()->details == Loading::ready; }));
  }
  static std::filesystem::path demo_recipe() { return std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / "assets/recipes/demo-sft-cp2.yaml"; }
};

TEST_F(Activities, ARunIsSelectedByItsNameAtTheStart) {
  open_run("rollout", kRolloutRun);
  EXPECT_EQ(context().run()->record.name, kRolloutRun);
  EXPECT_TRUE(context().selection.shown.contains(context().selection.run));
  open_run("rollout", "nobody");
  EXPECT_EQ(context().run()->record.name, "demo-sft-cp2") << "the newest";
  ASSERT_FALSE(context().toasts.empty());
  EXPECT_THAT(context().toasts.back().notice.text, HasSubstr("no run 'nobody'"));
}

TEST_F(Activities, RolloutShowsTheTimeTheNumbersAndTheTexts) {
  open_run("rollout", kRolloutRun);
  const std::vector<std::string> said = words();
  EXPECT_THAT(said, Contains("Time in step 318"));
  EXPECT_THAT(said, Contains("2 of 2")) << "ranks";
  EXPECT_THAT(said, Contains("step 310, 8 rollouts"));
  EXPECT_THAT(said, Contains(StartsWith("mean reward 0.")));
  for (const char* title : {"reward", "advantage", "logprob gap", "prompt", "reply"}) EXPECT_THAT(said, Contains(title));
}

TEST_F(Activities, AStepWithoutRolloutsNamesTheNearestAndKeysGoFromOneToTheNext) {
  open_run("rollout", kRolloutRun);
  context().selection.step = 305;
  EXPECT_THAT(words(), Contains("No rollouts at step 305; nearest: 300"));
  EXPECT_TRUE(context().commands.run("rollout.step_previous", context()));
  EXPECT_EQ(context().selection.step, 290);
  EXPECT_TRUE(context().commands.run("rollout.step_next", context()));
  EXPECT_EQ(context().selection.step, 300);
  EXPECT_THAT(context().cli_line, StartsWith("ringwright runs samples r_"));
  EXPECT_THAT(context().cli_line, HasSubstr("--of rollout"));
  EXPECT_TRUE(context().commands.run("rollout.order", context()));
  EXPECT_THAT(words(), Contains("reward")) << "the order";
}

TEST_F(Activities, WhatARunHasNotSentIsSaidAndWhereItComesFrom) {
  for (const auto& [view, title] : {std::pair{"rollout", "No rollouts in this run"},
                                    {"teacher", "Nothing of a teacher in this run"},
                                    {"alignment", "No aligned tokens in this run"}}) {
    open_run(view, "demo-sft-cp2");
    const std::vector<std::string> said = words();
    EXPECT_THAT(said, Contains(title));
    EXPECT_THAT(said, Not(Contains(StartsWith("Time in step"))));
    EXPECT_EQ(context().commands.refusal(std::string(view) + ".next", context()).value_or("").substr(0, 2), "no");
  }
}

TEST_F(Activities, TeacherAndAlignmentAreOfTheSameRunAndKeepApart) {
  open_run("teacher", kDistillationRun);
  std::vector<std::string> said = words();
  EXPECT_THAT(said, Contains("teacher forward"));
  EXPECT_THAT(said, Contains("kl"));
  EXPECT_THAT(said, Not(Contains("correct share")));
  open_run("alignment", kDistillationRun);
  said = words();
  EXPECT_THAT(said, Contains("align"));
  EXPECT_THAT(said, Contains("correct share"));
  EXPECT_THAT(said, Contains("11 pairs: 7 one to one, 4 of several tokens, 0 not the same"));
  for (const char* word : {"Tok", "ens", "Tokens", "not the same text"}) EXPECT_THAT(said, Contains(word));
  EXPECT_TRUE(context().commands.run("alignment.next", context()));
  EXPECT_THAT(words(), Contains(HasSubstr("1 not the same"))) << "the pairs are of the row that is current";
}

TEST_F(Activities, ASampleIsReadAsTextAsTokensWithTheirLossAsIdsAndRaw) {
  open_run("rollout", kRolloutRun);
  EXPECT_TRUE(context().commands.run("rollout.form", context()));
  std::vector<std::string> said = words();
  EXPECT_THAT(said, Contains("loss 0"));
  EXPECT_THAT(said, Contains(HasSubstr(", the largest")));
  EXPECT_TRUE(context().commands.run("rollout.form", context()));
  EXPECT_THAT(words(), Contains("ids"));
  EXPECT_TRUE(context().commands.run("rollout.form", context()));
  EXPECT_THAT(words(), Contains(HasSubstr("\"token_losses\"")));
  open_run("teacher", kDistillationRun);
  EXPECT_TRUE(context().commands.run("teacher.form", context()));
  EXPECT_THAT(words(), Contains("Its sender gave texts alone, no tokens."));
}

TEST_F(Activities, MemoryMarksWhatTheRanksOfTheSelectedRunTook) {
  open_run("memory", "demo-sft-cp2", demo_recipe());
  ASSERT_TRUE(eventually([&] { return context().recipe.is_open() && context().recipe.is_idle(); }));
  std::vector<std::string> said = words();
  EXPECT_THAT(said, Contains(StartsWith("demo-sft-cp2 took at most ")));
  EXPECT_THAT(said, Contains(StartsWith("It was started with other settings than this recipe's: ")));
  EXPECT_THAT(said, Contains("measured"));
  context().run()->parts.ranks.clear();
  said = words();
  EXPECT_THAT(said, Contains("demo-sft-cp2 has not reported what its ranks take, so nothing measured is marked."));
  EXPECT_THAT(said, Not(Contains("measured")));
}

TEST_F(Activities, WithoutARecipeMemoryShowsWhatTheRunExpectedAndTook) {
  open_run("memory", kDistillationRun);
  ASSERT_FALSE(context().recipe.is_open());
  std::vector<std::string> said = words();
  EXPECT_THAT(said, Contains("Memory of each rank, as distill-other-tokens-cp2 expected it"));
  EXPECT_THAT(said, Contains(StartsWith("distill-other-tokens-cp2 took at most ")));
  EXPECT_THAT(said, Contains("activations"));
  context().run()->parts.estimate.reset();
  said = words();
  EXPECT_THAT(said, Contains("No recipe is open"));
}

// The Launch view in a column so narrow that the button leaves no room beside it.
TEST_F(Activities, LaunchSaysAllOfItsWordsHoweverNarrowItIs) {
  start(Graphics::Mode::none, 400, 700);
  open_run("launch", "demo-sft-cp2", demo_recipe());
  ASSERT_TRUE(eventually([&] { return context().recipe.is_open() && context().recipe.is_idle(); }));
  const std::string reason = context().commands.refusal("recipe.launch", context()).value_or("");
  ASSERT_GT(reason.size(), 40u);
  std::string all;
  for (const std::string& line : words()) all += line + " ";
  EXPECT_THAT(all, HasSubstr(reason)) << "wrapped, in whole";
  start(Graphics::Mode::none, 1600, 900);
}

}  // namespace
}  // namespace ringwright::gui
