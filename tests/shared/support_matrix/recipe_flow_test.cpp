#include "shared/support_matrix/recipe_flow.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::support_matrix {
namespace {

RecipeFlow flow_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "recipe.yaml") << text;
  return recipe_flow(recipe::load_recipe(folder / "recipe.yaml", overrides), {.look_at_files = false});
}

const char* kRecipe =
    "sft: {}\ncluster: {gpus_per_node: 8}\npolicy: {model_name: m, max_total_sequence_length: 13, train_micro_batch_size: 2,\n"
    "  train_global_batch_size: 8, dtensor_cfg: {enabled: true, context_parallel_size: 4}}\ndata: {train: {data_path: a.txt}}\n";

TEST(RecipeFlow, ReadsTheMeshAndPadsTheLength) {
  const RecipeFlow flow = flow_of(kRecipe);
  EXPECT_EQ(flow.engine, flow::Engine::ringwright);
  EXPECT_EQ(flow.sizes.dp, 2);
  EXPECT_EQ(flow.sizes.cp, 4);
  EXPECT_EQ(flow.sizes.length, 13);
  EXPECT_EQ(flow.sizes.padded_length, 16);
  EXPECT_EQ(flow.sizes.local_length(), 4);
}

TEST(RecipeFlow, ScalesOfTheThreeTargets) {
  const auto scales = loss_scales(flow_of(kRecipe));
  ASSERT_EQ(scales.size(), 3U);
  EXPECT_EQ(scales[0].scale.factor, 8);
  EXPECT_EQ(scales[1].scale.factor, 2);
  EXPECT_EQ(scales[2].scale.factor, 1);
}

TEST(RecipeFlow, APackIsOneRow) {
  const RecipeFlow flow = flow_of(kRecipe, {"++policy.sequence_packing.enabled=true", "++policy.sequence_packing.train_mb_tokens=64"});
  EXPECT_EQ(flow.sizes.rows, 1);
  EXPECT_EQ(flow.sizes.length, 64);
  EXPECT_EQ(flow.sizes.flavour, "thd");
}

TEST(RecipeFlow, AnotherAlgorithmsPathIsNemoRls) {
  const RecipeFlow flow = flow_of(kRecipe, {"~sft", "++grpo.seed=1"});
  EXPECT_EQ(flow.engine, flow::Engine::automodel_0_6);
  EXPECT_NE(flow.note.find("grpo"), std::string::npos);
}

TEST(RecipeFlow, TheLargestBatchIsCountedIn64Bits) {
  const RecipeFlow flow = flow_of(kRecipe, {"policy.train_micro_batch_size=2147483647", "policy.max_total_sequence_length=2147483647"});
  EXPECT_EQ(flow.sizes.rows, 2147483647);
  EXPECT_EQ(flow.sizes.padded_length, 2147483648);
  EXPECT_EQ(flow.tokens_per_rank, int64_t{2147483647} * 2147483648 / flow.sizes.cp);
}

TEST(RecipeFlow, SizesThatAreNoneAreRefused) {
  const std::vector<std::vector<std::string>> cases = {{"policy.train_micro_batch_size=4611686018427387904"},
                                                       {"++policy.make_sequence_length_divisible_by=1e30"},
                                                       {"~sft", "++distillation.seed=1", "++teachers=[{max_total_sequence_length:1e30}]"},
                                                       {"~sft", "++distillation.seed=1", "++teachers=[{dtensor_cfg:{context_parallel_size:1e30}}]"},
                                                       {"~sft", "++distillation.seed=1", "policy.max_total_sequence_length=9223372036854775807"}};
  for (const auto& overrides : cases) {
    const std::string code = test::error_of([&] { flow_of(kRecipe, overrides); }).code;
    EXPECT_TRUE(code == "RW-RECIPE-021" || code == "RW-RECIPE-022") << overrides.back() << ": " << code;
  }
}

TEST(RecipeFlow, MegatronsSizesWhereTheyAreMapped) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "recipe.yaml") << kRecipe;
  const auto recipe = recipe::load_recipe(folder / "recipe.yaml", {"++policy.megatron_cfg={enabled:true,context_parallel_size:8}"});
  EXPECT_EQ(recipe_flow(recipe, {.look_at_files = false, .map_megatron = true}).sizes.cp, 8);
  EXPECT_EQ(recipe_flow(recipe, {.look_at_files = false}).sizes.cp, 4);
}

TEST(RecipeFlow, RanksWithoutAMeshHaveNoStep) {
  const ErrorParts error = test::error_of([] { flow_of(kRecipe, {"policy.dtensor_cfg.context_parallel_size=3"}); });
  EXPECT_EQ(error.code, "RW-GUARD-002");
  EXPECT_EQ(error.exit_code, ExitCode::refused);
}

}  // namespace
}  // namespace ringwright::support_matrix
