// The recipe that is worked on, and what comes back of work that was done elsewhere.
#include "console/gui/recipe/workbench.h"

#include <gmock/gmock.h>

#include <fstream>
#include <future>
#include <iterator>
#include <stdexcept>

#include "tests/support/eventually.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::gui {
namespace {

using support_matrix::Target;

TEST(BackgroundTasksTest, WhatWorkThrowsIsAnOutcome) {
  BackgroundTasks tasks;
  std::vector<ErrorParts> faults;
  const auto fail = [&](const ErrorParts& parts) { faults.push_back(parts); };
  tasks.run([]() -> BackgroundTasks::Outcome { throw Error({"RW-TEST-001", "wrong", "here", "", "do it right"}); }, fail);
  tasks.run([]() -> BackgroundTasks::Outcome { throw std::runtime_error("out of luck"); }, fail);
  bool done = false;
  tasks.run([&]() -> BackgroundTasks::Outcome { return [&] { done = true; }; }, fail);
  EXPECT_TRUE(test::eventually([&] {
    tasks.take_outcomes();
    return tasks.is_idle();
  }));
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0].code, "RW-TEST-001");
  EXPECT_EQ(faults[0].action, "do it right");
  EXPECT_EQ(faults[1].code, "RW-GUI-020");
  EXPECT_THAT(faults[1].what, ::testing::HasSubstr("out of luck"));
  EXPECT_TRUE(done) << "the thread lives on";
}

const std::string kRecipe =
    "sft:\n  max_num_steps: 5\n"
    "policy:\n  model_name: no-such-model\n  train_global_batch_size: 4\n  train_micro_batch_size: 1\n  max_total_sequence_length: 512\n"
    "  dtensor_cfg:\n    enabled: true\n    context_parallel_size: 1\n"
    "data:\n  train: {dataset_name: no-such-data}\n"
    "cluster:\n  num_nodes: 1\n  gpus_per_node: 4\n";

class Workbench : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text = kRecipe) const {
    std::ofstream(folder_.path() / name) << text;
    return folder_.path() / name;
  }
  std::string read(const std::string& name) const {
    std::ifstream stream(folder_.path() / name);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void settle() {
    EXPECT_TRUE(test::eventually([&] {
      workbench_.poll();
      return workbench_.is_idle();
    }));
  }
  void open(const std::string& name) {
    workbench_.open(folder_.path() / name);
    settle();
    ASSERT_EQ(workbench_.document().file(), folder_.path() / name);
  }
  // Holds the thread of the work, so that what is asked for now waits; gone when it is set.
  std::promise<void> hold() {
    std::promise<void> release;
    workbench_.tasks().run(
        [held = release.get_future().share()]() -> BackgroundTasks::Outcome {
          held.wait();
          return {};
        },
        [](const ErrorParts&) {});
    return release;
  }
  int passed() const { return workbench_.guards().counts[static_cast<size_t>(GuardState::passed)]; }
  std::vector<std::string> said() {
    std::vector<std::string> texts;
    for (const Notice& notice : workbench_.take_notices()) texts.push_back(notice.text);
    return texts;
  }

  test::TemporaryFolder folder_;
  RecipeWorkbench workbench_;
};

TEST_F(Workbench, ATargetIsChosenAmongTheGuardsOfTheLastTextThatLoaded) {
  write("a.yaml");
  open("a.yaml");
  const int before = passed();
  ASSERT_GT(before, 10);
  workbench_.change_text(kRecipe + "broken: [1, 2\n", EditOrigin::typing);
  settle();
  ASSERT_TRUE(workbench_.checked()->fault);
  workbench_.choose_target(Target::automodel_0_4);
  EXPECT_GT(passed(), 10) << "of the text before, not of one that was never checked";
  workbench_.choose_target(Target::ringwright);
  EXPECT_EQ(passed(), before);
}

TEST_F(Workbench, AnEditThatCameLateIsNotMadeInAnotherRecipe) {
  write("a.yaml"), write("b.yaml", kRecipe + "# b\n");
  open("a.yaml");
  auto release = hold();
  workbench_.open(folder_.path() / "b.yaml");
  workbench_.set_key("cluster.gpus_per_node", "2", EditOrigin::form);  // of a.yaml, which is still shown
  workbench_.fix_all();
  workbench_.reload();
  release.set_value();
  settle();
  EXPECT_EQ(workbench_.document().file(), folder_.path() / "b.yaml");
  EXPECT_EQ(workbench_.document().text(), kRecipe + "# b\n");
  EXPECT_FALSE(workbench_.document().is_dirty());
  EXPECT_THAT(said(), ::testing::ElementsAre(::testing::StartsWith("The edit of a.yaml was left out"), ::testing::StartsWith("The fix of a.yaml"),
                                             ::testing::StartsWith("Reading of a.yaml")));
}

TEST_F(Workbench, WhatFollowsSavingIsNotDoneToAnotherRecipe) {
  write("a.yaml"), write("b.yaml", kRecipe + "# b\n");
  open("a.yaml");
  workbench_.change_text(kRecipe + "# mine\n", EditOrigin::typing);
  settle();
  auto release = hold();
  workbench_.open(folder_.path() / "b.yaml");
  bool followed = false;
  workbench_.save([&] { followed = true; });
  release.set_value();
  settle();
  EXPECT_EQ(read("a.yaml"), kRecipe + "# mine\n");
  EXPECT_EQ(workbench_.document().saved_text(), kRecipe + "# b\n");
  EXPECT_FALSE(workbench_.document().is_dirty());
  EXPECT_FALSE(followed);
}

TEST_F(Workbench, ThePriceOfTheFileFollowsSaving) {
  write("a.yaml");
  open("a.yaml");
  workbench_.set_key("policy.dtensor_cfg.context_parallel_size", "2", EditOrigin::mesh);
  settle();
  ASSERT_TRUE(workbench_.checked()->price && workbench_.checked()->saved_price);
  EXPECT_EQ(workbench_.checked()->saved_price->tokens_per_rank, 512);
  workbench_.save();
  settle();
  ASSERT_TRUE(workbench_.checked()->saved_price);
  EXPECT_EQ(workbench_.checked()->saved_price->tokens_per_rank, 256);
}

TEST_F(Workbench, GuardsAreKeptForEachTarget) {
  write("a.yaml");
  open("a.yaml");
  for (const Target target : {Target::ringwright, Target::automodel_0_4, Target::automodel_0_6}) {
    const GuardList wanted = guard_list(*workbench_.checked(), target);
    EXPECT_EQ(workbench_.guards(target).counts, wanted.counts);
    EXPECT_EQ(target_words(workbench_.guards(target)), target_words(wanted));
  }
}

}  // namespace
}  // namespace ringwright::gui
