// Supervised fine-tuning: one global batch of rows to one update of the weights.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "daemon/worker/algorithms/local_microbatch.h"
#include "daemon/worker/algorithms/optimizer.h"
#include "daemon/worker/algorithms/schedule.h"
#include "daemon/worker/algorithms/sft_batch.h"
#include "daemon/worker/models/llama_model.h"
#include "daemon/worker/parallel/process_groups.h"
#include "shared/flow/flow.h"
#include "shared/layout/layout.h"
#include "shared/layout/names.h"
#include "shared/recipe/recipe.h"

namespace ringwright::worker {

struct SftStep {
  double loss = 0;       // mean over the global batch's trained targets, before the update
  double grad_norm = 0;  // before clipping
  double learning_rate = 0;
  int64_t target_count = 0;     // trained targets
  int64_t token_count = 0;      // real tokens
  int64_t pack_count = 0;       // of the global batch; 0: rows
  int64_t pack_slot_count = 0;  // tokens and padding in them
  // Of this rank alone: slots that it worked on, and those of them with a trained target.
  int64_t rank_slot_count = 0, rank_target_count = 0;
};

// Ranks that work on other rows of the same global batch. One rank each: no data parallelism.
struct DataParallelGroups {
  ProcessGroup dp;     // the ranks with this rank's place in their CP groups
  ProcessGroup dp_cp;  // all ranks that hold the same parameters: gradients are summed over it
};

// The attention of a model's layers over the tokens that a layout spread.
using AttentionMaker = std::function<LayerAttentions(const std::shared_ptr<const layout::Layout>& layout)>;

struct SftTrainerOptions {
  int64_t pad_token_id = 0;
  std::string cp_flavour{layout::names::kRoundRobin}, cp_method{layout::names::kRing};
  SharderOptions sharding;  // its padding id is pad_token_id
  DataParallelGroups data_parallel;
  // Called at the end of each phase; times are nanoseconds since the epoch. Of training, `step` is the one that is under way; of validation, whose
  // forward passes are one phase, the last that is done.
  std::function<void(std::string_view phase, int64_t step, int64_t begin_ns, int64_t end_ns)> span;
  // Called as each stage of a step ends, in the order and with the shapes that shared/flow describes.
  std::function<void(flow::Stage stage, at::IntArrayRef shape)> stage;
  // How a microbatch is spread, and attended to where it is; empty: by flavour and method, and on one rank not at all. A test puts its own around
  // them.
  ShardFunction shard;
  AttentionMaker attention;
};

class SftTrainer {
 public:
  // `cp_group`: one rank means plain attention and, unless one is given, no sharder. All ranks of the CP and data-parallel groups must call every
  // function with the same rows, the global batch: each takes its own (rows_of_rank). Losses, counts and gradients are those of the global batch on
  // every rank. Throws Error RW-CP-004 when not all attention blocks of the model hold the group.
  SftTrainer(LlamaModel& model, const recipe::SftConfig& config, const ProcessGroup& cp_group, SftTrainerOptions options);

  // Throws Error RW-TRAIN-001 when loss or gradient is not finite; the weights are then unchanged.
  SftStep step(const std::vector<const Row*>& rows);
  // Mean loss over the rows' trained targets; changes nothing.
  double evaluate(const std::vector<const Row*>& rows);
  // The gradients of `rows` (summed over all ranks) without an update; for probing and tests. Returns the loss. `row_logprobs`, where given, gets the
  // log-probability of each target (0 where there is none) of each of this data rank's rows: [its length], in the rows' order.
  double accumulate_gradients(const std::vector<const Row*>& rows, std::vector<at::Tensor>* row_logprobs = nullptr);

  int64_t step_count() const { return step_count_; }
  // From the next step on; on all ranks between the same two steps.
  void set_learning_rate(double base_lr) { schedule_.set_base(base_lr); }
  void set_weight_decay(double weight_decay) { optimizer_.set_weight_decay(weight_decay); }
  void set_max_grad_norm(double norm_max) { config_.max_grad_norm = norm_max; }
  // Attention blocks that work over the CP group; at cp = 1 all of them.
  int64_t attention_blocks_over_cp() const;

 private:
  struct Totals {
    double loss = 0;
    int64_t pack_count = 0, pack_slot_count = 0;
  };
  void reached(flow::Stage stage, at::IntArrayRef shape = {}) const {
    if (options_.stage) options_.stage(stage, shape);
  }
  // Log-probabilities [B, S] of each target in caller coordinates (0 where there is none), the same on every rank. With gradients it also runs
  // backward.
  at::Tensor run_microbatch(const SftBatch& batch, bool with_gradients);
  at::Tensor run_local(const LocalMicrobatch& local, bool with_gradients);
  void spread_over_group();
  const LayerAttentions& attention_over(const std::shared_ptr<const layout::Layout>& layout);
  // Over the global batch `rows`, of which this rank works on its own.
  Totals run_microbatches(const std::vector<const Row*>& rows, const MicrobatchRules& rules, bool with_gradients,
                          std::vector<at::Tensor>* row_logprobs);
  Totals run_backward(const std::vector<const Row*>& rows, std::vector<at::Tensor>* row_logprobs);
  const ProcessGroup& gradient_group() const { return options_.data_parallel.dp.size > 1 ? options_.data_parallel.dp_cp : cp_group_; }

  LlamaModel& model_;
  recipe::SftConfig config_;
  ProcessGroup cp_group_;
  SftTrainerOptions options_;
  // Of the layout that was asked for last: it holds the layout's plans, which most flavours use again with every batch.
  std::shared_ptr<const layout::Layout> attention_layout_;
  LayerAttentions attention_;
  AdamW optimizer_;
  LearningRateSchedule schedule_;
  int64_t step_count_ = 0;
  int64_t rank_slot_count_ = 0, rank_target_count_ = 0;  // of the step under way
};

}  // namespace ringwright::worker
