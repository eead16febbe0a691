#include "console/gui/recipe/checked_recipe.h"

#include <gmock/gmock.h>

#include <fstream>

#include "console/gui/recipe/completion.h"
#include "console/gui/recipe/form_fields.h"
#include "console/gui/recipe/guard_rows.h"
#include "console/gui/recipe/line_ends.h"
#include "console/gui/recipe/mesh_plan.h"
#include "tests/support/eventually.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::gui {
namespace {

using support_matrix::Target;

const std::string kBase =
    "sft:\n  max_num_steps: 5\n  max_num_epochs: 1\n"
    "policy:\n  model_name: no-such-model\n  tokenizer: {name: \"${policy.model_name}\"}\n  train_global_batch_size: 4\n"
    "  train_micro_batch_size: 1\n  max_total_sequence_length: 512\n  precision: float32\n"
    "  make_sequence_length_divisible_by: ${mul:2, ${policy.dtensor_cfg.context_parallel_size}}\n"
    "  dtensor_cfg:\n    enabled: true\n    tensor_parallel_size: 1\n    context_parallel_size: 1\n"
    "data:\n  train: {dataset_name: no-such-data}\n"
    "cluster:\n  num_nodes: 1\n  gpus_per_node: 4\n";

class CheckedRecipeTest : public ::testing::Test {
 protected:
  CheckedRecipe check(const std::string& text) const {
    std::ofstream(folder_.path() / "base.yaml") << kBase;
    return check_recipe({1, folder_.path() / "child.yaml", text, text, {}});
  }
  CheckedRecipe child(const std::string& own) const { return check("defaults: base.yaml\n" + own); }

  static void write_model(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "config.json") << R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 512, "hidden_size": 64,
      "intermediate_size": 160, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2})";
  }

  test::TemporaryFolder folder_;
};

TEST_F(CheckedRecipeTest, ATextThatIsNoYamlSaysWhere) {
  const CheckedRecipe checked = check("a:\n  b: [1, 2\nc: 3\n");
  ASSERT_TRUE(checked.fault);
  EXPECT_GT(checked.fault_line, 1);
  EXPECT_EQ(checked.recipe, nullptr);
  EXPECT_TRUE(guard_list(checked, Target::ringwright).rows.empty());
  EXPECT_EQ(target_words(guard_list(checked, Target::ringwright)), "not checked");
}

TEST_F(CheckedRecipeTest, WhatIsMissingIsSkippedAndNeverPassed) {
  const GuardList guards = guard_list(child("policy:\n  max_grad_norm: 1.0\n"), Target::ringwright);
  EXPECT_GT(guards.counts[static_cast<size_t>(GuardState::skipped)], 0);
  EXPECT_GT(guards.counts[static_cast<size_t>(GuardState::passed)], 0);
  EXPECT_TRUE(std::is_sorted(guards.rows.begin(), guards.rows.end(), [](const GuardRow& a, const GuardRow& b) { return a.state < b.state; }));
}

TEST_F(CheckedRecipeTest, AGuardThatCannotBeAskedIsSkippedAsAnInternalError) {
  CheckedRecipe checked = child("");
  checked.check_fault = ErrorParts{"RW-GUI-020", "an internal error: x", "", "", ""};
  const GuardList guards = guard_list(checked, Target::ringwright);
  EXPECT_EQ(guards.counts[static_cast<size_t>(GuardState::passed)], 0);
  EXPECT_GT(guards.counts[static_cast<size_t>(GuardState::skipped)], 10);
  EXPECT_EQ(target_words(guards), "not checked");
}

TEST_F(CheckedRecipeTest, ARefusalComesFirstWithItsPlaceInThisText) {
  const CheckedRecipe checked = child("policy:\n  dtensor_cfg:\n    context_parallel_size: 3\n");
  const GuardList guards = guard_list(checked, Target::ringwright);
  ASSERT_NE(guards.first_refused(), nullptr);
  EXPECT_THAT(target_words(guards), ::testing::StartsWith("refused"));
}

TEST_F(CheckedRecipeTest, AnUnknownKeyIsAWarningAtItsLine) {
  const GuardList guards = guard_list(child("policy:\n  train_micro_batch_sise: 1\n"), Target::ringwright);
  const auto row = std::find_if(guards.rows.begin(), guards.rows.end(), [](const GuardRow& each) { return each.code == "RW-RECIPE-101"; });
  ASSERT_NE(row, guards.rows.end());
  EXPECT_EQ(row->state, GuardState::warning);
  EXPECT_TRUE(row->own_line);
  EXPECT_EQ(row->origin.line, 3);
}

TEST_F(CheckedRecipeTest, LinesSayWhatParentsHaveAndWhatInterpolationsComeTo) {
  const CheckedRecipe checked = child("policy:\n  dtensor_cfg:\n    context_parallel_size: 2\n  max_total_sequence_length: ${mul:4, 256}\n");
  ASSERT_GE(checked.line_ends.size(), 5u);
  EXPECT_EQ(checked.line_ends[3], "base.yaml:15 has 1");
  EXPECT_THAT(checked.line_ends[4], ::testing::StartsWith("= 1024"));
  EXPECT_EQ(checked.line_ends[0], "");
}

