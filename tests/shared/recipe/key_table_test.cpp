// The table of keys against the list of those that NeMo RL's public recipes have (tests/cases/recipes/keys.tsv), and what it says of a recipe.
#include "shared/recipe/key_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/support/temporary_folder.h"

namespace ringwright::recipe {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::IsEmpty;

struct Fact {
  std::string key, kinds;
  int recipes = 0, files = 0;
  nlohmann::json values;
};

std::vector<Fact> read_facts() {
  std::ifstream lines(std::string(RINGWRIGHT_SOURCE_DIR) + "/tests/cases/recipes/keys.tsv");
  std::vector<Fact> facts;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    Fact fact;
    std::string values;
    fields >> fact.key >> fact.kinds >> fact.recipes >> fact.files >> std::ws;
    std::getline(fields, values);
    fact.values = nlohmann::json::parse(values);
    facts.push_back(std::move(fact));
  }
  return facts;
}

// Its keys have rows. The list names those of `policy`'s sections once.
bool is_section(const std::string& key, const std::vector<Fact>& facts) {
  const std::string like = "policy" + key.substr(std::min(key.find('.'), key.size()));
  const auto is_below = [&](const Fact& other) { return other.key.starts_with(key + ".") || other.key.starts_with(like + "."); };
  return std::any_of(facts.begin(), facts.end(), is_below);
}

std::vector<std::string> keys_of(const std::vector<KeyFinding>& findings) {
  std::vector<std::string> keys;
  for (const KeyFinding& finding : findings) keys.push_back(finding.key);
  return keys;
}

Recipe recipe_of(const TemporaryFolder& folder, const std::string& text) { return load_recipe(folder.write("recipe.yaml", text)); }

TEST(KeyTable, HasARowForEveryKeyOfThePublicRecipes) {
  const std::vector<Fact> facts = read_facts();
  ASSERT_GT(facts.size(), 850U);
  for (const Fact& fact : facts) {
    if (!is_section(fact.key, facts)) {
      EXPECT_NE(find_key(fact.key), nullptr) << fact.key;
    }
  }
}

TEST(KeyTable, KnowsEveryKeyOfThePublicRecipesInARecipe) {
  nlohmann::json tree;
  const std::vector<Fact> facts = read_facts();
  ASSERT_GT(facts.size(), 850U);
  for (const Fact& fact : facts) {
    std::string pointer = "/" + fact.key;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    nlohmann::json& place = tree[nlohmann::json::json_pointer(pointer)];
    if (place.is_null() && !fact.values.empty() && !fact.values[0][0].is_null() && !fact.values[0][0].is_structured()) place = fact.values[0][0];
  }
  const TemporaryFolder folder;
  const Recipe recipe = recipe_of(folder, tree.dump());
  for (const Warning& warning : recipe.warnings) EXPECT_EQ(warning.code, "RW-RECIPE-102") << warning.key << " " << warning.message;
}

TEST(KeyTable, SaysSomethingOfEachRowThatIsNotPlainlyUsed) {
  std::set<std::string> keys;
  for (const KeyRow& row : key_rows()) {
    EXPECT_FALSE(row.keys.empty()) << row.text;
    EXPECT_EQ(row.text.empty(), row.use == KeyUse::used) << row.keys;
    const bool may_ask = row.use == KeyUse::refused || row.use == KeyUse::not_yet;
    EXPECT_TRUE(may_ask || !row.asks) << row.keys;
    EXPECT_EQ(row.fix.empty(), !row.asks) << row.keys << ": what asks for something has a way out";
    std::istringstream words{std::string(row.keys)};
    for (std::string key; words >> key;) EXPECT_TRUE(keys.insert(std::string(row.section) + "." + key).second) << key << " is there twice";
  }
}

TEST(KeyTable, SectionsOfOtherModelsHaveTheKeysOfThePolicy) {
  for (const char* section : {"value", "teacher", "teachers", "policy"}) {
    const KeyRow* row = find_key(std::string(section) + ".dtensor_cfg.lora_cfg.enabled");
    ASSERT_NE(row, nullptr) << section;
    EXPECT_EQ(row->use, KeyUse::not_yet);
  }
  EXPECT_EQ(find_key("teachers.0.weight"), find_key("teachers.weight"));
  EXPECT_NE(find_key("generation.temperature"), nullptr);
  EXPECT_EQ(find_key("policy.max_grad_nrm"), nullptr);
  EXPECT_EQ(find_key("policy"), nullptr) << "a section";
}

