#include "console/cli/check_sharding.h"

#include <fmt/format.h>

namespace ringwright::cli {

void print_sharding(const std::optional<shard_plan::ShardPlan>& plan) {
  if (!plan) return;
  fmt::print("\nflavour {}: {}\nmethod {}: {}\n", plan->flavour, plan->flavour_reason, plan->method, plan->method_reason);
}

nlohmann::ordered_json sharding_json(const std::optional<shard_plan::ShardPlan>& plan) {
  if (!plan) return nullptr;
  return {{"flavour", plan->flavour},
          {"flavour_reason", plan->flavour_reason},
          {"pad_multiple", plan->pad_multiple},
          {"method", plan->method},
          {"method_reason", plan->method_reason}};
}

}  // namespace ringwright::cli
