// What the data-driven cases cannot say: places, warnings, limits, and merging through references.
#include "shared/recipe/recipe.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "shared/base/error.h"
#include "shared/recipe/text_edit.h"
#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::recipe {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

ErrorParts error_of(const std::filesystem::path& file, const std::vector<std::string>& overrides = {}) {
  try {
    load_recipe(file, overrides);
  } catch (const Error& error) {
    return error.parts();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(Recipe, EachValueKnowsItsPlace) {
  const TemporaryFolder folder;
  folder.write("base.yaml", "a:\n  b: 1\n  c: 2\nlist: [7, 8]\n");
  const auto file = folder.write("child.yaml", "defaults: base.yaml\na:\n  c: 3\n");
  const Recipe recipe = load_recipe(file, {"+d=4"});
  EXPECT_EQ(recipe.origins.at("a.b").file, (folder.path() / "base.yaml").string());
  EXPECT_EQ(recipe.origins.at("a.b").line, 2);
  EXPECT_EQ(recipe.origins.at("a.c").file, file.string());
  EXPECT_EQ(recipe.origins.at("a.c").line, 3);
  EXPECT_EQ(recipe.origins.at("list.1").column, 11);
  EXPECT_EQ(recipe.origins.at("d").file, "command line");
}

// Of one map, of one that is laid over it, and of one that << takes in: each key once, not each with each.
TEST(Recipe, AMapOfManyKeysTakesTimeByTheirNumber) {
  constexpr int kKeys = 30'000;
  constexpr double kCpuSecondsMax = 10;  // looked up one by one they take minutes
  std::string keys;
  for (int i = 0; i < kKeys; ++i) keys += fmt::format("    key_{}: {}\n", i, i);
  const TemporaryFolder folder;
  folder.write("base.yaml", "policy:\n  hf_config_overrides: &all\n" + keys + "  env: {<<: *all, mine: 1}\n");
  const auto file = folder.write("child.yaml", "defaults: base.yaml\npolicy:\n  hf_config_overrides:\n" + keys + "    last: 1\n");
  const std::clock_t start = std::clock();
  const Recipe recipe = load_recipe(file);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, kCpuSecondsMax);
  EXPECT_EQ(recipe.resolved["policy"]["hf_config_overrides"].size(), size_t{kKeys} + 1);
  EXPECT_EQ(recipe.resolved["policy"]["env"].size(), size_t{kKeys} + 1);
  EXPECT_EQ(recipe.origins.at("policy.hf_config_overrides.key_7").file, file.string());
}

TEST(Recipe, AnEditAmongManyKeysTakesTimeByTheirNumber) {
  constexpr int kKeys = 30'000;
  constexpr double kCpuSecondsMax = 10;
  std::string text = "sft: {max_num_steps: 1}\npolicy:\n  hf_config_overrides:\n";
  for (int i = 0; i < kKeys; ++i) text += fmt::format("    key_{}: {}\n", i, i);
  const std::clock_t start = std::clock();
  const std::string edited = edit_recipe_text("recipe.yaml", text, {parse_set("sft.max_num_steps=2")});
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, kCpuSecondsMax);
  EXPECT_TRUE(edited.starts_with("sft: {max_num_steps: 2}\n"));
  EXPECT_EQ(edited.size(), text.size());
}

// Python takes 1, 1.0 and true for one key.
TEST(Recipe, KeysOfLargeMapsAreComparedAsPythonDoes) {
  std::string text = "a:\n";
  for (int i = 2; i < 40; ++i) text += fmt::format("  {}: x\n", i);
  const TemporaryFolder folder;
  const Recipe recipe = load_recipe(folder.write("one.yaml", text + "  1: a\n  1.0: b\n  true: c\n  '1': d\n  39.0: e\n"));
  const auto& pairs = recipe.resolved["a"]["$map"];
  EXPECT_EQ(pairs.size(), 40u) << recipe.resolved.dump();
  EXPECT_EQ(pairs[37], nlohmann::ordered_json::array({39, "e"}));
  EXPECT_EQ(pairs[38], nlohmann::ordered_json::array({1, "c"}));
}

TEST(Recipe, UnknownKeysAreKeptAndReported) {
  const TemporaryFolder folder;
  const Recipe recipe = load_recipe(folder.write("r.yaml", "policy:\n  max_grad_nrm: 1\n"));
  EXPECT_EQ(recipe.resolved["policy"]["max_grad_nrm"], 1);
  ASSERT_EQ(recipe.warnings.size(), 1u);
  EXPECT_EQ(recipe.warnings[0].code, "RW-RECIPE-101");
  EXPECT_EQ(recipe.warnings[0].key, "policy.max_grad_nrm");
  EXPECT_THAT(recipe.warnings[0].message, HasSubstr("max_grad_norm"));
  EXPECT_EQ(recipe.warnings[0].origin.line, 2);
}

