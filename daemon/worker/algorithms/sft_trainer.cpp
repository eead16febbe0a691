#include "daemon/worker/algorithms/sft_trainer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "daemon/worker/algorithms/fused_nll.h"
#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/context_parallel/flavours.h"
#include "daemon/worker/models/local_attention.h"
#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/parallel/gradients.h"
#include "shared/base/error.h"
#include "shared/model/families.h"
#include "shared/wire/message.h"

namespace ringwright::worker {
namespace {

AttentionFunction attention_for(const ProcessGroup& cp_group, const std::string& flavour) {
  if (cp_group.size == 1) return local_attention;
  return make_attention("ring", layout::make_layout(flavour, cp_group.size), cp_group);
}

void require_finite(double value, const char* what, int64_t step) {
  if (std::isfinite(value)) return;
  throw Error({"RW-TRAIN-001", fmt::format("the {} of step {} is {}; the weights were not changed", what, step, value), fmt::format("step {}", step),
               "a finite number", "lower policy.optimizer.kwargs.lr, lengthen the warm-up, or look at the batch", ExitCode::run_failed});
}

// Every rank of the group gets the same sum, bit for bit.
double sum_over_ranks(double value, const ProcessGroup& group) {
  const at::Tensor sum = at::full({1}, value, at::kDouble);
  all_reduce_sum(sum, group);
  return sum.item<double>();
}

class Span {
 public:
  Span(const SftTrainerOptions& options, std::string_view phase) : options_(options), phase_(phase), begin_ns_(wire::now_unix_ns()) {}
  ~Span() {
    if (options_.span) options_.span(phase_, begin_ns_, wire::now_unix_ns());
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  const SftTrainerOptions& options_;
  std::string_view phase_;
  int64_t begin_ns_;
};

}  // namespace

SftTrainer::SftTrainer(LlamaModel& model, const recipe::SftConfig& config, const ProcessGroup& cp_group, SftTrainerOptions options)
    : model_(model),
      config_(config),
      cp_group_(cp_group),
      options_(std::move(options)),
      attentions_(attention_for(cp_group, options_.cp_flavour)),
      optimizer_(model.parameters(), config.optimizer),
      schedule_(config.optimizer.lr, config.scheduler, config.scheduler_milestones) {
  check_attention_blocks(attention_blocks_over_cp(), model::attention_block_count(model.config()), cp_group.size);
}

at::Tensor SftTrainer::run_local(const at::Tensor& ids_BL, const at::Tensor& positions_BL, const at::Tensor& targets_BL, const at::Tensor& weights_BL,
                                 int64_t sequence_length, bool with_gradients) {
  const at::AutoGradMode grad_mode(with_gradients);
  const int64_t forward_begin_ns = wire::now_unix_ns();
  const at::Tensor hidden_Td =
      model_.forward_hidden(ids_BL, positions_BL, attentions_, {}, sequence_length).reshape({-1, model_.config().hidden_size});
  const FusedNll nll = fused_linear_nll(hidden_Td, model_.head_weight(), targets_BL.reshape(-1), weights_BL.reshape(-1));
  const int64_t forward_end_ns = wire::now_unix_ns();
  if (options_.span) options_.span("forward", forward_begin_ns, forward_end_ns);
  if (with_gradients) {
    const Span span(options_, "backward");
    nll.loss.backward();
  }
  return nll.logprobs_T.view_as(targets_BL);
}

at::Tensor SftTrainer::run_microbatch(const SftBatch& batch, bool with_gradients) {
  const int64_t length = batch.ids_BS.size(1);
  if (cp_group_.size == 1) {
    const at::Tensor positions_BS = at::arange(length).expand_as(batch.ids_BS);
    return run_local(batch.ids_BS, positions_BS, batch.targets_BS, batch.weights_BS, length, with_gradients);
  }
  SharderOptions sharder_options;
  sharder_options.batch.padding_token_id = options_.pad_token_id;
  Sharder sharder = make_sharder(options_.cp_flavour, cp_group_, sharder_options);
  // Targets were shifted on the whole row: the last token of a slice has its target on another rank.
  const Batch local = sharder.shard({{"input_ids", batch.ids_BS}, {"labels", batch.targets_BS}});
  const at::Tensor weights_BL = sharder.shard_token_tensor(batch.weights_BS, 1, 0);
  const at::Tensor logprobs_BL =
      run_local(local.at("input_ids"), local.at("position_ids"), local.at("labels"), weights_BL, *sharder.facts().padded_length, with_gradients);
  const at::NoGradGuard no_grad;
  return sharder.gather_token_tensor(logprobs_BL, 1, true);
}

double SftTrainer::run_microbatches(const std::vector<const Row*>& global_rows, int64_t micro_batch_size, bool with_gradients) {
  const int64_t target_count = count_targets(global_rows);
  const ProcessGroup& dp = options_.data_parallel.dp;
  const std::vector<const Row*> rows = rows_of_rank(global_rows, dp.rank, dp.size);
  double loss = 0;
  for (size_t begin = 0; begin < rows.size(); begin += static_cast<size_t>(micro_batch_size)) {
    const size_t end = std::min(rows.size(), begin + static_cast<size_t>(micro_batch_size));
    const std::vector<const Row*> part(rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.begin() + static_cast<std::ptrdiff_t>(end));
    const SftBatch batch = make_sft_batch(part, options_.pad_token_id, target_count);
    const at::Tensor logprobs_BS = run_microbatch(batch, with_gradients);
    loss -= (logprobs_BS.to(at::kDouble) * batch.weights_BS).sum().item<double>();
  }
  return sum_over_ranks(loss, dp);
}

double SftTrainer::accumulate_gradients(const std::vector<const Row*>& rows) {
  optimizer_.zero_grad();
  const double loss = run_microbatches(rows, config_.train_micro_batch_size, true);
  const Span span(options_, "reduce");
  sum_gradients(model_.parameters(), gradient_group());
  return loss;
}

SftStep SftTrainer::step(const std::vector<const Row*>& rows) {
  SftStep result;
  result.learning_rate = schedule_.at(step_count_);
  result.target_count = count_targets(rows);
  for (const Row* row : rows) result.token_count += static_cast<int64_t>(row->ids.size());
  result.loss = accumulate_gradients(rows);
  require_finite(result.loss, "loss", step_count_ + 1);
  const Span span(options_, "optimizer");
  result.grad_norm = gradient_norm(model_.parameters());
  require_finite(result.grad_norm, "gradient norm", step_count_ + 1);
  optimizer_.step(result.learning_rate, clip_coefficient(result.grad_norm, config_.max_grad_norm));
  ++step_count_;
  return result;
}

double SftTrainer::evaluate(const std::vector<const Row*>& rows) { return run_microbatches(rows, config_.val_micro_batch_size, false); }

}  // namespace ringwright::worker
