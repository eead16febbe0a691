// Which strategy cuts a batch: model-owned > magi > thd > round_robin > none (context-parallel contract, section 3).
#pragma once

#include <functional>

#include "daemon/worker/context_parallel/sharder.h"

namespace ringwright::worker {

enum class AttentionBackend { other, te, te_injected, magi_custom, magi_hf };

struct HookRequest {
  ProcessGroup group;
  int64_t num_chunks = 1;
};

struct HookResult {
  StrategyPointer strategy;           // null: the hook makes none, and the other rules decide
  Batch returned;                     // merged into the batch; a key without a value is removed from it
  std::vector<std::string> consumed;  // keys that leave the batch unless they were returned
};

// A model's own way to cut its batches. The batch is a copy.
using ModelHook = std::function<HookResult(Batch batch, const HookRequest& request)>;

// What resolution wants to know of a model.
struct ShardedModel {
  AttentionBackend attention = AttentionBackend::other;
  ModelHook hook;             // empty: none
  bool supports_thd = false;  // its hook takes streams, also at cp = 1
  bool multimodal = false;    // has a vision or audio tower
};

// Either `batch` and whatever describes the model, or `strategy` with what belongs to it; one of each is misuse.
struct ShardRequest {
  const Batch* batch = nullptr;
  const ShardedModel* model = nullptr;
  std::optional<int64_t> num_chunks;                                // default 1
  std::optional<bool> invoke_hook;                                  // default true; false: stages without the embedding, a teacher that shards itself
  std::optional<std::map<std::string, int64_t>> extra_seq_buffers;  // name -> sequence axis

  StrategyPointer strategy;
  std::optional<ShardFacts> facts;
  at::Tensor local_token_global_indices;  // shorthand for facts with this map alone

  BatchOptions batch_options;             // padding id, extra keys
  int64_t chunk = layout::kChunkDefault;  // magi
  layout::Mask mask;                      // magi
};

struct Resolution {
  Sharder sharder;
  Batch batch;  // the request's, with what the hook returned; empty for a strategy that was given
  bool hook_called = false;
};

// Always gives a sharder. Throws Error RW-SHARD-001 (extra buffers beside a stream that te or magi takes), RW-SHARD-004 (misuse).
Resolution resolve_sharder(const ShardRequest& request, const ProcessGroup& group);

}  // namespace ringwright::worker
