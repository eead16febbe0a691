#include "daemon/worker/algorithms/method_choice.h"

#include <fmt/format.h>

namespace ringwright::worker {

MethodChoice choose_attention_method(const recipe::SftConfig& config) {
  if (!config.cp_rotate_method.empty())
    return {config.cp_method, fmt::format("policy.dtensor_cfg.cp_rotate_method {} is {} here", config.cp_rotate_method, config.cp_method)};
  if (config.cp_method != "auto") return {config.cp_method, "asked for by ringwright.cp.method"};
  if (config.cp_flavour == "balanced") return {"ranged", "balanced deals chunks out so that keys and values go only where they are read"};
  return {"ring", "keys and values go round while the block before is computed"};
}

}  // namespace ringwright::worker
