// One batch two ways: what context parallelism changes in the numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "daemon/worker/algorithms/sft_trainer.h"

namespace ringwright::worker {

// What one way gives for a global batch.
struct Measurement {
  double loss = 0;
  std::vector<at::Tensor> row_logprobs;  // see SftTrainer::accumulate_gradients
  TensorMap gradients;
};

// Runs the batch forward and backward. The model's own gradients are gone afterwards, its weights unchanged.
Measurement measure(SftTrainer& trainer, const LlamaModel& model, const std::vector<const Row*>& rows);

// The batch as plain training on one rank sees it: each row alone, no packs, no sharder. `data_parallel` as in the run.
Measurement measure_alone(LlamaModel& model, recipe::SftConfig config, const SftTrainerOptions& options, const std::vector<const Row*>& rows);

// Relative differences: of the loss; of the log-probabilities, by the largest; of each gradient, by the largest value of that tensor, or by a
// hundredth of the largest gradient of the model where that is more: a gradient that is 0 but for rounding has no scale of its own. Infinite where
// one side is not finite or has another shape. Log-probabilities are those of all ranks of `dp`, each of which worked on other rows: every rank of it
// must call this, and gets the same answer.
struct ProbeDifferences {
  double loss_whole = 0, loss_sharded = 0;
  double loss = 0, logprobs = 0;
  int64_t row_count = 0;                                  // whose log-probabilities were compared
  std::vector<std::pair<std::string, double>> gradients;  // the most different first

  double largest() const;
};
ProbeDifferences differences(const Measurement& whole, const Measurement& sharded, const ProcessGroup& dp = {});

// One method's answer.
struct ProbeResult {
  std::string method;
  std::string refusal;  // why the method was not tried; "": it was
  ProbeDifferences differences;
};

// Called before each part of a probe: with a method, or with "" for the batch on one rank.
using ProbeBegins = std::function<void(const std::string& method)>;

// Compares plain training on one rank with training over `cp_group` by each of the methods, on the same rows: the global batch. `options`: as in the
// run, cp_method aside. Every rank gets the result. Methods that cannot honour the batch's attention are refused, not tried.
std::vector<ProbeResult> probe(
    LlamaModel& model, const recipe::SftConfig& config, const ProcessGroup& cp_group, const SftTrainerOptions& options,
    const std::vector<std::string>& methods, const std::vector<const Row*>& rows, const ProbeBegins& begins = [](const std::string&) {});

// Throws Error RW-PROBE-001 (the run failed) for the first method that was tried and differs by more than history::kToleranceDefault.
void require_parity(const std::vector<ProbeResult>& results);

// Fields of the event probe.result.
nlohmann::json to_json(const ProbeResult& result);

}  // namespace ringwright::worker
