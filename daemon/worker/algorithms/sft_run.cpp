#include "daemon/worker/algorithms/sft_run.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "daemon/worker/algorithms/agreement.h"
#include "daemon/worker/algorithms/probe.h"
#include "daemon/worker/algorithms/sft_trainer.h"
#include "daemon/worker/checkpoint/load.h"
#include "daemon/worker/checkpoint/run_checkpoint.h"
#include "daemon/worker/data/dataset.h"
#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/torch_environment.h"
#include "shared/base/error.h"
#include "shared/base/files.h"
#include "shared/base/text.h"
#include "shared/estimate/estimate.h"
#include "shared/estimate/reported.h"
#include "shared/fingerprint/inputs.h"
#include "shared/fingerprint/machine.h"
#include "shared/history/comparison.h"
#include "shared/layout/methods.h"
#include "shared/layout/packing.h"
#include "shared/model/families.h"
#include "shared/shard_plan/shard_plan.h"
#include "shared/support_matrix/running.h"
#include "shared/wire/steering.h"

namespace ringwright::worker {
namespace {

std::string path_of(const wire::WorkerSpec& spec, const char* name) {
  const auto found = spec.paths.find(name);
  return found != spec.paths.end() && found->is_string() ? found->get<std::string>() : std::string();
}

constexpr std::chrono::milliseconds kPauseLook{200};
constexpr auto kStepLogPeriod = std::chrono::seconds(10);  // a log tells how a run goes; each step has its metrics

ProcessGroupOptions group_options(const recipe::SftConfig& config) {
  ProcessGroupOptions options;
  options.transport = transport_from_name(config.cp_transport);
  return options;
}

class SftRun {
 public:
  SftRun(const wire::WorkerSpec& spec, int rank, std::optional<int> listen_fd, Channel& channel)
      : spec_(spec),
        rank_(rank),
        channel_(channel),
        config_(recipe::sft_config(spec.recipe)),
        groups_(wire::mesh_of(spec), {rank, spec.world_size, spec.rendezvous_host, spec.rendezvous_port, listen_fd, nullptr}, group_options(config_)),
        checkpoint_(load_checkpoint(path_of(spec, "model"), at::kFloat)),
        model_(checkpoint_.config, checkpoint_.parameters),
        tokenizer_(tokenizer::Tokenizer::from_file(std::filesystem::path(path_of(spec, "tokenizer")) / "tokenizer.json")),
        train_(read(config_.train, "train")),
        plan_(shard_plan::plan_shards(config_, model::parse_context_parallel_config(checkpoint_.config.raw, path_of(spec, "model")))),
        options_(trainer_options()),
        trainer_(model_, config_, groups_.group("cp"), options_),
        order_(static_cast<int64_t>(train_.rows.size()), config_.seed, config_.shuffle) {
    if (!config_.validation.path.empty()) validation_ = read(config_.validation, "validation");
  }

  void run() {
    report_start();
    if (!spec_.probe.empty()) return probe_only();
    require_place_for_checkpoints();
    if (config_.probe_first && spec_.cp > 1) require_parity(probe_methods({plan_.method}));
    const int64_t step_count_max = steps_to_run();
    validate(config_.val_at_start);
    bool stopped = between_steps(step_count_max);
    while (!stopped && trainer_.step_count() < step_count_max) {
      train_step();
      validate(config_.val_period > 0 && trainer_.step_count() % config_.val_period == 0);
      stopped = between_steps(step_count_max);
    }
    if (stopped) log(fmt::format("stopped on request after step {}", trainer_.step_count()));
    barrier(groups_.group("world"));
  }

 private:
  // A relative folder stands below the run's own, so that runs of one recipe do not overwrite each other.
  std::filesystem::path checkpoint_folder() const {
    return std::filesystem::path(spec_.directory) / (config_.checkpoint_dir.empty() ? "checkpoints" : config_.checkpoint_dir);
  }

