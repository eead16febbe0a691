#include "shared/recipe/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::recipe {
namespace {

using testing::ElementsAre;

RecordedRecipe record_of(const Recipe& recipe) { return {"r_0badcafe", recipe.file, recipe.text, nlohmann::json(recipe.resolved), recipe.overrides}; }

TEST(Recorded, ComesBackAsItWasResolvedAfterItsFileIsGone) {
  Recipe first;
  {
    const test::TemporaryFolder folder;
    folder.write("base.yaml", "sft: {max_num_steps: 5}\npolicy: {max_grad_norm: 1.0}\n");
    first = load_recipe(
        folder.write("r.yaml",
                     "defaults: base.yaml\ncluster: {num_nodes: 1}\nsft: {seed: 123456789012345678901}\nlogger: {wandb: {name: \"a\\\\${b}\"}}\n"),
        {"sft.max_num_steps=7"});
  }
  const Recipe again = load_recorded(record_of(first), {});
  EXPECT_EQ(nlohmann::json(again.resolved), nlohmann::json(first.resolved));
  EXPECT_EQ(again.text, first.text);
  EXPECT_EQ(again.file, first.file);
  EXPECT_EQ(again.origins.at("policy.max_grad_norm").file, "run r_0badcafe");
}

TEST(Recorded, OverridesComeOnTopAndAreKept) {
  const test::TemporaryFolder folder;
  const Recipe first = load_recipe(folder.write("r.yaml", "sft: {max_num_steps: 5}\n"), {"sft.max_num_steps=7"});
  const Recipe again = load_recorded(record_of(first), {"sft.max_num_steps=9", "+sft.seed=3"});
  EXPECT_EQ(again.resolved["sft"]["max_num_steps"], 9);
  EXPECT_EQ(again.resolved["sft"]["seed"], 3);
  EXPECT_THAT(again.overrides, ElementsAre("sft.max_num_steps=7", "sft.max_num_steps=9", "+sft.seed=3"));
  EXPECT_EQ(test::error_code([&] { load_recorded(record_of(first), {"sft.max_num_stepz=9"}); }), "RW-RECIPE-013");
}

TEST(Recorded, NothingOrDamageIsRefused) {
  EXPECT_EQ(test::error_code([] { load_recorded({"r_1", "", "", nullptr, {}}, {}); }), "RW-RECIPE-016");
  EXPECT_EQ(test::error_code([] { load_recorded({"r_1", "", "", {{"$map", {1, 2}}}, {}}, {}); }), "RW-RECIPE-016");
}

}  // namespace
}  // namespace ringwright::recipe
