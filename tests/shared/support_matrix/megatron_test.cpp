#include "shared/support_matrix/megatron.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::support_matrix {
namespace {

using nlohmann::ordered_json;

ordered_json recipe_with(ordered_json megatron) {
  megatron["enabled"] = true;
  return {{"policy", {{"dtensor_cfg", {{"enabled", false}, {"tensor_parallel_size", 1}}}, {"megatron_cfg", std::move(megatron)}}}};
}

bool is_for_megatron(const nlohmann::json& resolved) { return reads_megatron(recipe::Typed(resolved)); }

MegatronMapping mapping_of(const ordered_json& recipe) {
  const nlohmann::json resolved = recipe;
  return map_megatron(recipe::Typed(resolved));
}

TEST(MegatronMapping, IsAskedForByTheSwitchAlone) {
  EXPECT_TRUE(is_for_megatron(recipe_with(ordered_json::object())));
  EXPECT_FALSE(is_for_megatron({{"policy", {{"megatron_cfg", {{"enabled", false}}}}}}));
  EXPECT_FALSE(is_for_megatron({{"policy", {{"megatron_cfg", nullptr}}}}));
  EXPECT_FALSE(is_for_megatron(nlohmann::json::object()));
}

TEST(MegatronMapping, StepsThatAreNoNumberOfStepsAreRefused) {
  for (const char* key : {"lr_warmup_iters", "lr_decay_iters"}) {
    for (const ordered_json& steps : {ordered_json(1e30), ordered_json(-1e30), ordered_json(0.5), ordered_json("ten"), ordered_json(-1)}) {
      const ordered_json recipe = recipe_with({{"scheduler", {{"lr_decay_style", "cosine"}, {key, steps}}}});
      const ErrorParts error = test::error_of([&] { mapping_of(recipe); });
      EXPECT_EQ(error.code, steps == -1 ? "RW-RECIPE-022" : "RW-RECIPE-021") << key << " " << steps;
      EXPECT_EQ(error.where, std::string("policy.megatron_cfg.scheduler.") + key);
    }
  }
}

// JSON's text has no such numbers: written as null they would be the default, without a word.
TEST(MegatronMapping, ANumberThatIsNoneIsNotMapped) {
  for (const double value : {std::nan(""), HUGE_VAL}) {
    const std::vector<std::pair<std::string, ordered_json>> cases = {
        {"context_parallel_size", {{"context_parallel_size", value}}},
        {"optimizer.clip_grad", {{"optimizer", {{"clip_grad", value}}}}},
        {"optimizer.adam_beta1", {{"optimizer", {{"adam_beta1", value}, {"adam_beta2", 0.9}}}}},
        {"optimizer.min_lr", {{"optimizer", {{"min_lr", value}}}, {"scheduler", {{"lr_decay_style", "cosine"}, {"lr_decay_iters", 5}}}}},
        {"scheduler.lr_warmup_init", {{"scheduler", {{"lr_warmup_init", value}, {"lr_warmup_iters", 5}}}}}};
    for (const auto& [key, megatron] : cases) {
      const MegatronMapping mapping = mapping_of(recipe_with(megatron));
      EXPECT_EQ(mapping.unmapped_key, "policy.megatron_cfg." + key);
      for (const auto& setting : mapping.settings) EXPECT_EQ(setting.value.dump().find("null"), std::string::npos) << as_override(setting);
    }
  }
}

TEST(MegatronMapping, WrittenIntoTheRecipeItIsTheSameAgain) {
  ordered_json recipe = recipe_with({{"context_parallel_size", 4}, {"optimizer", {{"lr", 1e-5}}}, {"scheduler", {{"lr_warmup_iters", 3}}}});
  const MegatronMapping first = mapping_of(recipe);
  apply_mapping(first, recipe);
  EXPECT_EQ(mapping_of(recipe).summary, first.summary);
  EXPECT_EQ(mapping_of(recipe).settings.size(), first.settings.size());
}

TEST(MegatronMapping, CarriesSizesOptimizerAndClipping) {
  ordered_json recipe = recipe_with({{"tensor_model_parallel_size", 2},
                                     {"context_parallel_size", 4},
                                     {"expert_model_parallel_size", 8},
                                     {"sequence_parallel", true},
                                     {"optimizer",
                                      {{"optimizer", "adam"},
                                       {"lr", 3e-7},
                                       {"adam_beta1", 0.9},
                                       {"adam_beta2", 0.98},
                                       {"adam_eps", 1e-8},
                                       {"weight_decay", 0.1},
                                       {"clip_grad", 0.5}}}});
  const MegatronMapping mapping = mapping_of(recipe);
  EXPECT_EQ(mapping.unmapped_key, "");
  apply_mapping(mapping, recipe);
  const ordered_json& policy = recipe["policy"];
  EXPECT_EQ(policy["dtensor_cfg"]["enabled"], true);
  EXPECT_EQ(policy["dtensor_cfg"]["tensor_parallel_size"], 2);
  EXPECT_EQ(policy["dtensor_cfg"]["context_parallel_size"], 4);
  EXPECT_EQ(policy["dtensor_cfg"]["expert_parallel_size"], 8);
  EXPECT_EQ(policy["dtensor_cfg"]["sequence_parallel"], true);
  EXPECT_EQ(policy["optimizer"]["name"], "torch.optim.AdamW");
  EXPECT_EQ(policy["optimizer"]["kwargs"]["lr"], 3e-7);
  EXPECT_EQ(policy["optimizer"]["kwargs"]["betas"], ordered_json({0.9, 0.98}));
  EXPECT_EQ(policy["optimizer"]["kwargs"]["eps"], 1e-8);
  EXPECT_EQ(policy["max_grad_norm"], 0.5);
}

TEST(MegatronMapping, CosineAfterWarmUpBecomesTwoPieces) {
  ordered_json recipe =
      recipe_with({{"optimizer", {{"lr", 1e-5}, {"min_lr", 1e-6}}},
                   {"scheduler", {{"lr_decay_style", "cosine"}, {"lr_warmup_iters", 10}, {"lr_warmup_init", 1e-6}, {"lr_decay_iters", 100}}}});
  apply_mapping(mapping_of(recipe), recipe);
  const ordered_json& pieces = recipe["policy"]["scheduler"];
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0]["name"], "torch.optim.lr_scheduler.LinearLR");
  EXPECT_NEAR(pieces[0]["kwargs"]["start_factor"].get<double>(), 0.1, 1e-12);
  EXPECT_EQ(pieces[0]["kwargs"]["total_iters"], 10);
  EXPECT_EQ(pieces[1]["name"], "torch.optim.lr_scheduler.CosineAnnealingLR");
  EXPECT_EQ(pieces[1]["kwargs"]["T_max"], 90);
  EXPECT_EQ(pieces[1]["kwargs"]["eta_min"], 1e-6);
  EXPECT_EQ(pieces[2]["milestones"], ordered_json({10}));
}