TEST_F(CheckedRecipeTest, AValueIsShortenedBehindItsLineAndNowhereElse) {
  const std::string name = "a/" + std::string(60, 'b') + "/" + std::string(60, 'c');
  const CheckedRecipe checked = child("policy:\n  model_name: " + name + "\n  tokenizer:\n    name: \"${policy.model_name}\"\n");
  EXPECT_EQ(value_text(*checked.recipe, "policy.model_name"), name);
  const auto field = std::find_if(form_fields().begin(), form_fields().end(), [](const FormField& each) { return each.key == "policy.model_name"; });
  ASSERT_NE(field, form_fields().end());
  EXPECT_EQ(field_value(*field, checked).value, name) << "the form writes back what it shows";
  EXPECT_THAT(checked.line_ends, ::testing::Contains(::testing::AllOf(::testing::StartsWith("= a/bbb"), ::testing::HasSubstr("[...]"))));
}

TEST_F(CheckedRecipeTest, AModelsFolderMayHaveALongPath) {
  const std::filesystem::path model = folder_.path() / std::string(100, 'm');
  write_model(model);
  EXPECT_TRUE(child("policy:\n  model_name: " + model.string() + "\n").examination.model);
}

TEST_F(CheckedRecipeTest, ANameThatNoFileCanHaveIsNoEndOfTheProgram) {
  for (const size_t bytes : {size_t{300}, size_t{10'000}}) {
    const CheckedRecipe checked = child("policy:\n  model_name: " + std::string(bytes, 'x') + "\n");
    EXPECT_NE(checked.recipe, nullptr);
    EXPECT_FALSE(checked.examination.model);
  }
}

TEST_F(CheckedRecipeTest, TheRanksAreThoseOfTheCluster) {
  EXPECT_EQ(child("").ranks, 4);
  EXPECT_EQ(child("cluster:\n  num_nodes: 2\n").nodes, 2);
  EXPECT_EQ(child("cluster:\n  num_nodes: two\n").ranks, 0);
}

TEST_F(CheckedRecipeTest, ThePriceCountsTheTokensThatTheMemoryIsOf) {
  write_model(folder_.path() / "model");
  const std::string model = "policy:\n  model_name: " + (folder_.path() / "model").string() + "\n";
  const CheckedRecipe rows = child(model);
  ASSERT_TRUE(rows.price && rows.examination.estimate);
  EXPECT_EQ(rows.price->tokens_per_rank, 512);
  const CheckedRecipe dynamic = child(model + "  dynamic_batching: {enabled: true, train_mb_tokens: 2048}\n");
  ASSERT_TRUE(dynamic.price && dynamic.examination.estimate);
  EXPECT_EQ(dynamic.price->tokens_per_rank, 2048) << "a microbatch of several rows";
  EXPECT_EQ(dynamic.price->memory_bytes, dynamic.examination.estimate->memory_bytes());
}

TEST_F(CheckedRecipeTest, EachDimensionOffersWhatMakesAMesh) {
  const MeshPlan plan = plan_mesh(child("policy:\n  dtensor_cfg:\n    context_parallel_size: 2\n"));
  EXPECT_EQ(plan.world(), 4);
  EXPECT_EQ(plan.value("dp"), 2);
  const MeshDimension& cp = plan.dimensions[2];
  EXPECT_EQ(cp.valid, (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(cp.next(1), 4);
  EXPECT_EQ(cp.next(-1), 1);
  ASSERT_TRUE(plan.mesh);
  EXPECT_EQ(plan.mesh->group("cp", 3), (std::vector<int>{2, 3}));
}

TEST_F(CheckedRecipeTest, ASizeThatMakesNoMeshIsShownWithItsRule) {
  const MeshPlan plan = plan_mesh(child("policy:\n  dtensor_cfg:\n    context_parallel_size: 3\n"));
  EXPECT_FALSE(plan.mesh);
  ASSERT_TRUE(plan.fault);
  EXPECT_FALSE(plan.dimensions[2].is_valid());
  EXPECT_EQ(plan.dimensions[2].next(1), 4);
}

TEST_F(CheckedRecipeTest, HoldingTheDataRanksChangesTheWorld) {
  const MeshPlan plan = plan_mesh(child("policy:\n  dtensor_cfg:\n    context_parallel_size: 2\n"));
  const auto changes = mesh_changes(plan, plan.dimensions[2], 4, true);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(support_matrix::as_override(changes[1]), "cluster.gpus_per_node=8");
  EXPECT_EQ(mesh_changes(plan, plan.dimensions[2], 4, false).size(), 1u);
}

TEST_F(CheckedRecipeTest, ThePriceIsOfThisTextAndOfTheFile) {
  std::ofstream(folder_.path() / "base.yaml") << kBase;
  const std::string saved = "defaults: base.yaml\n", now = saved + "policy:\n  dtensor_cfg:\n    context_parallel_size: 2\n";
  const CheckedRecipe checked = check_recipe({1, folder_.path() / "child.yaml", now, saved, {}});
  ASSERT_TRUE(checked.price && checked.saved_price);
  EXPECT_EQ(checked.saved_price->tokens_per_rank, 512);
  EXPECT_EQ(checked.price->tokens_per_rank, 256);
}

TEST_F(CheckedRecipeTest, TheStreamIsOneOfTheRowsOfAMicrobatch) {
  const auto stream =
      child("policy:\n  train_micro_batch_size: 2\n  max_total_sequence_length: 510\n  dtensor_cfg:\n    context_parallel_size: 2\n").stream;
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->question, (LayoutQuestion{"round_robin", 2, 512, 510, 1, 16}));
  EXPECT_EQ(stream->words, "one of 2 rows of 512 tokens");
}

TEST_F(CheckedRecipeTest, TheStreamOfAFlavourThatJoinsRowsHoldsThemAsDocuments) {
  const auto stream = child(
                          "policy:\n  train_micro_batch_size: 2\n  max_total_sequence_length: 510\n  dtensor_cfg:\n    context_parallel_size: 2\n"
                          "ringwright:\n  cp: {flavour: balanced, chunk: 64}\n")
                          .stream;
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->question, (LayoutQuestion{"balanced", 2, 1024, 1020, 2, 64}));
  EXPECT_EQ(stream->words, "2 rows of 512 tokens as one stream");
}

TEST_F(CheckedRecipeTest, TheStreamOfAPackHoldsItsLongestDocuments) {
  const std::string packs = "policy:\n  max_total_sequence_length: 250\n  sequence_packing: {enabled: true, train_mb_tokens: 2048}\n";
  const auto alone = child(packs).stream;
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->question.layout, "none");
  EXPECT_EQ(alone->question.documents, 8);
  const auto stream = child(packs + "  dtensor_cfg:\n    context_parallel_size: 2\n").stream;
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->question, (LayoutQuestion{"thd", 2, 8 * 252, 8 * 250, 8, 32}));
  EXPECT_EQ(stream->words, "a pack of 2,048 tokens, 8 documents of 250");
}

