// What a recipe and a model make of context parallelism, and why.
#include "shared/shard_plan/shard_plan.h"

#include <gmock/gmock.h>

#include "shared/base/error.h"
#include "shared/layout/method_cost.h"
#include "shared/layout/methods.h"
#include "tests/support/error_of.h"

namespace ringwright::shard_plan {
namespace {

using testing::HasSubstr;

recipe::SftConfig config_of(int cp, int64_t length = 4096) {
  recipe::SftConfig config;
  config.cp = cp;
  config.max_total_sequence_length = length;
  config.train_micro_batch_size = 1;
  return config;
}

recipe::SftConfig packed_config_of(int cp, int64_t length, int64_t pack_tokens) {
  recipe::SftConfig config = config_of(cp, length);
  config.packing.enabled = true;
  config.packing.pack_tokens = pack_tokens;
  return config;
}

model::ContextParallelConfig model_of(std::string model_type, int64_t heads = 8, int64_t kv_heads = 8) {
  model::ContextParallelConfig model;
  model.model_type = std::move(model_type);
  model.heads = heads, model.kv_heads = kv_heads, model.head_size = 64;
  return model;
}

TEST(ShardPlan, TheFlavourIsTheRecipesElseTheFamilys) {
  EXPECT_EQ(plan_shards(config_of(2), model_of("llama")).flavour, "round_robin");
  EXPECT_EQ(plan_shards(packed_config_of(2, 128, 1024), model_of("llama")).flavour, "thd");
  const ShardPlan own = plan_shards(config_of(2), model_of("kimi_linear"));
  EXPECT_EQ(own.flavour, "contiguous");
  EXPECT_THAT(own.flavour_reason, HasSubstr("the family kimi_linear's for rows"));
  recipe::SftConfig named = config_of(2);
  named.cp_flavour = "balanced";
  EXPECT_EQ(plan_shards(named, model_of("kimi_linear")).flavour, "balanced");
  EXPECT_THAT(plan_shards(named, model_of("llama")).flavour_reason, HasSubstr("ringwright.cp.flavour"));
  EXPECT_EQ(plan_shards(config_of(1), model_of("gemma3")).flavour, "none") << "nothing is spread";
}

TEST(ShardPlan, AFamilyWithoutAFlavourIsRefusedUnlessTheRecipeNamesOne) {
  const ErrorParts parts = test::error_of([] { plan_shards(config_of(2), model_of("gemma3")); });
  EXPECT_EQ(parts.code, "RW-CP-005");
  EXPECT_THAT(parts.what, HasSubstr("gemma3"));
  EXPECT_EQ(test::error_code([] { plan_shards(config_of(2), model_of("glm_moe_dsa")); }), "RW-CP-005") << "packs only";
  EXPECT_EQ(plan_shards(packed_config_of(2, 128, 1024), model_of("glm_moe_dsa")).flavour, "glm");
}

TEST(ShardPlan, AMethodByNameIsTakenAndSaysSo) {
  recipe::SftConfig named = config_of(2);
  named.cp_method = "all_gather";
  EXPECT_EQ(plan_shards(named, model_of("llama")).method, "all_gather");
  EXPECT_THAT(plan_shards(named, model_of("llama")).method_reason, HasSubstr("ringwright.cp.method"));
  named.cp_method = "ring", named.cp_rotate_method = "alltoall";
  EXPECT_THAT(plan_shards(named, model_of("llama")).method_reason, HasSubstr("alltoall is ring here"));
  EXPECT_EQ(plan_shards(config_of(1), model_of("llama")).method, "ring");
}

// What a run does with the same lengths, worked out here from the cost model itself.
TEST(ShardPlan, AutoIsTheCheapestOverTheRecipesOwnLengths) {
  for (const int cp : {2, 4, 6}) {
    for (const int64_t length : {256, 1024, 16'384}) {
      recipe::SftConfig config = config_of(cp, length);
      config.train_micro_batch_size = 2;
      const auto layout = layout::make_layout("round_robin", cp);
      const int64_t padded_length = layout->padded_length(length);
      const layout::MaskArea area({}, padded_length);
      const layout::MethodChoice choice = layout::choose_method(
          {.layout = *layout, .area = area, .padded_length = padded_length, .rows = 2, .heads = {12, 6}, .head_size = 64, .value_bytes = 4});
      const ShardPlan plan = plan_shards(config, model_of("llama", 12, 6));
      EXPECT_EQ(plan.method, choice.method);
      EXPECT_THAT(plan.method_reason, HasSubstr("for 2 rows of "));
      EXPECT_THAT(plan.method_reason, HasSubstr(choice.reason));
    }
  }
}

TEST(ShardPlan, HeadsThatCannotBeDealtAreNeverChosen) {
  for (const int cp : {2, 3, 4, 5, 8}) {
    const ShardPlan plan = plan_shards(config_of(cp, 4000), model_of("llama", 7, 7));
    EXPECT_EQ(layout::method_head_refusal(plan.method, {7, 7}, cp), "") << plan.method;
    EXPECT_THAT(plan.method, testing::Not(HasSubstr("all_to_all")));
  }
}

// Documents that fit on one rank need not be sent round: a pack of many is cheaper than one sequence of its length.
TEST(ShardPlan, PacksAreWeighedAsPacks) {
  recipe::SftConfig config = packed_config_of(2, 64, 8192);
  config.cp_flavour = "balanced", config.cp_chunk = 64;
  const ShardPlan plan = plan_shards(config, model_of("llama"));
  EXPECT_THAT(plan.method_reason, HasSubstr("a pack of 8,192 tokens"));
  EXPECT_EQ(plan.method, "ranged") << plan.method_reason;
}

TEST(ShardPlan, EveryFlavourCanBePlannedForRowsAndPacks) {
  for (const std::string& flavour : layout::flavour_names()) {
    for (recipe::SftConfig config : {config_of(3, 101), packed_config_of(3, 101, 1200)}) {
      config.cp_flavour = flavour, config.cp_chunk = 16, config.train_micro_batch_size = 3;
      const ShardPlan plan = plan_shards(config, model_of("llama", 6, 3));
      EXPECT_EQ(plan.flavour, flavour);
      EXPECT_FALSE(plan.method.empty());
    }
  }
}

TEST(ShardPlan, WhatTheFamilySaysOfPaddingAndWindowsIsInThePlan) {
  const auto config = [](const char* more) {
    return nlohmann::json::parse(std::string(R"({"num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 64, "num_hidden_layers": 2, )") +
                                 more + "}");
  };
  const auto plan = [&](const char* more) { return plan_shards(config_of(2), model::parse_context_parallel_config(config(more), "config.json")); };
  EXPECT_EQ(plan(R"("model_type": "deepseek_v4", "compress_ratios": [4, 6])").pad_multiple, 24);
  EXPECT_EQ(plan(R"("model_type": "deepseek_v4", "compress_ratios": [4, 6])").flavour, "deepseek_v4");
  EXPECT_EQ(plan(R"("model_type": "mistral", "sliding_window": 32)").mask.window, 32);
  EXPECT_EQ(plan(R"("model_type": "mistral", "sliding_window": null)").mask.window, 0);
  EXPECT_EQ(plan(R"("model_type": "qwen2", "sliding_window": 32, "use_sliding_window": true, "max_window_layers": 1)").mask.window, 0)
      << "one layer of two";
}

}  // namespace
}  // namespace ringwright::shard_plan
