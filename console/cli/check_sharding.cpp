#include "console/cli/check_sharding.h"

#include <fmt/format.h>

#include "shared/base/error.h"

namespace ringwright::cli {

std::optional<shard_plan::ShardPlan> find_shard_plan(const recipe::Recipe& recipe) {
  if (!recipe.resolved.contains("sft")) return std::nullopt;
  try {
    const recipe::SftConfig config = recipe::sft_config(recipe);
    if (config.cp == 1) return std::nullopt;
    return shard_plan::plan_shards(config, model::read_context_parallel_config(recipe::resolve_name(recipe, config.model_name)));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void print_sharding(const recipe::Recipe& recipe) {
  const std::optional<shard_plan::ShardPlan> plan = find_shard_plan(recipe);
  if (!plan) return;
  fmt::print("\nflavour {}: {}\nmethod {}: {}\n", plan->flavour, plan->flavour_reason, plan->method, plan->method_reason);
}

nlohmann::ordered_json sharding_json(const recipe::Recipe& recipe) {
  const std::optional<shard_plan::ShardPlan> plan = find_shard_plan(recipe);
  if (!plan) return nullptr;
  return {{"flavour", plan->flavour},
          {"flavour_reason", plan->flavour_reason},
          {"pad_multiple", plan->pad_multiple},
          {"method", plan->method},
          {"method_reason", plan->method_reason}};
}

}  // namespace ringwright::cli
