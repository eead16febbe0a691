// One AdamW training step of a causal LM at cp = 1: the job of peers/train_step.py, with the parts that the worker trains with.
#include <ATen/ops/randint.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "daemon/worker/algorithms/fused_nll.h"
#include "daemon/worker/algorithms/optimizer.h"
#include "daemon/worker/checkpoint/load.h"
#include "daemon/worker/models/llama_model.h"
#include "daemon/worker/models/local_attention.h"
#include "daemon/worker/torch_environment.h"
#include "shared/base/error.h"
#include "tests/bench/support/timing.h"

namespace {

using namespace ringwright::worker;

struct Arguments {
  std::string model;
  int64_t batch = 1, seq = 2048, chunk_rows = 0;
  int steps = 5, threads = 2;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double peak_rss_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// The wall time of each part of a step, summed over the measured steps.
struct Parts {
  double forward_s = 0, loss_s = 0, backward_s = 0, update_s = 0;
};

class Bench {
 public:
  explicit Bench(const Arguments& arguments) : arguments_(arguments) {
    LoadedCheckpoint loaded = load_checkpoint(arguments.model, at::kFloat);
    model_ = std::make_unique<LlamaModel>(std::move(loaded.config), std::move(loaded.parameters));
    ringwright::recipe::OptimizerConfig config;
    optimizer_ = std::make_unique<AdamW>(model_->parameters(), config);
    ids_BL_ = at::randint(model_->config().vocab_size, {arguments.batch, arguments.seq}, at::kLong);
    positions_BL_ = at::arange(arguments.seq, at::kLong).unsqueeze(0).expand({arguments.batch, arguments.seq}).contiguous();
    targets_BL_ = at::full_like(ids_BL_, -100);
    targets_BL_.narrow(1, 0, arguments.seq - 1).copy_(ids_BL_.narrow(1, 1, arguments.seq - 1));
    weights_T_ = (targets_BL_.flatten() >= 0).to(at::kFloat) / static_cast<double>(arguments.batch * (arguments.seq - 1));
  }

  double step(Parts& parts) {
    auto start = std::chrono::steady_clock::now();
    const auto lap = [&start](double& sum_s) { sum_s += seconds_since(start), start = std::chrono::steady_clock::now(); };
    const at::Tensor hidden_Td = model_->forward_hidden(ids_BL_, positions_BL_, local_attention, {}).flatten(0, 1);
    lap(parts.forward_s);
    const FusedNll nll = fused_linear_nll(hidden_Td, model_->head_weight(), targets_BL_.flatten(), weights_T_, arguments_.chunk_rows);
    lap(parts.loss_s);
    nll.loss.backward();
    lap(parts.backward_s);
    optimizer_->step(1e-4, clip_coefficient(gradient_norm(model_->parameters()), 1.0));
    optimizer_->zero_grad();
    lap(parts.update_s);
    return nll.loss.item<double>();
  }

 private:
  Arguments arguments_;
  std::unique_ptr<LlamaModel> model_;
  std::unique_ptr<AdamW> optimizer_;
  at::Tensor ids_BL_, positions_BL_, targets_BL_, weights_T_;
};

int run(const Arguments& arguments) {
  configure_torch(arguments.threads, 0);
  Bench bench(arguments);
  Parts parts;
  bench.step(parts);  // not counted: the optimizer's state is made in it
  parts = {};
  std::vector<double> times_s;
  double loss = 0;
  const double cpu_before_s = cpu_seconds();
  for (int i = 0; i < arguments.steps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    loss = bench.step(parts);
    times_s.push_back(seconds_since(start));
  }
  const double cpu_s = (cpu_seconds() - cpu_before_s) / arguments.steps;
  const double median_s = ringwright::bench::median(times_s);
  const nlohmann::ordered_json line = {{"job", "train_step"},
                                       {"median_s", median_s},
                                       {"tokens_per_s", static_cast<double>(arguments.batch * arguments.seq) / median_s},
                                       {"loss", loss},
                                       {"peak_rss_mib", peak_rss_mib()},
                                       {"threads", at::get_num_threads()},
                                       {"cpu_s_per_step", cpu_s},
                                       {"forward_s", parts.forward_s / arguments.steps},
                                       {"loss_s", parts.loss_s / arguments.steps},
                                       {"backward_s", parts.backward_s / arguments.steps},
                                       {"update_s", parts.update_s / arguments.steps}};
  std::printf("%s\n", line.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"One AdamW training step at cp = 1, timed; prints one JSON line."};
  Arguments arguments;
  app.add_option("--model", arguments.model, "Checkpoint folder")->required();
  app.add_option("--batch", arguments.batch, "Rows")->check(CLI::PositiveNumber);
  app.add_option("--seq", arguments.seq, "Tokens a row")->check(CLI::Range(2, 1 << 24));
  app.add_option("--steps", arguments.steps, "Measured steps, after one that is not")->check(CLI::PositiveNumber);
  app.add_option("--threads", arguments.threads, "Threads")->check(CLI::PositiveNumber);
  app.add_option("--chunk-rows", arguments.chunk_rows, "Tokens per chunk of the loss; 0: by memory")->check(CLI::NonNegativeNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(arguments);
  } catch (const ringwright::Error& error) {
    std::fprintf(stderr, "%s\n", ringwright::describe(error.parts()).c_str());
    return static_cast<int>(error.exit_code());
  }
}