TEST_F(CheckedRecipeTest, NoStreamIsMadeUpForARecipeThatDoesNotSay) {
  EXPECT_FALSE(check("a: [1\n").stream);
  EXPECT_FALSE(check("policy:\n  max_total_sequence_length: 512\n").stream) << "no algorithm";
}

TEST_F(CheckedRecipeTest, SuggestionsPassTheGuards) {
  const CheckedRecipe checked = child("");
  const auto found = suggest_meshes({1, folder_.path() / "child.yaml", checked.text, "", {}}, plan_mesh(checked));
  EXPECT_LE(found.size(), 3u);
  ASSERT_FALSE(found.empty());
  for (const MeshSuggestion& each : found)
    EXPECT_FALSE(guard_list(child("policy:\n  dtensor_cfg:\n    context_parallel_size: " + std::to_string(each.cp) +
                                  "\n    tensor_parallel_size: " + std::to_string(each.tp) + "\n"),
                            Target::ringwright)
                     .first_refused());
}

TEST_F(CheckedRecipeTest, TheCheckerAnswersTheLastQuestion) {
  std::ofstream(folder_.path() / "base.yaml") << kBase;
  RecipeChecker checker;
  for (uint64_t version = 1; version <= 3; ++version)
    checker.ask({version, folder_.path() / "child.yaml", "defaults: base.yaml\nx: " + std::to_string(version), "", {}});
  EXPECT_TRUE(test::eventually([&] { return !checker.is_checking(); }, 10, [] {}));
  ASSERT_NE(checker.answer(), nullptr);
  EXPECT_EQ(checker.answer()->version, 3u);
}

std::vector<std::string> names_at(const std::string& text, const std::string& before) {
  std::vector<std::string> names;
  for (const Completion& each : completions(text, outline(text), text.find(before) + before.size()).items) names.push_back(each.name);
  return names;
}

TEST(Completions, KeysOfTheSectionThatAreNotWritten) {
  EXPECT_THAT(names_at("policy:\n  dtensor_cfg:\n    tens\n", "    tens"), ::testing::ElementsAre("tensor_parallel_size"));
  EXPECT_TRUE(names_at("policy:\n  dtensor_cfg:\n    tensor_parallel_size: 1\n    tens\n", "1\n    tens").empty());
  EXPECT_THAT(names_at("pol", "pol"), ::testing::ElementsAre("policy"));
}

TEST(Completions, WordsOfAValue) {
  EXPECT_THAT(names_at("policy:\n  sequence_packing:\n    enabled: t\n", "enabled: t"), ::testing::ElementsAre("true"));
  EXPECT_THAT(names_at("ringwright:\n  cp:\n    method: \n", "method: "), ::testing::Contains("ring"));
  EXPECT_TRUE(names_at("a: 1 # pol", "# pol").empty());
}

}  // namespace
}  // namespace ringwright::gui
