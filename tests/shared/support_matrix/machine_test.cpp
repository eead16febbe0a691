// This machine is looked at where a recipe makes it matter, and once.
#include <gtest/gtest.h>

#include "shared/recipe/loader.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {
namespace {

recipe::Recipe recipe_of_nodes(int nodes) {
  return recipe::load_recipe_text("recipe.yaml", "sft: {max_num_steps: 1}\ncluster: {num_nodes: " + std::to_string(nodes) + "}\n", {});
}

TEST(Machine, TheAddressTakesALookUpOfItsOwn) {
  EXPECT_EQ(this_machine(false).host_address, "");
  EXPECT_EQ(this_machine(false).host, this_machine().host);
  EXPECT_FALSE(this_machine(false).interfaces.empty());
}

TEST(Machine, IsAskedForRecipesOfSeveralNodesAlone) {
  CheckOptions options;
  ask_machine(recipe_of_nodes(1), options);
  EXPECT_FALSE(options.machine.has_value());
  ask_machine(recipe_of_nodes(2), options);
  ASSERT_TRUE(options.machine.has_value());
  EXPECT_EQ(options.machine->host, this_machine(false).host);
}

TEST(Machine, IsNotAskedAgain) {
  CheckOptions options;
  options.machine.emplace().host = "somewhere";
  ask_machine(recipe_of_nodes(2), options);
  EXPECT_EQ(options.machine->host, "somewhere");
}

}  // namespace
}  // namespace ringwright::support_matrix