TEST(KeyTable, NamesOfTheUsersOwnAreKnownWhereTheyMayBe) {
  for (const char* key : {"env.my_world.speed", "ringwright.paths.org/model", "policy.dtensor_cfg.env_vars.MINE", "policy.hf_config_overrides.a.b"})
    EXPECT_NE(find_key(key), nullptr) << key;
}

TEST(KeyTable, AFeatureIsAskedForByItsValueAndReportedOnceWithItsPlaceAndWayOut) {
  const TemporaryFolder folder;
  const Recipe recipe = recipe_of(folder,
                                  "policy:\n"
                                  "  quant_cfg: NVFP4\n"
                                  "  is_vlm: false\n"
                                  "  megatron_cfg: {enabled: true, fp8_cfg: {enabled: true}, mtp_num_layers: 0}\n"
                                  "data:\n"
                                  "  train: [{data_path: a.jsonl, split: train, max_samples: 10}]\n");
  const std::vector<KeyFinding> findings = asked_for(recipe);
  ASSERT_THAT(keys_of(findings), ElementsAre("policy.quant_cfg", "policy.megatron_cfg.fp8_cfg.enabled", "data.train.0.split"));
  EXPECT_EQ(findings[0].origin.line, 2);
  EXPECT_EQ(findings[0].row->use, KeyUse::refused);
  EXPECT_EQ(fix_of(findings[0]), "policy.quant_cfg=null");
  EXPECT_EQ(fix_of(findings[1]), "policy.megatron_cfg.fp8_cfg.enabled=false");
}

TEST(KeyTable, WhatIsSwitchedOffAsksForNothing) {
  const TemporaryFolder folder;
  EXPECT_THAT(asked_for(recipe_of(folder, "policy: {megatron_cfg: {enabled: false, fp8_cfg: {enabled: true}, mtp_num_layers: 3}}\n")), IsEmpty());
  EXPECT_THAT(asked_for(recipe_of(folder, "grpo: {async_grpo: {enabled: false, in_flight_weight_updates: true}}\n")), IsEmpty());
  EXPECT_THAT(keys_of(asked_for(recipe_of(folder, "policy: {generation: {colocated: {enabled: false, resources: {num_nodes: 1}}}}\n"))),
              ElementsAre("policy.generation.colocated.enabled"));
}

TEST(KeyTable, NotesSayWhatHasNoEffectAndWhatIsDoneInAnotherWay) {
  const TemporaryFolder folder;
  const Recipe recipe = recipe_of(folder,
                                  "policy:\n"
                                  "  dtensor_cfg: {_v2: true, env_vars: {PYTORCH_CUDA_ALLOC_CONF: ''}, clear_cache_every_n_steps: 50}\n"
                                  "  optimizer: {kwargs: {foreach: false, fused: false}}\n"
                                  "  generation: {vllm_cfg: {enforce_eager: true, max_model_len: 100}, vllm_kwargs: {block_size: 16}}\n");
  const std::vector<KeyFinding> findings = notes(recipe);
  ASSERT_THAT(keys_of(findings),
              ElementsAre("policy.dtensor_cfg._v2", "policy.dtensor_cfg.clear_cache_every_n_steps", "policy.generation.vllm_cfg.enforce_eager"));
  EXPECT_EQ(findings[0].row->use, KeyUse::mapped);
}

TEST(KeyTable, NamesTheFirstUnknownSegmentAndTheNearestThatIsKnown) {
  const auto unknown = find_unknown({"policy", "dtensor_cfg", "context_paralel_size"});
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->segment, 2U);
  EXPECT_EQ(unknown->nearest, "context_parallel_size");
  EXPECT_FALSE(find_unknown({"teachers", "0", "weight"}));
  EXPECT_FALSE(find_unknown({"ringwright", "paths", "mine"}));
  EXPECT_TRUE(find_unknown({"polcy"}));
  EXPECT_TRUE(find_unknown({"sft", "seed", "deeper"}));
}

}  // namespace
}  // namespace ringwright::recipe
