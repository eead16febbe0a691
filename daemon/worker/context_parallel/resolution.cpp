#include "daemon/worker/context_parallel/resolution.h"

#include <fmt/format.h>

#include "daemon/worker/context_parallel/row_strategies.h"
#include "daemon/worker/context_parallel/shard_errors.h"
#include "daemon/worker/context_parallel/stream_strategies.h"

namespace ringwright::worker {
namespace {

const ShardedModel kPlainModel;

const ShardedModel& model_of(const ShardRequest& request) { return request.model != nullptr ? *request.model : kPlainModel; }

bool is_magi(const ShardedModel& model) { return model.attention == AttentionBackend::magi_custom || model.attention == AttentionBackend::magi_hf; }

bool is_te(const ShardedModel& model) { return model.attention == AttentionBackend::te || model.attention == AttentionBackend::te_injected; }

void check_combination(const ShardRequest& request) {
  const bool resolves =
      request.batch != nullptr || request.model != nullptr || request.num_chunks || request.invoke_hook || request.extra_seq_buffers;
  const bool has_facts = request.facts || request.local_token_global_indices.defined();
  if (request.strategy && resolves) {
    throw_misuse("a strategy and the batch or model to find one for are mutually exclusive", "one of the two");
  }
  if (!request.strategy && has_facts) {
    throw_misuse("an index map or facts without the strategy that they belong to", "the strategy, too");
  }
  if (!request.strategy && request.batch == nullptr) {
    throw_misuse("no batch to find a strategy for", "a batch, or a strategy");
  }
}

Sharder sharder_of_strategy(const ShardRequest& request, const ProcessGroup& group) {
  ShardFacts facts = request.facts.value_or(ShardFacts{});
  if (request.local_token_global_indices.defined()) {
    facts.local_token_global_indices = request.local_token_global_indices;
  }
  return Sharder(request.strategy, group, std::move(facts));
}

bool calls_hook(const ShardRequest& request, const ProcessGroup& group) {
  const ShardedModel& model = model_of(request);
  const bool replaced_by_magi = is_magi(model) && !model.multimodal;
  const bool takes_batch = group.size > 1 || (request.batch->declares_stream() && model.supports_thd);
  return model.hook && request.invoke_hook.value_or(true) && takes_batch && !replaced_by_magi;
}

void merge_returned(Batch& batch, const HookResult& result) {
  for (const std::string& key : result.consumed) {
    batch.erase(key);
    batch.values.erase(key);
  }
  for (const auto& [key, tensor] : result.returned) {
    if (tensor.defined()) {
      batch[key] = tensor;
    } else {
      batch.erase(key);
    }
  }
  for (const auto& [key, value] : result.returned.values) {
    batch.values[key] = value;
  }
}

StrategyPointer strategy_of(const ShardRequest& request, const Batch& batch, const ProcessGroup& group) {
  const ShardedModel& model = model_of(request);
  BatchOptions options = request.batch_options;
  if (is_magi(model)) {
    return make_dispatch_strategy({.label = "magi",
                                   .batch = options,
                                   .chunk = request.chunk,
                                   .mask = request.mask,
                                   .magi_rules = true,
                                   .plain_masks = model.attention == AttentionBackend::magi_hf,
                                   .multimodal = model.multimodal});
  }
  if (is_te(model) && batch.declares_stream()) {
    return make_thd_strategy({.padding_token_id = options.padding_token_id, .num_chunks = request.num_chunks.value_or(1)});
  }
  if (group.size > 1) {
    options.extra_sequence_keys = request.extra_seq_buffers.value_or(options.extra_sequence_keys);
    return make_round_robin_strategy(group.size, options);
  }
  return make_identity_strategy();
}

}  // namespace

Resolution resolve_sharder(const ShardRequest& request, const ProcessGroup& group) {
  check_combination(request);
  if (request.strategy) {
    return {sharder_of_strategy(request, group), {}};
  }
  const ShardedModel& model = model_of(request);
  if (request.extra_seq_buffers && request.batch->declares_stream() && (is_te(model) || is_magi(model))) {
    throw_bad_argument(fmt::format("{} extra sequence buffers beside a batch that becomes one stream", request.extra_seq_buffers->size()),
                       "no extra buffers: cut them with shard_token_tensor");
  }
  Batch batch = *request.batch;
  StrategyPointer strategy;
  const bool hook_called = calls_hook(request, group);
  if (hook_called) {
    HookResult result = model.hook(*request.batch, {.group = group, .num_chunks = request.num_chunks.value_or(1)});
    merge_returned(batch, result);
    strategy = std::move(result.strategy);
  }
  if (!strategy) {
    strategy = strategy_of(request, batch, group);
  }
  return {Sharder(std::move(strategy), group), std::move(batch), hook_called};
}

}  // namespace ringwright::worker
