// What `ringwright check` says of context parallelism beside the rows of the support matrix: the flavour and the method that a run would take, and
// why.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "shared/shard_plan/shard_plan.h"

namespace ringwright::cli {

// Two lines, or none.
void print_sharding(const std::optional<shard_plan::ShardPlan>& plan);
// null where there is no plan.
nlohmann::ordered_json sharding_json(const std::optional<shard_plan::ShardPlan>& plan);

}  // namespace ringwright::cli