  // Before the first step, since the end of training is a bad time to learn it.
  void require_place_for_checkpoints() const {
    if (!config_.checkpointing_enabled || rank_ != 0) return;
    if (const std::string fault = files::why_not_writable(checkpoint_folder()); !fault.empty())
      throw Error({"RW-CKPT-005", "no checkpoint could be written: " + fault, checkpoint_folder().string(), "a folder that can be made and written",
                   "name another folder in checkpointing.checkpoint_dir", ExitCode::run_failed});
  }

  // One batch at cp = 1 and at cp = n. The rows are those of the first step; the order of training is not touched.
  std::vector<ProbeResult> probe_methods(const std::vector<std::string>& methods) {
    RowOrder order(static_cast<int64_t>(train_.rows.size()), config_.seed, config_.shuffle);
    const auto begins = [&, number = 0](const std::string& method) mutable {
      if (rank_ == 0) channel_.event("probe.begins", {{"method", method}, {"number", number++}, {"of", methods.size()}});
    };
    const std::vector<ProbeResult> results = probe(model_, config_, groups_.group("cp"), options_, methods, next_rows(order), begins);
    for (const ProbeResult& result : results) {
      if (rank_ == 0) channel_.event("probe.result", to_json(result));
      log(fmt::format("probe: {}: {}", result.method,
                      result.refusal.empty() ? fmt::format("largest relative difference {:.2e}", result.differences.largest()) : result.refusal));
    }
    return results;
  }

  void probe_only() {
    std::vector<std::string> methods = {plan_.method};
    if (spec_.probe == "all") {
      methods = layout::method_names();
    }
    probe_methods(methods);
    barrier(groups_.group("world"));
  }

  SftTrainerOptions trainer_options() {
    SftTrainerOptions options;
    options.pad_token_id = std::max<int64_t>(checkpoint_.config.pad_token_id, 0);
    options.cp_flavour = plan_.flavour, options.cp_method = plan_.method;
    options.sharding.chunk = config_.cp_chunk, options.sharding.pad_multiple = plan_.pad_multiple, options.sharding.mask = plan_.mask;
    options.data_parallel = {groups_.group("dp"), groups_.group("dp_cp")};
    options.span = [this](std::string_view phase, int64_t step, int64_t begin_ns, int64_t end_ns) { channel_.span(phase, step, begin_ns, end_ns); };
    return options;
  }

  Dataset read(const recipe::DataSource& source, const char* name) {
    DatasetOptions options;
    options.sequence_length_max = longest_row(config_);
    options.vocab_size = checkpoint_.config.vocab_size;
    if (!checkpoint_.config.eos_token_ids.empty()) options.eos_token_id = checkpoint_.config.eos_token_ids.front();
    return read_dataset(source, path_of(spec_, name), tokenizer_, options);
  }

  void log(const std::string& text) {
    if (rank_ == 0) channel_.log("info", text);
  }

  void report_start() {
    const auto& config = checkpoint_.config;
    log(fmt::format("model: {} with {} parameters, {} layers, vocabulary {}", config.model_type, text::format_count(config.parameter_count()),
                    config.num_hidden_layers, config.vocab_size));
    for (const std::string& note : checkpoint_.notes) log(note);
    log(fmt::format("data: {} rows, {} tokens; left out: {} rows of {} tokens", text::format_count(static_cast<int64_t>(train_.rows.size())),
                    text::format_count(train_.token_count), train_.dropped_row_count, text::format_count(train_.dropped_token_count)));
    if (const int dp = groups_.group("dp").size; dp > 1)
      log(fmt::format("data parallelism: {} groups share each global batch of {} rows", dp, config_.train_global_batch_size));
    const std::string attention = spec_.cp > 1 ? fmt::format("{} of {} attention blocks hold the cp group of {} ranks",
                                                             trainer_.attention_blocks_over_cp(), model::attention_block_count(config), spec_.cp)
                                               : std::string("whole sequences on one rank");
    channel_.log("info", fmt::format("attention: {}; {} threads", attention, spec_.threads_per_rank));
    if (spec_.cp > 1)
      log(fmt::format("context parallelism: flavour {} ({}), method {}: {}; {}", plan_.flavour, plan_.flavour_reason, plan_.method,
                      plan_.method_reason, groups_.group("cp").transport_reason));
    if (rank_ != 0) return;
    report_estimate();
    channel_.event("run.step_limit", {{"steps", steps_to_run()}});
    fingerprint_ = std::jthread([this] { send_fingerprint(); });
  }

