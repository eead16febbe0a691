#include "daemon/worker/context_parallel/flavours.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "daemon/worker/context_parallel/deepseek_v4_strategy.h"
#include "daemon/worker/context_parallel/row_strategies.h"
#include "daemon/worker/context_parallel/shard_errors.h"
#include "daemon/worker/context_parallel/stream_strategies.h"
#include "shared/base/rounding.h"
#include "shared/layout/names.h"

namespace ringwright::worker {
namespace {

namespace names = layout::names;

// Gives rows that are not packed to a strategy that takes packed rows only: each becomes one document, in a slot of a multiple of `row_multiple`.
class RowsAsDocuments final : public ShardStrategy {
 public:
  RowsAsDocuments(StrategyPointer packed, int64_t row_multiple, BatchOptions options)
      : packed_(std::move(packed)), row_multiple_(row_multiple), options_(std::move(options)) {}

  std::string_view label() const override { return packed_->label(); }
  std::shared_ptr<const layout::Layout> closed_form() const override { return packed_->closed_form(); }

  ShardedBatch shard(const Batch& batch, const ProcessGroup& group) const override {
    refuse_extra_keys(batch, options_);
    if (is_packed(batch)) {
      return packed_->shard(batch, group);
    }
    const at::Tensor& primary = batch.at(primary_key(batch));
    if (primary.dim() < 2) {
      throw_bad_argument(fmt::format("the batch's primary stream has the shape [{}]", fmt::join(primary.sizes(), ", ")), "rows and tokens: [B, S]");
    }
    const int64_t row_length = primary.size(1), slot = round_up(row_length, row_multiple_);
    Batch rows = BatchSharding(kContiguousRules, options_).apply(batch, slot, [](const at::Tensor& tensor, int64_t) { return tensor; });
    add_document_lengths(rows, real_lengths(rows, primary.size(0), row_length),
                         std::vector<std::vector<int64_t>>(static_cast<size_t>(primary.size(0)), {slot}));
    ShardedBatch sharded = packed_->shard(rows, group);
    sharded.facts.original_length = row_length;
    return sharded;
  }

 private:
  static std::vector<std::vector<int64_t>> real_lengths(const Batch& rows, int64_t row_count, int64_t row_length) {
    std::vector<std::vector<int64_t>> lengths(static_cast<size_t>(row_count), {row_length});
    if (const auto padding = rows.find("padding_mask"); padding != rows.end()) {
      const at::Tensor counts = padding->second.logical_not().sum(1);
      for (size_t row = 0; row < lengths.size(); ++row) {
        lengths[row] = {counts[static_cast<int64_t>(row)].item<int64_t>()};
      }
    }
    return lengths;
  }

  StrategyPointer packed_;
  int64_t row_multiple_;
  BatchOptions options_;
};

struct Flavour {
  std::string_view name;
  StrategyPointer (*make)(int cp, const SharderOptions& options);
};

constexpr Flavour kFlavours[] = {
    {names::kRoundRobin, [](int cp, const SharderOptions& options) { return make_round_robin_strategy(cp, options.batch); }},
    {names::kContiguous, [](int cp, const SharderOptions& options) { return make_contiguous_strategy(cp, options.pad_multiple, options.batch); }},
    {names::kThd,
     [](int cp, const SharderOptions& options) -> StrategyPointer {
       return std::make_shared<RowsAsDocuments>(make_thd_strategy({.padding_token_id = options.batch.padding_token_id}), 2 * cp, options.batch);
     }},
    {names::kBalanced,
     [](int, const SharderOptions& options) {
       return make_dispatch_strategy({.batch = options.batch, .chunk = options.chunk, .mask = options.mask});
     }},
    {names::kDeepseekV4,
     [](int cp, const SharderOptions& options) {
       return make_deepseek_v4_strategy(cp, {.batch = options.batch, .pad_multiple = options.pad_multiple});
     }},
    {names::kGlm,
     [](int cp, const SharderOptions& options) -> StrategyPointer {
       return std::make_shared<RowsAsDocuments>(make_glm_strategy(cp, {.padding_token_id = options.batch.padding_token_id}), cp, options.batch);
     }},
    {names::kGemma4, [](int cp, const SharderOptions& options) { return make_gemma4_strategy(cp, options.batch); }},
};

}  // namespace

StrategyPointer make_flavour_strategy(std::string_view flavour, int cp, const SharderOptions& options) {
  if (flavour == names::kNone && cp > 1) {
    throw_misuse(fmt::format("the layout \"{}\" over a CP group of {} ranks", flavour, cp),
                 fmt::format("one of {}", fmt::join(layout::flavour_names(), ", ")));
  }
  const auto known = std::find_if(std::begin(kFlavours), std::end(kFlavours), [&](const Flavour& row) { return flavour == row.name; });
  if (flavour != names::kNone && known == std::end(kFlavours)) {
    layout::make_layout(flavour, cp);  // refuses an unknown name with its neighbours
  }
  return cp == 1 ? make_identity_strategy() : known->make(cp, options);
}

ShardedModel sharded_model(std::string_view flavour, int cp, const SharderOptions& options) {
  ShardedModel model;
  const StrategyPointer strategy = make_flavour_strategy(flavour, cp, options);
  const bool streams = flavour == names::kThd;
  if (streams) model.attention = AttentionBackend::te;
  if (cp == 1 || flavour == names::kRoundRobin) return model;
  model.hook = [strategy, streams](const Batch& batch, const HookRequest&) -> HookResult {
    if (streams && batch.declares_stream()) return {};
    return {strategy, {}, {}};
  };
  return model;
}

}  // namespace ringwright::worker
