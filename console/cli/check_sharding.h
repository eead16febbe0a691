// What `ringwright check` says of context parallelism beside the rows of the support matrix: the flavour and the method that a run would take, and
// why.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "shared/recipe/recipe.h"
#include "shared/shard_plan/shard_plan.h"

namespace ringwright::cli {

// Empty where there is nothing to say: one rank, another algorithm, a model that is not on this machine, or a plan that cannot be made, for which a
// row of the support matrix says why.
std::optional<shard_plan::ShardPlan> find_shard_plan(const recipe::Recipe& recipe);
// Two lines, or none.
void print_sharding(const recipe::Recipe& recipe);
// null where there is nothing to say.
nlohmann::ordered_json sharding_json(const recipe::Recipe& recipe);

}  // namespace ringwright::cli
