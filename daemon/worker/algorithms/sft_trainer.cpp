#include "daemon/worker/algorithms/sft_trainer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "daemon/worker/algorithms/fused_nll.h"
#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/models/local_attention.h"
#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/parallel/gradients.h"
#include "shared/base/error.h"
#include "shared/base/text.h"
#include "shared/layout/names.h"
#include "shared/model/families.h"
#include "shared/wire/message.h"

namespace ringwright::worker {
namespace {

void require_finite(double value, const char* what, int64_t step) {
  if (std::isfinite(value)) return;
  throw Error({"RW-TRAIN-001", fmt::format("the {} of step {} is {}; the weights were not changed", what, step, text::format_value(value)),
               fmt::format("step {}", step), "a finite number", "lower policy.optimizer.kwargs.lr, lengthen the warm-up, or look at the batch",
               ExitCode::run_failed});
}

// Every rank of the group gets the same sum, bit for bit.
double sum_over_ranks(double value, const ProcessGroup& group) {
  const at::Tensor sum = at::full({1}, value, at::kDouble);
  all_reduce_sum(sum, group);
  return sum.item<double>();
}

class Span {
 public:
  Span(const SftTrainerOptions& options, std::string_view phase, int64_t step)
      : options_(options), phase_(phase), step_(step), begin_ns_(wire::now_unix_ns()) {}
  ~Span() {
    if (options_.span) options_.span(phase_, step_, begin_ns_, wire::now_unix_ns());
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  const SftTrainerOptions& options_;
  std::string_view phase_;
  int64_t step_, begin_ns_;
};

}  // namespace

SftTrainer::SftTrainer(LlamaModel& model, const recipe::SftConfig& config, const ProcessGroup& cp_group, SftTrainerOptions options)
    : model_(model),
      config_(config),
      cp_group_(cp_group),
      options_(std::move(options)),
      attention_(AttentionFunction(local_attention)),
      optimizer_(model.parameters(), config.optimizer),
      schedule_(config.optimizer.lr, config.scheduler, config.scheduler_milestones) {
  options_.sharding.batch.padding_token_id = options_.pad_token_id;
  if (cp_group_.size == 1) {
    if (options_.attention) attention_ = options_.attention(nullptr);
  } else {
    spread_over_group();
  }
  check_attention_blocks(attention_blocks_over_cp(), model::attention_block_count(model.config()), cp_group_.size);
}

void SftTrainer::spread_over_group() {
  if (!options_.shard)
    options_.shard = make_shard_function(sharded_model(options_.cp_flavour, cp_group_.size, options_.sharding), cp_group_, options_.sharding);
  if (!options_.attention)
    options_.attention = [method = options_.cp_method, group = cp_group_](const auto& layout) { return make_attention(method, layout, group); };
}

int64_t SftTrainer::attention_blocks_over_cp() const {
  if (cp_group_.size == 1) return model_.attention_blocks_over(attention_, 1);
  return model_.attention_blocks_over(options_.attention(layout::make_layout(layout::names::kRoundRobin, cp_group_.size)), cp_group_.size);
}

const LayerAttentions& SftTrainer::attention_over(const std::shared_ptr<const layout::Layout>& layout) {
  if (cp_group_.size > 1 && layout != attention_layout_) attention_ = options_.attention(layout), attention_layout_ = layout;
  return attention_;
}

at::Tensor SftTrainer::run_local(const LocalMicrobatch& local, bool with_gradients) {
  const at::AutoGradMode grad_mode(with_gradients);
  const int64_t forward_begin_ns = wire::now_unix_ns();
  const at::Tensor hidden_BLd =
      model_.forward_hidden(local.ids_BL, local.positions_BL, attention_over(local.layout), local.mask, local.longest_length);
  reached(flow::Stage::forward, hidden_BLd.sizes());
  const at::Tensor hidden_Td = hidden_BLd.reshape({-1, model_.config().hidden_size});
  const FusedNll nll = fused_linear_nll(hidden_Td, model_.head_weight(), local.targets_BL.reshape(-1), local.weights_BL.reshape(-1));
  const at::Tensor logprobs_BL = nll.logprobs_T.view_as(local.targets_BL);
  reached(flow::Stage::logprobs, logprobs_BL.sizes());
  if (options_.span && with_gradients) options_.span("forward", step_count_ + 1, forward_begin_ns, wire::now_unix_ns());
  if (options_.span && !with_gradients) options_.span("validation", step_count_, forward_begin_ns, wire::now_unix_ns());
  if (with_gradients) {
    const Span span(options_, "backward", step_count_ + 1);
    nll.loss.backward();
    reached(flow::Stage::backward);
  }
  return logprobs_BL;
}

at::Tensor SftTrainer::run_microbatch(const SftBatch& batch, bool with_gradients) {
  const LocalMicrobatch local = options_.shard ? options_.shard(batch) : whole_microbatch(batch);
  reached(flow::Stage::shard, local.ids_BL.sizes());
  rank_slot_count_ += local.weights_BL.numel(), rank_target_count_ += local.weights_BL.count_nonzero().item<int64_t>();
  const at::Tensor logprobs_BL = run_local(local, with_gradients);
  const at::NoGradGuard no_grad;
  const at::Tensor logprobs_BS = local.gather(logprobs_BL);
  reached(flow::Stage::gather, logprobs_BS.sizes());
  return logprobs_BS;
}

SftTrainer::Totals SftTrainer::run_microbatches(const std::vector<const Row*>& global_rows, const MicrobatchRules& rules, bool with_gradients,
                                                std::vector<at::Tensor>* row_logprobs) {
  const int64_t target_count = count_targets(global_rows);
  const ProcessGroup& dp = options_.data_parallel.dp;
  const std::vector<const Row*> rows = rows_of_rank(global_rows, dp.rank, dp.size);
  std::vector<int64_t> lengths;
  for (const Row* row : rows) lengths.push_back(static_cast<int64_t>(row->ids.size()));
  if (row_logprobs) row_logprobs->assign(rows.size(), at::Tensor());
  Totals totals;
  for (const Microbatch& microbatch : split_into_microbatches(lengths, rules)) {
    const SftBatch batch = make_batch(rows, microbatch, options_.pad_token_id, target_count);
    reached(flow::Stage::batch, batch.ids_BS.sizes());
    reached(flow::Stage::shift, batch.targets_BS.sizes());
    const at::Tensor logprobs_BS = run_microbatch(batch, with_gradients);
    totals.loss -= (logprobs_BS.to(at::kDouble) * batch.weights_BS).sum().item<double>();
    totals.pack_count += batch.packed();
    totals.pack_slot_count += batch.packed() ? batch.ids_BS.numel() : 0;
    for (size_t i = 0; row_logprobs && i < microbatch.rows.size(); ++i) (*row_logprobs)[microbatch.rows[i]] = tokens_of(batch, logprobs_BS, i);
  }
  totals.loss = sum_over_ranks(totals.loss, dp);
  totals.pack_count = static_cast<int64_t>(sum_over_ranks(static_cast<double>(totals.pack_count), dp));
  totals.pack_slot_count = static_cast<int64_t>(sum_over_ranks(static_cast<double>(totals.pack_slot_count), dp));
  return totals;
}

SftTrainer::Totals SftTrainer::run_backward(const std::vector<const Row*>& rows, std::vector<at::Tensor>* row_logprobs) {
  optimizer_.zero_grad();
  const Totals totals = run_microbatches(rows, training_rules(config_), true, row_logprobs);
  const Span span(options_, "reduce", step_count_ + 1);
  sum_gradients(model_.parameters(), gradient_group());
  reached(flow::Stage::reduce);
  return totals;
}

double SftTrainer::accumulate_gradients(const std::vector<const Row*>& rows, std::vector<at::Tensor>* row_logprobs) {
  return run_backward(rows, row_logprobs).loss;
}

SftStep SftTrainer::step(const std::vector<const Row*>& rows) {
  SftStep result;
  result.learning_rate = schedule_.at(step_count_);
  result.target_count = count_targets(rows);
  for (const Row* row : rows) result.token_count += static_cast<int64_t>(row->ids.size());
  rank_slot_count_ = rank_target_count_ = 0;
  const Totals totals = run_backward(rows, nullptr);
  result.rank_slot_count = rank_slot_count_, result.rank_target_count = rank_target_count_;
  result.loss = totals.loss, result.pack_count = totals.pack_count, result.pack_slot_count = totals.pack_slot_count;
  require_finite(result.loss, "loss", step_count_ + 1);
  const Span span(options_, "optimizer", step_count_ + 1);
  result.grad_norm = gradient_norm(model_.parameters());
  require_finite(result.grad_norm, "gradient norm", step_count_ + 1);
  optimizer_.step(result.learning_rate, clip_coefficient(result.grad_norm, config_.max_grad_norm));
  ++step_count_;
  reached(flow::Stage::update);
  return result;
}

double SftTrainer::evaluate(const std::vector<const Row*>& rows) { return run_microbatches(rows, validation_rules(config_), false, nullptr).loss; }

}  // namespace ringwright::worker
