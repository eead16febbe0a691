#include "daemon/worker/algorithms/method_choice.h"

#include <fmt/format.h>

#include "shared/layout/method_cost.h"

namespace ringwright::worker {

MethodChoice choose_attention_method(const recipe::SftConfig& config, const model::ModelConfig& model, int cp,
                                     const std::function<LocalMicrobatch()>& first) {
  if (!config.cp_rotate_method.empty())
    return {config.cp_method, fmt::format("policy.dtensor_cfg.cp_rotate_method {} is {} here", config.cp_rotate_method, config.cp_method)};
  if (config.cp_method != "auto") return {config.cp_method, "asked for by ringwright.cp.method"};
  if (cp == 1) return {"ring", "one rank has every token"};
  const LocalMicrobatch batch = first();
  const int64_t padded_length = batch.ids_BL.size(1) * cp;
  const layout::MaskArea area(batch.mask, padded_length);
  const layout::MethodChoice choice = layout::choose_method({.layout = *batch.layout,
                                                             .area = area,
                                                             .padded_length = padded_length,
                                                             .rows = batch.ids_BL.size(0),
                                                             .heads = {model.num_attention_heads, model.num_key_value_heads},
                                                             .head_size = model.head_dim});
  return {std::string(choice.method), choice.reason};
}

}  // namespace ringwright::worker