TEST(Recipe, ElementsOfListsHaveTheKeysOfTheirSection) {
  const TemporaryFolder folder;
  const Recipe recipe = load_recipe(folder.write("r.yaml", "teachers:\n  - {model_name: a, weight: 1.0, wight: 2}\n"));
  ASSERT_EQ(recipe.warnings.size(), 1u);
  EXPECT_EQ(recipe.warnings[0].key, "teachers.0.wight");
}

TEST(Recipe, LeftoversAreReported) {
  const TemporaryFolder folder;
  const Recipe recipe = load_recipe(folder.write("r.yaml", "run_name: ???\npolicy:\n  optimizer: {_override_: true}\n"));
  ASSERT_EQ(recipe.warnings.size(), 2u);
  EXPECT_EQ(recipe.warnings[0].code, "RW-RECIPE-103");
  EXPECT_EQ(recipe.warnings[1].code, "RW-RECIPE-102");
}

TEST(Recipe, AMapIsMergedIntoWhatAReferenceNames) {
  const TemporaryFolder folder;
  folder.write("base.yaml", "common: {lr: 1, wd: 2}\nactor: ${common}\n");
  const Recipe recipe = load_recipe(folder.write("child.yaml", "defaults: base.yaml\nactor: {lr: 5}\n"));
  EXPECT_EQ(recipe.resolved["actor"].dump(), R"({"lr":5,"wd":2})");
  EXPECT_EQ(recipe.resolved["common"]["lr"], 1);
}

TEST(Recipe, ErrorsNameFileLineAndColumn) {
  const TemporaryFolder folder;
  const auto file = folder.write("r.yaml", "a: 1\nb: ${nothing}\n");
  const ErrorParts parts = error_of(file);
  EXPECT_EQ(parts.code, "RW-RECIPE-009");
  EXPECT_EQ(parts.where, file.string() + ":2:4");
  EXPECT_FALSE(parts.action.empty());
}

TEST(Recipe, AMissingParentIsAnErrorAtTheLineThatNamesIt) {
  const TemporaryFolder folder;
  const auto file = folder.write("r.yaml", "x: 1\ndefaults: [nowhere.yaml]\n");
  const ErrorParts parts = error_of(file);
  EXPECT_EQ(parts.code, "RW-RECIPE-001");
  EXPECT_EQ(parts.where, file.string() + ":2:12");
}

TEST(Recipe, AParentWhoseNameTheSystemCannotFollowIsAMissingOne) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("circle.yaml", folder / "circle.yaml");
  for (const std::string& name : {std::string(300, 'x') + ".yaml", std::string("circle.yaml")}) {
    const auto file = folder.write("r.yaml", "x: 1\ndefaults: [" + name + "]\n");
    const ErrorParts parts = error_of(file);
    EXPECT_EQ(parts.code, "RW-RECIPE-001") << name;
    EXPECT_EQ(parts.where, file.string() + ":2:12") << name;
  }
}

TEST(Recipe, AliasesThatMultiplyAreStopped) {
  const TemporaryFolder folder;
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += below + (j < 9 ? ", " : "");
    text += "]\n";
  }
  EXPECT_EQ(error_of(folder.write("r.yaml", text)).code, "RW-RECIPE-015");
}

TEST(Recipe, ReferencesThatMultiplyAreStopped) {
  const TemporaryFolder folder;
  std::string lists = "a0: [x, x, x, x, x, x, x, x, x, x]\n", texts = "a0: xxxxxxxxxx\n";
  for (int i = 1; i < 9; ++i) {
    const std::string name = "a" + std::to_string(i) + ": ", below = "${a" + std::to_string(i - 1) + "}";
    std::string items, words;
    for (int j = 0; j < 10; ++j) items += (j > 0 ? ", \"" : "\"") + below + "\"", words += below;
    lists += name + "[" + items + "]\n";
    texts += name + words + "\n";
  }
  EXPECT_EQ(error_of(folder.write("lists.yaml", lists)).code, "RW-RECIPE-015");
  EXPECT_EQ(error_of(folder.write("texts.yaml", texts)).code, "RW-RECIPE-015");
}