  // What each rank is expected to need; `runs show` puts what it took beside it.
  void report_estimate() {
    const estimate::BatchShape batch{.length = config_.max_total_sequence_length,
                                     .micro_batch = config_.train_micro_batch_size,
                                     .pack_tokens = config_.packing.enabled ? config_.packing.pack_tokens : 0,
                                     .microbatch_tokens = config_.dynamic_batching.enabled ? config_.dynamic_batching.microbatch_tokens : 0,
                                     .cp = spec_.cp,
                                     .divisor = layout::document_divisor(spec_.cp, 1, false)};
    const estimate::Estimate expected =
        estimate::estimate_step(checkpoint_.config, {.tokens = estimate::tokens_per_rank(batch), .cp = spec_.cp, .method = plan_.method});
    channel_.event("run.estimate", estimate::report(expected));
  }

  // Hashes every byte that went in, so it runs beside the first steps.
  void send_fingerprint() {
    nlohmann::json content = fingerprint::node_fingerprint({.torch_folder = fingerprint::folder_of_loaded("libtorch_cpu.so")});
    content["libraries"]["libtorch"] = TORCH_VERSION;
    content["backend"] = "gloo";
    content["device"] = "cpu";
    content["inputs"] = fingerprint::input_fingerprint(spec_.recipe.dump(), spec_.paths);
    channel_.event("fingerprint", content);
  }

  int64_t steps_to_run() const {
    const int64_t steps_per_epoch = static_cast<int64_t>(train_.rows.size()) / config_.train_global_batch_size;
    if (steps_per_epoch == 0)
      throw Error({"RW-DATA-006", fmt::format("the data has {} rows, a global batch needs {}", train_.rows.size(), config_.train_global_batch_size),
                   path_of(spec_, "train"), "at least one full global batch", "lower policy.train_global_batch_size, or give more text",
                   ExitCode::refused});
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const bool has_end = config_.max_num_epochs > 0 && config_.max_num_epochs <= kMost / steps_per_epoch;
    const int64_t by_epochs = has_end ? steps_per_epoch * config_.max_num_epochs : kMost;
    return config_.max_num_steps >= 0 ? std::min(config_.max_num_steps, by_epochs) : by_epochs;
  }

  std::vector<const Row*> next_rows(RowOrder& order) const {
    std::vector<const Row*> rows;
    for (int64_t i = 0; i < config_.train_global_batch_size; ++i) rows.push_back(&train_.rows[static_cast<size_t>(order.next())]);
    return rows;
  }

  void train_step() {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<const Row*> rows = next_rows(order_);
    const SftStep step = trainer_.step(rows);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    tokens_trained_ += step.token_count;
    check_running(step, seconds);
    if (rank_ != 0) return;
    report_step(step, static_cast<double>(rows.size()), seconds);
    if (!logged_step_at_ || trainer_.step_count() == steps_to_run() || begin - *logged_step_at_ >= kStepLogPeriod) {
      logged_step_at_ = begin;
      log(fmt::format("step {} of {}: loss {:.4f}, gradient norm {}, {} tokens/s", trainer_.step_count(), steps_to_run(), step.loss,
                      text::format_value(step.grad_norm), text::format_count(std::llround(static_cast<double>(step.token_count) / seconds))));
    }
  }