TEST(MegatronMapping, ConstantWithoutWarmUpIsOnePiece) {
  ordered_json recipe = recipe_with({{"optimizer", {{"lr", 1e-5}}}, {"scheduler", {{"lr_decay_style", "constant"}, {"lr_warmup_iters", 0}}}});
  apply_mapping(mapping_of(recipe), recipe);
  ASSERT_EQ(recipe["policy"]["scheduler"].size(), 1U);
  EXPECT_EQ(recipe["policy"]["scheduler"][0]["name"], "torch.optim.lr_scheduler.ConstantLR");
}

recipe::Recipe recipe_from(const std::filesystem::path& file, const std::vector<std::string>& overrides = {}) {
  return recipe::load_recipe(file, overrides);
}

// The mapping stands in the recipe that is looked at, and in the overrides that ask for the same without it.
TEST(MegatronMapping, IsTheSameAsItsOverridesAndStandsWhereMegatronsDoes) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "megatron.yaml")
      << "sft: {max_num_steps: 3}\n"
         "policy:\n"
         "  scheduler: [{name: torch.optim.lr_scheduler.ConstantLR, kwargs: {factor: 0.5}}]\n"
         "  dtensor_cfg: {enabled: false}\n"
         "  megatron_cfg:\n"
         "    enabled: true\n"
         "    context_parallel_size: 2\n"
         "    optimizer: {optimizer: adam, lr: 1.0e-5, min_lr: 1e-06, adam_beta1: 0.9, adam_beta2: 0.98}\n"
         "    scheduler: {lr_decay_style: cosine, lr_warmup_iters: 2, lr_warmup_init: 1e-06, lr_decay_iters: 9}\n";
  const recipe::Recipe recipe = recipe_from(folder / "megatron.yaml");
  const auto mapped = as_mapped(recipe);
  ASSERT_TRUE(mapped);
  ordered_json without = mapped->resolved;
  without["policy"]["megatron_cfg"]["enabled"] = false;
  EXPECT_EQ(nlohmann::json(recipe_from(folder / "megatron.yaml", mapping_overrides(mapping_of(recipe.resolved))).resolved), nlohmann::json(without));
  const auto run = as_run(recipe);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->resolved, without);
  EXPECT_EQ(run->overrides, mapping_overrides(mapping_of(recipe.resolved)));
  EXPECT_FALSE(as_run(*run)) << "a run that is relaunched is not mapped again";
  EXPECT_EQ(recipe::find_origin(*mapped, "policy.dtensor_cfg.context_parallel_size").line, 7);
  EXPECT_EQ(recipe::find_origin(*mapped, "policy.optimizer.kwargs.lr").line, 8);
  EXPECT_EQ(recipe::find_origin(*mapped, "policy.scheduler").line, 9);
  EXPECT_FALSE(as_mapped(recipe_from(folder / "megatron.yaml", {"policy.megatron_cfg.enabled=false"})));
}

TEST(MegatronMapping, NamesTheFirstSettingWithoutACounterpart) {
  const std::map<std::string, ordered_json> cases = {
      {"policy.megatron_cfg.scheduler.lr_decay_style", {{"scheduler", {{"lr_decay_style", "WSD"}}}}},
      {"policy.megatron_cfg.optimizer.optimizer", {{"optimizer", {{"optimizer", "sgd"}}}}},
      {"policy.megatron_cfg.expert_tensor_parallel_size", {{"expert_tensor_parallel_size", 2}}},
      {"policy.megatron_cfg.scheduler.end_weight_decay",
       {{"optimizer", {{"weight_decay", 0.01}}}, {"scheduler", {{"start_weight_decay", 0.01}, {"end_weight_decay", 0.1}}}}},
  };
  for (const auto& [key, megatron] : cases) {
    const MegatronMapping mapping = mapping_of(recipe_with(megatron));
    EXPECT_EQ(mapping.unmapped_key, key);
    EXPECT_FALSE(mapping.unmapped_what.empty()) << key;
    EXPECT_FALSE(mapping.unmapped_fix.empty()) << key;
  }
}

}  // namespace
}  // namespace ringwright::support_matrix
