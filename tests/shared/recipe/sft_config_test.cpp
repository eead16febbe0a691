#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/base/error.h"
#include "shared/recipe/recipe.h"
#include "shared/recipe/typed.h"
#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::recipe {
namespace {

const std::filesystem::path kDemo = std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / "assets/recipes/demo-sft-cp2.yaml";

std::string code_of(const std::vector<std::string>& overrides) {
  try {
    sft_config(load_recipe(kDemo, overrides));
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_THAT(error.parts().where, testing::HasSubstr("("));
    return error.parts().code;
  }
  return "";
}

TEST(SftConfig, ReadsTheDemo) {
  const SftConfig config = sft_config(load_recipe(kDemo));
  EXPECT_EQ(config.name, "demo-sft-cp2");
  EXPECT_EQ(config.max_num_steps, 50);
  EXPECT_EQ(config.cp, 2);
  EXPECT_EQ(config.world_size, 2);
  EXPECT_EQ(config.max_total_sequence_length, 512);
  EXPECT_EQ(config.make_sequence_length_divisible_by, 4);
  EXPECT_EQ(config.tokenizer_name, "demo");
  EXPECT_EQ(config.precision, "float32");
  EXPECT_DOUBLE_EQ(config.max_grad_norm, 1.0);
  EXPECT_DOUBLE_EQ(config.optimizer.lr, 1e-3);
  EXPECT_DOUBLE_EQ(config.optimizer.beta2, 0.98);
  EXPECT_EQ(config.train.path, "kjv");
  EXPECT_EQ(config.train.format, "text");
  EXPECT_EQ(config.validation.path, "");
  EXPECT_TRUE(config.checkpointing_enabled);
  EXPECT_EQ(config.save_period, 50);
}

TEST(SftConfig, ReadsTheScheduleAsPiecesAndMilestones) {
  const SftConfig config = sft_config(load_recipe(kDemo));
  ASSERT_EQ(config.scheduler.size(), 2u);
  EXPECT_EQ(config.scheduler[0].name, "LinearLR");
  EXPECT_DOUBLE_EQ(config.scheduler[0].start_factor, 0.2);
  EXPECT_EQ(config.scheduler[0].total_iters, 5);
  EXPECT_EQ(config.scheduler[1].name, "CosineAnnealingLR");
  EXPECT_EQ(config.scheduler[1].t_max, 45);
  EXPECT_DOUBLE_EQ(config.scheduler[1].eta_min, 1e-4);
  EXPECT_EQ(config.scheduler_milestones, std::vector<int64_t>{5});
}

TEST(SftConfig, TheResolvedRecipeAloneGivesTheSame) {
  const Recipe recipe = load_recipe(kDemo);
  const SftConfig config = sft_config(nlohmann::json(recipe.resolved));
  EXPECT_EQ(config.cp, 2);
  EXPECT_EQ(config.scheduler.size(), 2u);
}

TEST(SftConfig, RowsHaveTheSmallerOfTwoLimits) {
  const auto limit = [](const std::string& value) { return longest_row(sft_config(load_recipe(kDemo, {"data.max_input_seq_length=" + value}))); };
  EXPECT_EQ(limit("128"), 128);
  EXPECT_EQ(limit("\"${div:${policy.max_total_sequence_length},4}\""), 128) << "the quotient is 128.0";
  EXPECT_EQ(limit("4096"), 512);
  EXPECT_EQ(limit("null"), 512);
  EXPECT_EQ(code_of({"data.max_input_seq_length=long"}), "RW-RECIPE-021");
}

TEST(SftConfig, FusedAdamBeginsWithoutDecay) {
  const std::string name = "policy.optimizer.name=transformer_engine.pytorch.optimizers.fused_adam.FusedAdam";
  EXPECT_DOUBLE_EQ(sft_config(load_recipe(kDemo, {name, "~policy.optimizer.kwargs.weight_decay"})).optimizer.weight_decay, 0);
  EXPECT_DOUBLE_EQ(sft_config(load_recipe(kDemo, {name})).optimizer.weight_decay, 0.01);
  EXPECT_DOUBLE_EQ(sft_config(load_recipe(kDemo, {"~policy.optimizer.kwargs.weight_decay"})).optimizer.weight_decay, 0.01)
      << "torch.optim.AdamW's own";
}

TEST(SftConfig, NullClippingMeansNone) { EXPECT_EQ(sft_config(load_recipe(kDemo, {"policy.max_grad_norm=null"})).max_grad_norm, 0); }

TEST(SftConfig, AQuotientThatIsWholeCountsAsAWholeNumber) {
  EXPECT_EQ(sft_config(load_recipe(kDemo, {"policy.train_micro_batch_size=${div:4,2}"})).train_micro_batch_size, 2);
}

TEST(SftConfig, ABatchHasAsManyRowsAs32BitsCount) {
  for (const std::string key : {"policy.train_global_batch_size", "policy.train_micro_batch_size", "sft.val_global_batch_size",
                                "sft.val_micro_batch_size", "sft.val_batches"}) {
    EXPECT_EQ(code_of({"++" + key + "=2147483647"}), "") << key;
    EXPECT_EQ(code_of({"++" + key + "=2147483648"}), "RW-RECIPE-022") << key;
  }
}

TEST(SftConfig, WrongKindsRangesAndGapsAreRefusedWithTheirPlace) {
  EXPECT_EQ(code_of({"sft.max_num_steps=many"}), "RW-RECIPE-021");
  EXPECT_EQ(code_of({"sft.max_num_steps=1.5"}), "RW-RECIPE-021");
  EXPECT_EQ(code_of({"policy.train_micro_batch_size=0"}), "RW-RECIPE-022");
  EXPECT_EQ(code_of({"policy.dtensor_cfg.context_parallel_size=99999999"}), "RW-RECIPE-022");
  EXPECT_EQ(code_of({"policy.optimizer.kwargs.betas=[0.9]"}), "RW-RECIPE-021");
  EXPECT_EQ(code_of({"policy.optimizer.kwargs.lr=nan"}), "RW-RECIPE-022");
  EXPECT_EQ(code_of({"~data.max_input_seq_length", "~policy.max_total_sequence_length"}), "RW-RECIPE-020");
  EXPECT_EQ(code_of({"policy.scheduler=[{name: torch.optim.lr_scheduler.OneCycleLR}]"}), "RW-RECIPE-022");
  EXPECT_EQ(code_of({"policy.scheduler=[{milestones: [5]}]"}), "RW-RECIPE-022");
  EXPECT_EQ(code_of({"~data.train"}), "RW-RECIPE-020");
  EXPECT_EQ(code_of({"data.train.dataset_name=words.parquet"}), "RW-RECIPE-022");
  EXPECT_EQ(code_of({"+ringwright.cp.flavour=spiral"}), "RW-RECIPE-022");
}

TEST(SftConfig, ReadsHowSequencesAreSharded) {
  const SftConfig demo = sft_config(load_recipe(kDemo));
  EXPECT_EQ(demo.cp_flavour, "");
  EXPECT_EQ(demo.cp_method, "auto");
  EXPECT_EQ(demo.cp_transport, "auto");
  const SftConfig config = sft_config(load_recipe(kDemo, {"+ringwright.cp.flavour=balanced", "+ringwright.cp.method=ranged",
                                                          "+ringwright.cp.transport=gloo", "+policy.dtensor_cfg.cp_rotate_method=allgather"}));
  EXPECT_EQ(config.cp_flavour, "balanced");
  EXPECT_EQ(config.cp_method, "ranged") << "the recipe's own word wins";
  EXPECT_EQ(config.cp_rotate_method, "");
  EXPECT_EQ(config.cp_transport, "gloo");
}

ErrorParts error_with(const std::vector<std::string>& overrides) {
  return test::error_of([&] { sft_config(load_recipe(kDemo, overrides)); });
}

// What is missing is mostly there under a wrong name.
TEST(SftConfig, AMissingKeyNamesTheUnknownOneThatIsNear) {
  const ErrorParts parts = error_with({"~policy.model_name", "+policy.modle_name=x", "policy.tokenizer.name=x"});
  EXPECT_EQ(parts.code, "RW-RECIPE-020");
  EXPECT_EQ(parts.what, "the recipe says nothing for policy.model_name, but has policy.modle_name, a key that is not known");
  EXPECT_THAT(parts.where, testing::HasSubstr("policy.modle_name"));
  EXPECT_EQ(parts.action, "write model_name instead of modle_name");
  // As where another key refers to it.
  const ErrorParts reference = error_with({"~policy.model_name", "+policy.modle_name=x"});
  EXPECT_EQ(reference.code, "RW-RECIPE-009");
  EXPECT_EQ(reference.what, "${policy.model_name} names nothing in this recipe, but there is policy.modle_name, a key that is not known");
  EXPECT_EQ(reference.action, "write model_name instead of modle_name");
  EXPECT_EQ(error_with({"~policy.model_name"}).action, "correct it, or add the key");
  // A section, too.
  const nlohmann::json recipe = {{"polcy", {{"model_name", "x"}}}, {"sft", {{"seed", 1}}}};
  EXPECT_EQ(test::error_of([&] { Typed(recipe).required_text("policy.model_name"); }).action, "write policy instead of polcy");
  // Known keys, and those that are unlike, are not what was meant.
  EXPECT_EQ(error_with({"~policy.model_name", "+policy.something_else=x", "policy.tokenizer.name=x"}).action,
            "add policy.model_name, in the file or as +policy.model_name=...");
}

TEST(SftConfig, WordsThatAreOfferedAreThoseThatRun) {
  EXPECT_EQ(error_with({"+ringwright.cp.method=ulysses"}).expected, "one of auto, ring, ranged, all_gather, all_to_all, all_to_all+ring");
  EXPECT_EQ(error_with({"+ringwright.cp.transport=mpi"}).expected, "one of auto, gloo, shared_memory");
  EXPECT_EQ(sft_config(load_recipe(kDemo, {"+ringwright.cp.transport=nccl"})).cp_transport, "nccl") << "a guard's to judge";
  EXPECT_EQ(error_with({"+ringwright.data.text_rows=words"}).expected, "one of windows, lines");
}

// The demo's divisor is made of the sizes, so it is 0 when one of them is.
TEST(SftConfig, ADivisorThatASizeMakesZeroBlamesTheSize) {
  const ErrorParts parts = error_with({"policy.dtensor_cfg.context_parallel_size=0"});
  EXPECT_EQ(parts.code, "RW-RECIPE-022");
  EXPECT_EQ(parts.what, "policy.dtensor_cfg.context_parallel_size is 0");
  EXPECT_EQ(error_with({"policy.make_sequence_length_divisible_by=0"}).what, "policy.make_sequence_length_divisible_by is 0");
}

TEST(SftConfig, NemoRotationsAreMethods) {
  EXPECT_EQ(sft_config(load_recipe(kDemo, {"+policy.dtensor_cfg.cp_rotate_method=allgather"})).cp_method, "all_gather");
  const SftConfig shift = sft_config(load_recipe(kDemo, {"+policy.dtensor_cfg.cp_rotate_method=alltoall"}));
  EXPECT_EQ(shift.cp_method, "ring");
  EXPECT_EQ(shift.cp_rotate_method, "alltoall");
  EXPECT_EQ(code_of({"+policy.dtensor_cfg.cp_rotate_method=addtoall"}), "RW-RECIPE-022");
  EXPECT_EQ(code_of({"+ringwright.cp.method=ulysses"}), "RW-RECIPE-022");
}

TEST(SftConfig, ReadsPacksAndDynamicBatches) {
  const SftConfig off = sft_config(load_recipe(kDemo, {"+policy.sequence_packing.algorithm=of another program"}));
  EXPECT_FALSE(off.packing.enabled) << "what is switched off is not read";
  const SftConfig packed = sft_config(
      load_recipe(kDemo, {"++policy.sequence_packing={enabled: true, train_mb_tokens: 2048, algorithm: modified_ffd, sequence_length_round: 64, "
                          "microbatch_order: largest_first}",
                          "+ringwright.packing.document_divisor=8"}));
  EXPECT_TRUE(packed.packing.enabled);
  EXPECT_EQ(packed.packing.pack_tokens, 2048);
  EXPECT_EQ(packed.packing.sequence_length_round, 64);
  EXPECT_EQ(packed.packing.document_divisor, 8);
  EXPECT_FALSE(packed.packing.skip_long);
  EXPECT_TRUE(packed.packing.largest_first);
  EXPECT_EQ(sft_config(load_recipe(kDemo, {"policy.sequence_packing.enabled=true"})).packing.pack_tokens, 512 * 2);
  EXPECT_EQ(code_of({"++policy.sequence_packing={enabled: true, algorithm: knapsack}"}), "RW-RECIPE-022");
  EXPECT_EQ(error_with({"++policy.sequence_packing={enabled: true, algorithm: knapsack}"}).expected,
            "one of modified_first_fit_decreasing, modified_ffd, first_fit_decreasing, first_fit, concatenative")
      << "each once";
  EXPECT_TRUE(sft_config(load_recipe(kDemo, {"policy.sequence_packing.enabled=true", "+ringwright.packing.skip_long=true"})).packing.skip_long);
  EXPECT_EQ(code_of({"policy.sequence_packing.enabled=true", "policy.make_sequence_length_divisible_by=7"}), "RW-RECIPE-022")
      << "no pack of 1024 tokens is a multiple";
  const SftConfig dynamic =
      sft_config(load_recipe(kDemo, {"++policy.dynamic_batching={enabled: true, train_mb_tokens: 4096, sequence_length_round: 64}"}));
  EXPECT_TRUE(dynamic.dynamic_batching.enabled);
  EXPECT_EQ(dynamic.dynamic_batching.microbatch_tokens, 4096);
  EXPECT_EQ(dynamic.dynamic_batching.sequence_length_round, 64);
  EXPECT_TRUE(sft_config(load_recipe(kDemo, {"+ringwright.data.text_rows=lines"})).train.lines_are_rows);
}

TEST(SftConfig, TheFormatFollowsTheExtensionAlsoOfAGivenPath) {
  EXPECT_EQ(sft_config(load_recipe(kDemo, {"data.train.dataset_name=a/b.jsonl"})).train.format, "prompt_answer");
  EXPECT_EQ(sft_config(load_recipe(kDemo, {"+ringwright.paths.kjv=/x/y.jsonl"})).train.format, "prompt_answer");
}

}  // namespace
}  // namespace ringwright::recipe
