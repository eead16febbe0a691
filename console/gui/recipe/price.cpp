#include "console/gui/recipe/price.h"

#include <algorithm>

#include "shared/layout/methods.h"
#include "shared/layout/summary.h"
#include "shared/layout/traffic.h"

namespace ringwright::gui {
namespace {

std::optional<int64_t> received_bytes(const std::string& method, const layout::Layout& layout, const layout::MaskArea& area, int64_t length,
                                      const model::ModelConfig& model) {
  const auto& names = layout::method_names();
  const bool known = std::find(names.begin(), names.end(), method) != names.end();
  const auto ranks = layout::traffic(known ? method : std::string(layout::names::kRing), layout, area, length,
                                     {model.num_attention_heads, model.num_key_value_heads, model.head_dim, estimate::StepShape{}.value_bytes});
  if (!ranks || ranks->empty()) return std::nullopt;
  int64_t most = 0;
  for (const layout::RankTraffic& rank : *ranks) most = std::max(most, rank.forward_bytes + rank.backward_bytes);
  return most;
}

}  // namespace

std::optional<Price> price_of(const support_matrix::Examination& examination) {
  if (!examination.flow) return std::nullopt;
  const flow::StepSizes& sizes = examination.flow->sizes;
  const std::optional<model::ModelConfig>& model = examination.model;
  if (sizes.padded_length <= 0 || sizes.cp < 1) return std::nullopt;
  Price price;
  price.tokens_per_rank = examination.flow->tokens_per_rank;
  if (examination.estimate) price.memory_bytes = examination.estimate->memory_bytes();
  try {
    layout::Options options;
    options.document_offsets = {0, sizes.padded_length};
    options.sequence_length = sizes.padded_length;
    const std::string name = sizes.cp == 1 ? std::string(layout::names::kNone) : sizes.flavour;
    const auto made = layout::make_layout(name, sizes.cp, options);
    const layout::MaskArea area({}, sizes.padded_length);
    const layout::Summary summary = layout::summarize(*made, area);
    price.slowest_percent = summary.slowest_percent();
    if (sizes.cp == 1) price.row_attention_bytes = 0;
    if (sizes.cp > 1 && model) price.row_attention_bytes = received_bytes(sizes.method, *made, area, summary.padded_length, *model);
  } catch (const Error&) {
    return std::nullopt;  // the guards say what is wrong with these lengths
  }
  return price;
}

}  // namespace ringwright::gui