  // Level 3 of the support matrix, as far as this rank can see it. Each row is reported once a run: what is wrong with the data is wrong with all of
  // it.
  void check_running(const SftStep& step, double seconds) {
    support_matrix::RunningFacts facts{.step = trainer_.step_count()};
    if (step.rank_slot_count > 0 && step.rank_target_count == 0) facts.rank_without_targets = rank_, facts.slots = step.rank_slot_count;
    if (rank_ == 0) {
      facts.flops_per_s = estimate::training_flops_min(checkpoint_.config, step.token_count) / seconds;
      facts.hardware_flops_per_s = hardware_flops_per_s_max_;
    }
    for (const support_matrix::RunningFinding& finding : support_matrix::check_running(facts)) {
      if (!reported_rows_.insert(finding.code).second) continue;
      channel_.log("warn", fmt::format("{} {}: {}; {}", finding.code, finding.scope, finding.reason, finding.fix));
      channel_.event("guard.running",
                     {{"code", finding.code}, {"scope", finding.scope}, {"reason", finding.reason}, {"fix", finding.fix}, {"step", facts.step}});
    }
  }

  void report_step(const SftStep& step, double row_count, double seconds) {
    const auto targets = static_cast<double>(step.target_count);
    MetricPoints points = {{"train/loss", step.loss},
                           {"train/grad_norm", step.grad_norm},
                           {"train/lr", step.learning_rate},
                           {"train/num_unmasked_tokens", targets},
                           {"train/num_valid_samples", row_count},
                           {"train/global_valid_seqs", row_count},
                           {"train/global_valid_toks", targets},
                           {"perf/tokens_per_s", static_cast<double>(step.token_count) / seconds},
                           {"timing/train/total_step_time", seconds}};
    if (step.pack_count > 0) {
      points.emplace_back("train/packs", static_cast<double>(step.pack_count));
      points.emplace_back("train/pack_slots", static_cast<double>(step.pack_slot_count));
    }
    channel_.metric(trainer_.step_count(), tokens_trained_, points);
  }

  void validate(bool due) {
    if (!due || validation_.rows.empty()) return;
    const auto all = static_cast<int64_t>(validation_.rows.size());
    const int64_t row_count = config_.val_batches < 0 ? all : std::min(all, config_.val_batches * config_.val_global_batch_size);
    double loss_sum = 0;
    int64_t target_sum = 0;
    for (int64_t begin = 0; begin < row_count; begin += config_.val_global_batch_size) {
      std::vector<const Row*> rows;
      for (int64_t i = begin; i < std::min(begin + config_.val_global_batch_size, row_count); ++i)
        rows.push_back(&validation_.rows[static_cast<size_t>(i)]);
      const int64_t targets = count_targets(rows);
      loss_sum += trainer_.evaluate(rows) * static_cast<double>(targets);
      target_sum += targets;
    }
    if (rank_ != 0 || target_sum == 0) return;
    const double loss = loss_sum / static_cast<double>(target_sum);
    channel_.metric(trainer_.step_count(), tokens_trained_, {{"validation/val_loss", loss}});
    log(fmt::format("validation after step {}: loss {:.4f} over {} rows", trainer_.step_count(), loss, row_count));
  }

  // Whether to stop. Every rank takes the same way through here, since all of them go by what was agreed.
  bool between_steps(int64_t step_count_max) {
    const int64_t step = trainer_.step_count();
    Wishes wishes = agree_and_set();
    while (wishes.pause && !wishes.stop && step < step_count_max) wishes = pause(wishes);
    const bool by_period = config_.checkpointing_enabled && step > 0 && config_.save_period > 0 && step % config_.save_period == 0;
    const bool stop_with_it = by_period && wishes.stop_after_checkpoint && step < step_count_max;
    const bool stop = wishes.stop || stop_with_it, last = stop || step == step_count_max;
    if (wishes.checkpoint || by_period || (last && config_.checkpointing_enabled && step > 0)) save();
    if (stop_with_it && rank_ == 0) channel_.event("run.stopping", {{"step", step}});
    return stop;
  }

  Wishes agree_and_set() {
    const Wishes agreed = agree(channel_.take_wishes(), groups_.group("world"));
    for (size_t key = 0; key < agreed.settings.size(); ++key)
      if (agreed.settings[key]) set(key, *agreed.settings[key]);
    return agreed;
  }

