#include "shared/shard_plan/shard_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "shared/base/error.h"
#include "shared/base/rounding.h"
#include "shared/base/text.h"
#include "shared/layout/method_cost.h"
#include "shared/layout/methods.h"
#include "shared/layout/packing.h"

namespace ringwright::shard_plan {
namespace {

namespace names = layout::names;

// More documents than these change no choice, since each costs the same.
constexpr int64_t kDocumentsMax = 256;

std::vector<int64_t> equal_documents(int64_t count, int64_t slot) {
  std::vector<int64_t> offsets = {0};
  for (int64_t i = 0; i < count; ++i) offsets.push_back(offsets.back() + slot);
  return offsets;
}

Microbatch pack_of(const recipe::SftConfig& config) {
  const int64_t divisor =
      config.packing.document_divisor > 0 ? config.packing.document_divisor : layout::document_divisor(config.cp, config.tp, false);
  const int64_t room = std::max(layout::longest_document_of_pack(config.packing.pack_tokens, divisor), divisor);
  const int64_t slot = std::min(round_up(config.max_total_sequence_length, divisor), room);
  const int64_t count = std::clamp<int64_t>(config.packing.pack_tokens / slot, 1, kDocumentsMax);
  return {1, count * slot, equal_documents(count, slot), fmt::format("a pack of {} tokens", text::format_count(config.packing.pack_tokens))};
}

Microbatch rows_of(const recipe::SftConfig& config) {
  int64_t multiple = config.make_sequence_length_divisible_by, rows = config.train_micro_batch_size;
  if (config.dynamic_batching.enabled) {
    multiple = std::lcm(multiple, config.dynamic_batching.sequence_length_round);
    rows = config.dynamic_batching.microbatch_tokens / round_up(config.max_total_sequence_length, multiple);
  }
  const int64_t length = round_up(config.max_total_sequence_length, multiple);
  rows = std::clamp<int64_t>(rows, 1, kDocumentsMax);
  return {rows, length, {}, fmt::format("{} row{} of {} tokens", rows, rows == 1 ? "" : "s", text::format_count(length))};
}

// Some flavours make one stream of the rows, each of which is a document then.
Microbatch as_stream(Microbatch batch, int cp) {
  const int64_t slot = round_up(batch.row_length, int64_t{2} * cp);
  batch.document_offsets = equal_documents(batch.rows, slot);
  batch.row_length = batch.document_offsets.back();
  batch.rows = 1;
  return batch;
}

layout::MethodChoice cheapest(const recipe::SftConfig& config, const model::ContextParallelConfig& model, const ShardPlan& plan,
                              const Microbatch& batch) {
  layout::Mask mask = plan.mask;
  mask.document_offsets = batch.document_offsets;
  const auto layout = layout::make_layout(plan.flavour, config.cp,
                                          {.pad_multiple = plan.pad_multiple,
                                           .document_offsets = batch.document_offsets,
                                           .sequence_length = batch.row_length,
                                           .chunk = config.cp_chunk,
                                           .mask = mask});
  const int64_t padded_length = layout->padded_length(batch.row_length);
  const layout::MaskArea area(mask, padded_length);
  return layout::choose_method({.layout = *layout,
                                .area = area,
                                .padded_length = padded_length,
                                .rows = batch.rows,
                                .heads = {model.heads, model.kv_heads},
                                .head_size = model.head_size,
                                .value_bytes = config.precision == "float32" ? 4 : 2});
}

void choose_flavour(const recipe::SftConfig& config, const model::ContextParallelConfig& model, ShardPlan& plan) {
  if (config.cp == 1) {
    plan.flavour = names::kNone, plan.flavour_reason = "one rank has every token";
    return;
  }
  const char* format = config.packing.enabled ? "packed documents" : "rows of one sequence";
  const model::ContextParallelFamily family = model::find_context_parallel_family(model.model_type);
  plan.flavour = config.packing.enabled ? family.packed_flavour : family.row_flavour;
  plan.flavour_reason = fmt::format("the family {}'s for {}", model.model_type, format);
  if (!config.cp_flavour.empty()) plan.flavour = config.cp_flavour, plan.flavour_reason = "asked for by ringwright.cp.flavour";
  if (!plan.flavour.empty()) return;
  throw Error({"RW-CP-005", fmt::format("the family {} has no flavour of context parallelism for {}", model.model_type, format),
               "policy.dtensor_cfg.context_parallel_size", "a family that has one, or a flavour by name",
               "set ringwright.cp.flavour, or policy.dtensor_cfg.context_parallel_size=1", ExitCode::refused});
}

void choose_method(const recipe::SftConfig& config, const model::ContextParallelConfig& model, ShardPlan& plan) {
  plan.method = config.cp_method;
  if (!config.cp_rotate_method.empty()) {
    plan.method_reason = fmt::format("policy.dtensor_cfg.cp_rotate_method {} is {} here", config.cp_rotate_method, config.cp_method);
  } else if (config.cp_method != names::kAutomatic) {
    plan.method_reason = "asked for by ringwright.cp.method";
  } else if (config.cp == 1) {
    plan.method = names::kRing, plan.method_reason = "one rank has every token";
  } else {
    const Microbatch batch = longest_microbatch(config, plan.flavour);
    const layout::MethodChoice choice = cheapest(config, model, plan, batch);
    plan.method = choice.method;
    plan.method_reason = fmt::format("for {}: {}", batch.text, choice.reason);
  }
}

}  // namespace

Microbatch longest_microbatch(const recipe::SftConfig& config, const std::string& flavour) {
  Microbatch batch = config.packing.enabled ? pack_of(config) : rows_of(config);
  if (layout::joins_rows(flavour) && batch.document_offsets.empty()) batch = as_stream(std::move(batch), config.cp);
  return batch;
}

ShardPlan plan_shards(const recipe::SftConfig& config, const model::ContextParallelConfig& model) {
  ShardPlan plan;
  plan.pad_multiple = model.pad_multiple;
  if (model.limits.kind == model::LayerLimits::Kind::window && model.limits.all()) plan.mask.window = model.limits.size;
  choose_flavour(config, model, plan);
  choose_method(config, model, plan);
  return plan;
}

}  // namespace ringwright::shard_plan
