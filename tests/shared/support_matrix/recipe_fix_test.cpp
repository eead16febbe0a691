// `check --fix`: safe changes are made in the recipe's own text, others are offered, and a parent is never written.
#include "shared/support_matrix/recipe_fix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.h"

namespace ringwright::support_matrix {
namespace {

constexpr const char* kParent =
    "sft: {max_num_steps: 1}  # parent\n"
    "policy:\n"
    "  model_name: m\n"
    "  max_total_sequence_length: 16\n"
    "  train_global_batch_size: 2\n"
    "  dtensor_cfg: {enabled: true, _v2: true, sequence_parallel: true}\n"
    "data: {train: {data_path: a.txt}}\n";
constexpr const char* kChild =
    "defaults: parent.yaml\n"
    "# the child's own words\n"
    "policy:\n"
    "  precision: bfloat16 # of the cluster\n"
    "checkpointing: {enabled: true, save_consolidated: 'final'}\n";

class Recipes {
 public:
  explicit Recipes(const std::string& child = kChild) {
    write("parent.yaml", kParent);
    write("child.yaml", child);
  }
  void write(const char* name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::string read(const char* name) const {
    std::stringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  struct Fixed : RecipeFix {
    recipe::EditedRecipe edited;
  };
  Fixed fix(const std::vector<Target>& targets = {Target::ringwright}, const std::vector<std::string>& overrides = {}) const {
    const std::filesystem::path file = folder_ / "child.yaml";
    CheckOptions how{.look_at_files = false, .machine = Machine{}};
    recipe::ParentCache parents;
    Fixed fixed{fix_recipe(file, read("child.yaml"), overrides, targets, how, parents), {}};
    fixed.edited = recipe::edit_recipe(file, fixed.edits);
    return fixed;
  }

 private:
  test::TemporaryFolder folder_;
};

std::vector<std::string> made(const RecipeFix& fix) {
  std::vector<std::string> texts;
  for (const support_matrix::Change& change : fix.made) texts.push_back(support_matrix::as_override(change));
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST(RecipeFix, MakesSafeChangesAndOffersTheOthers) {
  const Recipes recipes;
  const auto fix = recipes.fix();
  EXPECT_EQ(made(fix), (std::vector<std::string>{"checkpointing.save_consolidated=every", "policy.dtensor_cfg.sequence_parallel=false"}));
  ASSERT_EQ(fix.left.size(), 1U);
  EXPECT_EQ(fix.left[0].code, "RW-GUARD-150");
  EXPECT_NE(fix.edited.after.find("precision: bfloat16 # of the cluster"), std::string::npos);
  EXPECT_NE(fix.edited.after.find("# the child's own words"), std::string::npos);
}

TEST(RecipeFix, WritesNothingByItselfAndNeverAParent) {
  const Recipes recipes;
  const auto fix = recipes.fix();
  EXPECT_EQ(recipes.read("child.yaml"), kChild);
  recipe::save(fix.edited);
  EXPECT_EQ(recipes.read("parent.yaml"), kParent);
  EXPECT_EQ(recipes.read("child.yaml"), fix.edited.after);
}

TEST(RecipeFix, WhatItLeavesHasNothingSafeToDo) {
  const Recipes recipes;
  recipe::save(recipes.fix().edited);
  const auto again = recipes.fix();
  EXPECT_EQ(made(again), std::vector<std::string>());
  EXPECT_EQ(again.edited.before, again.edited.after);
}

TEST(RecipeFix, AnOverrideOfTheCommandLineIsLeftAlone) {
  const auto fix = Recipes().fix({Target::ringwright}, {"policy.dtensor_cfg.sequence_parallel=true"});
  EXPECT_EQ(made(fix), std::vector<std::string>{"checkpointing.save_consolidated=every"});
}

TEST(RecipeFix, AKeyOfAParentThatGoesIsNullInTheChild) {
  Recipes recipes("defaults: parent.yaml\n");
  recipes.write("parent.yaml", std::string(kParent) + "ringwright: {restart: {max: 2}}\n");
  const auto fix = recipes.fix();
  EXPECT_EQ(made(fix), (std::vector<std::string>{"policy.dtensor_cfg.sequence_parallel=false", "~ringwright.restart"}));
  recipe::save(fix.edited);
  EXPECT_FALSE(support_matrix::refused(recipes.fix().examination.findings)) << fix.edited.after;
}

TEST(RecipeFix, AChangeThatBringsUpAnotherRowIsFollowed) {
  // One tensor rank is what this version has; sequence parallelism has no effect over one, which no row says of two.
  Recipes recipes("defaults: parent.yaml\npolicy: {dtensor_cfg: {tensor_parallel_size: 2}}\ncluster: {gpus_per_node: 2}\n");
  EXPECT_EQ(made(recipes.fix()),
            (std::vector<std::string>{"policy.dtensor_cfg.sequence_parallel=false", "policy.dtensor_cfg.tensor_parallel_size=1"}));
}

TEST(RecipeFix, AFindingsChangesAreMadeTogether) {
  Recipes recipes("defaults: parent.yaml\npolicy: {dtensor_cfg: {sequence_parallel: false, automodel_kwargs: {backend: {enable_deepep: true}}}}\n");
  const auto fix = recipes.fix({Target::automodel_0_6});
  EXPECT_EQ(made(fix), (std::vector<std::string>{"policy.dtensor_cfg.automodel_kwargs.backend.dispatcher=deepep",
                                                 "policy.dtensor_cfg.automodel_kwargs.backend.experts=gmm",
                                                 "~policy.dtensor_cfg.automodel_kwargs.backend.enable_deepep"}));
}

TEST(RecipeFix, ATimeLimitIsNotTakenAwayUnasked) {
  Recipes recipes(
      "defaults: parent.yaml\npolicy: {dtensor_cfg: {sequence_parallel: false}}\ncheckpointing: {checkpoint_must_save_by: '00:03:45:00'}\n");
  const auto fix = recipes.fix();
  EXPECT_EQ(made(fix), std::vector<std::string>());
  ASSERT_EQ(fix.left.size(), 1U);
  EXPECT_EQ(fix.left[0].code, "RW-GUARD-171");
}

TEST(RecipeFix, AKeyThatWasChangedIsOfferedWithAnotherValueAlone) {
  // Packs of 13 become 16 for the divisor; a document of 20 takes 24.
  Recipes recipes(
      "defaults: parent.yaml\npolicy:\n  max_total_sequence_length: 20\n  dtensor_cfg: {sequence_parallel: false}\n"
      "  sequence_packing: {enabled: true, train_mb_tokens: 13}\nringwright: {packing: {document_divisor: 8}}\n");
  const auto fix = recipes.fix();
  EXPECT_EQ(made(fix), std::vector<std::string>{"policy.sequence_packing.train_mb_tokens=16"});
  ASSERT_EQ(fix.left.size(), 1U);
  EXPECT_EQ(fix.left[0].code, "RW-GUARD-148");
  ASSERT_EQ(fix.left[0].changes.size(), 1U);
  EXPECT_EQ(as_override(fix.left[0].changes[0]), "policy.sequence_packing.train_mb_tokens=24");
}

}  // namespace
}  // namespace ringwright::support_matrix