  // Until another word comes. The others wait in a collective for rank 0, which comes to it often enough for any timeout.
  Wishes pause(Wishes wishes) {
    const int64_t step = trainer_.step_count();
    log(fmt::format("paused after step {}", step));
    if (rank_ == 0) channel_.event("run.paused", {{"step", step}});
    while (wishes.pause && !wishes.stop) {
      if (wishes.checkpoint) save();
      if (rank_ == 0) channel_.wait_for_word(kPauseLook);
      wishes = agree_and_set();
    }
    if (rank_ == 0) channel_.event("run.resumed", {{"step", step}});
    return wishes;
  }

  void set(size_t key, double value) {
    const std::string name(wire::settable_keys()[key].name);
    const double previous = kSetters.at(name)(*this, value);
    if (rank_ != 0) return;
    log(fmt::format("{} is {:g} from step {} on; it was {:g}", name, value, trainer_.step_count() + 1, previous));
    channel_.event("run.setting", {{"key", name}, {"value", value}, {"previous", previous}, {"step", trainer_.step_count()}});
  }

  // Of one step once.
  void save() {
    if (std::exchange(saved_step_, trainer_.step_count()) == trainer_.step_count()) return;
    if (rank_ == 0) {
      RunCheckpoint checkpoint;
      checkpoint.directory = checkpoint_folder();
      checkpoint.step = trainer_.step_count();
      checkpoint.tokens_trained = tokens_trained_;
      checkpoint.recipe = spec_.recipe;
      const SavedCheckpoint saved =
          save_run_checkpoint(checkpoint, checkpoint_.config, model_.parameters(), {.dtypes = checkpoint_.dtypes, .source = path_of(spec_, "model")});
      channel_.event("checkpoint.saved", {{"path", saved.path.string()}, {"step", checkpoint.step}, {"bytes", saved.bytes}});
    }
    barrier(groups_.group("world"));
  }

  // By wire::settable_keys(): takes the new value, returns the one before.
  using Setter = double (*)(SftRun& run, double value);
  static const std::map<std::string, Setter> kSetters;

  const wire::WorkerSpec& spec_;
  int rank_;
  Channel& channel_;
  recipe::SftConfig config_;
  ProcessGroups groups_;
  LoadedCheckpoint checkpoint_;
  LlamaModel model_;
  tokenizer::Tokenizer tokenizer_;
  Dataset train_, validation_;
  shard_plan::ShardPlan plan_;
  SftTrainerOptions options_;
  SftTrainer trainer_;
  RowOrder order_;
  int64_t tokens_trained_ = 0, saved_step_ = -1;
  // Rank 0 alone asks.
  std::optional<std::chrono::steady_clock::time_point> logged_step_at_;
  const double hardware_flops_per_s_max_ = rank_ == 0 ? fingerprint::float32_flops_per_s_max(fingerprint::processor()) : 0;
  std::set<std::string> reported_rows_;  // of the support matrix
  std::jthread fingerprint_;
};

const std::map<std::string, SftRun::Setter> SftRun::kSetters = {
    {"optimizer.lr",
     [](SftRun& run, double value) {
       run.trainer_.set_learning_rate(value);
       return std::exchange(run.config_.optimizer.lr, value);
     }},
    {"optimizer.weight_decay",
     [](SftRun& run, double value) {
       run.trainer_.set_weight_decay(value);
       return std::exchange(run.config_.optimizer.weight_decay, value);
     }},
    {"optimizer.max_grad_norm",
     [](SftRun& run, double value) {
       run.trainer_.set_max_grad_norm(value);
       return std::exchange(run.config_.max_grad_norm, value);
     }},
    {"checkpointing.save_period",
     [](SftRun& run, double value) { return static_cast<double>(std::exchange(run.config_.save_period, static_cast<int64_t>(value))); }},
    {"sft.val_period",
     [](SftRun& run, double value) { return static_cast<double>(std::exchange(run.config_.val_period, static_cast<int64_t>(value))); }},
};

}  // namespace

void run_sft(const wire::WorkerSpec& spec, int rank, std::optional<int> listen_fd, Channel& channel) {
  const recipe::SftConfig config = recipe::sft_config(spec.recipe);
  configure_torch(spec.threads_per_rank, config.seed);
  SftRun(spec, rank, listen_fd, channel).run();
}

}  // namespace ringwright::worker
