#include "daemon/worker/data/microbatches.h"

#include <algorithm>
#include <numeric>

#include "shared/base/rounding.h"

namespace ringwright::worker {
namespace {

std::vector<Microbatch> rows_of_one_size(const std::vector<int64_t>& lengths, const MicrobatchRules& rules) {
  std::vector<Microbatch> microbatches;
  for (size_t row = 0; row < lengths.size(); ++row) {
    if (row % static_cast<size_t>(rules.row_count) == 0) microbatches.emplace_back();
    Microbatch& microbatch = microbatches.back();
    microbatch.rows.push_back(row);
    microbatch.row_length = std::max(microbatch.row_length, round_up(lengths[row], rules.row_divisor));
  }
  return microbatches;
}

std::vector<Microbatch> packs(const std::vector<int64_t>& lengths, const MicrobatchRules& rules) {
  std::vector<layout::Pack> packs = layout::pack_documents(lengths, *rules.packing);
  const auto tokens = [](const layout::Pack& pack) { return std::accumulate(pack.real_lengths.begin(), pack.real_lengths.end(), int64_t{0}); };
  if (rules.largest_first)
    std::stable_sort(packs.begin(), packs.end(), [&](const layout::Pack& a, const layout::Pack& b) { return tokens(a) > tokens(b); });
  std::vector<Microbatch> microbatches;
  for (layout::Pack& pack : packs) microbatches.push_back({std::move(pack.documents), std::move(pack.slot_lengths), 0});
  return microbatches;
}

MicrobatchRules rules_of(const recipe::SftConfig& config, int64_t row_count) {
  MicrobatchRules rules;
  rules.row_count = row_count;
  rules.row_divisor = config.make_sequence_length_divisible_by;
  if (config.packing.enabled) {
    layout::PackingOptions& packing = rules.packing.emplace();
    packing.algorithm = config.packing.algorithm;
    packing.pack_length = config.packing.pack_tokens;
    packing.document_divisor = recipe::document_divisor(config);
    packing.sequence_length_round = std::lcm(config.packing.sequence_length_round, config.make_sequence_length_divisible_by);
    rules.largest_first = config.packing.largest_first;
  } else if (config.dynamic_batching.enabled) {
    rules.dynamic_batching = {config.dynamic_batching.microbatch_tokens, config.dynamic_batching.sequence_length_round,
                              config.make_sequence_length_divisible_by};
  }
  return rules;
}

}  // namespace

MicrobatchRules training_rules(const recipe::SftConfig& config) { return rules_of(config, config.train_micro_batch_size); }
MicrobatchRules validation_rules(const recipe::SftConfig& config) { return rules_of(config, config.val_micro_batch_size); }

std::vector<Microbatch> split_into_microbatches(const std::vector<int64_t>& row_lengths, const MicrobatchRules& rules) {
  if (row_lengths.empty()) return {};  // a data-parallel rank without rows
  if (rules.packing) return packs(row_lengths, rules);
  if (!rules.dynamic_batching) return rows_of_one_size(row_lengths, rules);
  std::vector<Microbatch> microbatches;
  for (layout::Microbatch& batch : layout::batch_by_tokens(row_lengths, *rules.dynamic_batching))
    microbatches.push_back({std::move(batch.rows), {}, batch.row_length});
  return microbatches;
}

}  // namespace ringwright::worker
