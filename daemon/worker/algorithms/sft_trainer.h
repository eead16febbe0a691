// Supervised fine-tuning: one global batch of rows to one update of the weights.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "daemon/worker/algorithms/optimizer.h"
#include "daemon/worker/algorithms/schedule.h"
#include "daemon/worker/algorithms/sft_batch.h"
#include "daemon/worker/models/llama_model.h"
#include "daemon/worker/parallel/process_groups.h"
#include "shared/layout/layout.h"
#include "shared/recipe/recipe.h"

namespace ringwright::worker {

struct SftStep {
  double loss = 0;       // mean over the global batch's trained targets, before the update
  double grad_norm = 0;  // before clipping
  double learning_rate = 0;
  int64_t target_count = 0;  // trained targets
  int64_t token_count = 0;   // real tokens
};

// Ranks that work on other rows of the same global batch. One rank each: no data parallelism.
struct DataParallelGroups {
  ProcessGroup dp;     // the ranks with this rank's place in their CP groups
  ProcessGroup dp_cp;  // all ranks that hold the same parameters: gradients are summed over it
};

struct SftTrainerOptions {
  int64_t pad_token_id = 0;
  std::string cp_flavour = "round_robin";
  DataParallelGroups data_parallel;
  // Called at the end of each phase: (phase, begin, end), nanoseconds since the epoch.
  std::function<void(std::string_view phase, int64_t begin_ns, int64_t end_ns)> span;
};

class SftTrainer {
 public:
  // `cp_group`: one rank means plain attention and no sharder. All ranks of the CP and data-parallel groups must call every function with the same
  // rows, the global batch: each takes its own (rows_of_rank). Losses, counts and gradients are those of the global batch on every rank. Throws Error
  // RW-CP-004 when not all attention blocks of the model hold the CP group.
  SftTrainer(LlamaModel& model, const recipe::SftConfig& config, const ProcessGroup& cp_group, SftTrainerOptions options);

  // Throws Error RW-TRAIN-001 when loss or gradient is not finite; the weights are then unchanged.
  SftStep step(const std::vector<const Row*>& rows);
  // Mean loss over the rows' trained targets; changes nothing.
  double evaluate(const std::vector<const Row*>& rows);
  // The gradients of `rows` (summed over all ranks) without an update; for probing and tests. Returns the loss.
  double accumulate_gradients(const std::vector<const Row*>& rows);

  int64_t step_count() const { return step_count_; }
  // Attention blocks that work over the CP group.
  int64_t attention_blocks_over_cp() const { return model_.attention_blocks_over(attentions_, cp_group_.size); }

 private:
  // Log-probabilities [B, S] of each target in caller coordinates (0 where there is none), the same on every rank. With gradients it also runs
  // backward.
  at::Tensor run_microbatch(const SftBatch& batch, bool with_gradients);
  at::Tensor run_local(const at::Tensor& ids_BL, const at::Tensor& positions_BL, const at::Tensor& targets_BL, const at::Tensor& weights_BL,
                       int64_t sequence_length, bool with_gradients);
  // The loss over the global batch `rows`, of which this rank works on its own.
  double run_microbatches(const std::vector<const Row*>& rows, int64_t micro_batch_size, bool with_gradients);
  const ProcessGroup& gradient_group() const { return options_.data_parallel.dp.size > 1 ? options_.data_parallel.dp_cp : cp_group_; }

  LlamaModel& model_;
  recipe::SftConfig config_;
  ProcessGroup cp_group_;
  SftTrainerOptions options_;
  LayerAttentions attentions_;
  AdamW optimizer_;
  LearningRateSchedule schedule_;
  int64_t step_count_ = 0;
};

}  // namespace ringwright::worker