TEST(Recipe, AnAliasInsideItsOwnValueIsRefused) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of(folder.write("r.yaml", "a: &x [*x]\n")).code, "RW-RECIPE-004");
}

TEST(Recipe, TwoReferencesToEachOtherAreACircleInAMergeToo) {
  const TemporaryFolder folder;
  folder.write("base.yaml", "a: ${b}\nb: ${a}\n");
  const Recipe recipe = load_recipe(folder.write("child.yaml", "defaults: base.yaml\na: {x: 1}\n"));
  EXPECT_EQ(recipe.resolved["b"]["x"], 1);
}

TEST(ResolveName, LooksBesideTheRecipeThenAtItsPathsAndNamesAllPlaces) {
  const TemporaryFolder folder;
  folder.write("models/tiny/config.json", "{}");
  folder.write("elsewhere/config.json", "{}");
  const auto file = folder.write("r.yaml", "ringwright: {paths: {org/big: elsewhere}}\n");
  const Recipe recipe = load_recipe(file);
  EXPECT_EQ(resolve_name(recipe, "models/tiny"), std::filesystem::weakly_canonical(folder.path() / "models/tiny"));
  EXPECT_EQ(resolve_name(recipe, "org/big"), std::filesystem::weakly_canonical(folder.path() / "elsewhere"));
  try {
    resolve_name(recipe, "org/none");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-RECIPE-030");
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.parts().where, HasSubstr((folder.path() / "org/none").string()));
    EXPECT_THAT(error.parts().where, HasSubstr("models--org--none"));
  }
}

TEST(ResolveName, TheHubsCacheGivesTheSnapshotOfMainAndADataSetsFile) {
  const TemporaryFolder folder;
  folder.write("hub/models--org--m/snapshots/old/config.json", "{}");
  folder.write("hub/models--org--m/snapshots/new/config.json", "{}");
  folder.write("hub/models--org--m/refs/main", "old");
  folder.write("hub/datasets--org--d.jsonl/snapshots/x/data/train.jsonl", "{}\n");
  folder.write("hub/datasets--org--d.jsonl/snapshots/x/data/test.jsonl", "{}\n");
  folder.write("hub/datasets--org--words/snapshots/x/all.txt", "x\n");
  folder.write("hub/datasets--org--rows/blobs/0a1b", "{}\n");
  std::filesystem::create_directories(folder / "hub/datasets--org--rows/snapshots/x");
  std::filesystem::create_symlink("../../blobs/0a1b", folder / "hub/datasets--org--rows/snapshots/x/all.jsonl");
  ::setenv("HF_HUB_CACHE", (folder.path() / "hub").c_str(), 1);
  const Recipe recipe = load_recipe(folder.write("r.yaml", "a: 1\n"));
  const auto hub = std::filesystem::weakly_canonical(folder.path() / "hub");
  EXPECT_EQ(resolve_name(recipe, "org/m"), hub / "models--org--m/snapshots/old");
  EXPECT_EQ(resolve_name(recipe, "org/d.jsonl", NameKind::data), hub / "datasets--org--d.jsonl/snapshots/x/data/train.jsonl");
  EXPECT_EQ(resolve_name(recipe, "org/words", NameKind::data), hub / "datasets--org--words/snapshots/x/all.txt");
  EXPECT_EQ(test::error_code([&] { resolve_name(recipe, "org/rows", NameKind::data); }), "RW-RECIPE-031") << "it would be read as plain text";
  EXPECT_EQ(test::error_code([&] { resolve_name(recipe, "org/m", NameKind::data); }), "RW-RECIPE-030") << "a model is no data set";
  ::unsetenv("HF_HUB_CACHE");
}

TEST(ResolveName, BareNamesAreLookedUpInTheCache) {
  const TemporaryFolder folder;
  folder.write("cache/models/demo-model/config.json", "{}");
  folder.write("cache/data/verses.txt", "x\n");
  ::setenv("RINGWRIGHT_CACHE", (folder.path() / "cache").c_str(), 1);
  const Recipe recipe = load_recipe(folder.write("r.yaml", "a: 1\n"));
  EXPECT_EQ(resolve_name(recipe, "demo-model"), std::filesystem::weakly_canonical(folder.path() / "cache/models/demo-model"));
  EXPECT_EQ(resolve_name(recipe, "verses"), std::filesystem::weakly_canonical(folder.path() / "cache/data/verses.txt"));
  ::unsetenv("RINGWRIGHT_CACHE");
}

}  // namespace
}  // namespace ringwright::recipe
