#include "daemon/worker/algorithms/probe.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "daemon/worker/parallel/collectives.h"
#include "shared/base/error.h"
#include "shared/history/comparison.h"
#include "shared/history/metric_value.h"

namespace ringwright::worker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A gradient that is 0 but for rounding has no scale of its own; this share of the largest gradient of the whole model is everybody's least one. A
// fault in a gradient below kGradientFloor * tolerance of that largest one is not seen, and rounding of float32 (1e-7 of what is added up) stays
// below the tolerance.
constexpr double kGradientFloor = 1e-2;

// The largest |difference| and the largest |value|, over one tensor or several.
class Extremes {
 public:
  void add(const at::Tensor& whole, const at::Tensor& sharded) {
    if (whole.sizes() != sharded.sizes()) {
      difference_ = kInfinity;
      return;
    }
    if (whole.numel() == 0) return;
    const auto largest = [](const at::Tensor& tensor) { return tensor.abs().max().item<double>(); };  // NaN where there is one
    const double difference = largest(whole.to(at::kDouble) - sharded.to(at::kDouble));
    difference_ = std::isfinite(difference) ? std::max(difference_, difference) : kInfinity;
    value_ = std::max(value_, largest(whole));
  }
  // Those of all ranks of the group together.
  void include(const ProcessGroup& group) {
    for (const at::Tensor& other : all_gather(at::tensor({difference_, value_}, at::kDouble), group)) {
      difference_ = std::max(difference_, other[0].item<double>());
      value_ = std::max(value_, other[1].item<double>());
    }
  }
  // Relative to the largest value, or to `floor` where that is more.
  double relative(double floor = 0) const {
    const double scale = std::max(value_, floor);
    return difference_ == 0 ? 0 : scale > 0 ? difference_ / scale : kInfinity;
  }
  double value() const { return value_; }

 private:
  double difference_ = 0, value_ = 0;
};

}  // namespace

Measurement measure(SftTrainer& trainer, const LlamaModel& model, const std::vector<const Row*>& rows) {
  Measurement result;
  result.loss = trainer.accumulate_gradients(rows, &result.row_logprobs);
  for (const auto& [name, parameter] : model.parameters()) {
    result.gradients[name] = parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter);
    at::Tensor(parameter).mutable_grad().reset();
  }
  return result;
}

Measurement measure_alone(LlamaModel& model, recipe::SftConfig config, const SftTrainerOptions& options, const std::vector<const Row*>& rows) {
  config.packing.enabled = config.dynamic_batching.enabled = false;
  config.train_micro_batch_size = 1;
  SftTrainerOptions plain;
  plain.pad_token_id = options.pad_token_id;
  plain.data_parallel.dp = options.data_parallel.dp;
  plain.data_parallel.dp_cp = options.data_parallel.dp;  // the ranks of a CP group all do the same here
  SftTrainer trainer(model, config, ProcessGroup{}, std::move(plain));
  return measure(trainer, model, rows);
}

double ProbeDifferences::largest() const { return std::max({loss, logprobs, gradients.empty() ? 0.0 : gradients.front().second}); }

ProbeDifferences differences(const Measurement& whole, const Measurement& sharded, const ProcessGroup& dp) {
  ProbeDifferences result{whole.loss, sharded.loss, history::relative_difference(whole.loss, sharded.loss), 0, 0, {}};
  Extremes logprobs;
  for (size_t i = 0; i < whole.row_logprobs.size(); ++i) logprobs.add(whole.row_logprobs[i], sharded.row_logprobs.at(i));
  logprobs.include(dp);
  result.logprobs = logprobs.relative();
  for (const at::Tensor& count : all_gather(at::full({1}, static_cast<int64_t>(whole.row_logprobs.size()), at::kLong), dp))
    result.row_count += count.item<int64_t>();
  std::vector<std::pair<std::string, Extremes>> gradients;
  double largest = 0;
  for (const auto& [name, gradient] : whole.gradients) {
    Extremes& extremes = gradients.emplace_back(name, Extremes()).second;
    extremes.add(gradient, sharded.gradients.at(name));
    largest = std::max(largest, extremes.value());
  }
  for (const auto& [name, extremes] : gradients) result.gradients.emplace_back(name, extremes.relative(kGradientFloor * largest));
  std::stable_sort(result.gradients.begin(), result.gradients.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return result;
}

std::vector<ProbeResult> probe(LlamaModel& model, const recipe::SftConfig& config, const ProcessGroup& cp_group, const SftTrainerOptions& options,
                               const std::vector<std::string>& methods, const std::vector<const Row*>& rows, const ProbeBegins& begins) {
  begins("");
  const Measurement whole = measure_alone(model, config, options, rows);
  std::vector<ProbeResult> results;
  for (const std::string& method : methods) {
    begins(method);
    SftTrainerOptions sharded = options;
    sharded.cp_method = method;
    SftTrainer trainer(model, config, cp_group, std::move(sharded));
    try {
      results.push_back({method, "", differences(whole, measure(trainer, model, rows), options.data_parallel.dp)});
    } catch (const Error& error) {
      if (error.exit_code() != ExitCode::refused) throw;
      results.push_back({method, error.parts().what, {}});  // by every rank alike, before anything was sent
    }
  }
  return results;
}

void require_parity(const std::vector<ProbeResult>& results) {
  for (const ProbeResult& result : results) {
    if (!result.refusal.empty() || result.differences.largest() <= history::kToleranceDefault) continue;
    const auto& worst = result.differences.gradients.front();
    throw Error(
        {"RW-PROBE-001",
         fmt::format("the first batch is not the same with and without context parallelism: loss {:.7g} and {:.7g}, log-probabilities differ by "
                     "{:.2e}, gradients by up to {:.2e} ({})",
                     result.differences.loss_whole, result.differences.loss_sharded, result.differences.logprobs, worst.second, worst.first),
         "method " + result.method, fmt::format("relative differences of at most {:g}", history::kToleranceDefault),
         "see all of them with: ringwright probe RECIPE --all", ExitCode::run_failed});
  }
}

nlohmann::json to_json(const ProbeResult& result) {
  if (!result.refusal.empty()) return {{"method", result.method}, {"refused", result.refusal}};
  const ProbeDifferences& found = result.differences;
  const auto number = [](double value) { return history::metric_value_to_json(value); };
  nlohmann::json json = {{"method", result.method},
                         {"loss_whole", number(found.loss_whole)},
                         {"loss_sharded", number(found.loss_sharded)},
                         {"loss_difference", number(found.loss)},
                         {"logprob_difference", number(found.logprobs)},
                         {"rows", found.row_count},
                         {"gradient_differences", nlohmann::json::array()}};
  for (const auto& [name, difference] : found.gradients) json["gradient_differences"].push_back({name, number(difference)});
  return json;
}

}  // namespace ringwright::worker
