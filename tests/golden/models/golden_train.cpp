// The 50 training steps: batch step % 8, clipping before AdamW, the golden's own learning rates.
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "daemon/worker/algorithms/fused_nll.h"
#include "tests/golden/models/golden_model.h"

namespace ringwright::golden {
namespace {

using namespace ringwright::worker;

recipe::OptimizerConfig optimizer_of(const nlohmann::json& train) {
  recipe::OptimizerConfig config;
  config.beta1 = train.at("betas")[0];
  config.beta2 = train.at("betas")[1];
  config.eps = train.at("eps");
  config.weight_decay = train.at("weight_decay");
  config.decay_matrices_only = train.at("decay_rule") == "ndim>=2 only";
  return config;
}

// Three times the golden's own sensitivity to a change of 1e-6 in the weights, at least 1e-3.
double loss_tolerance(const nlohmann::json& train) {
  return std::max(1e-3, 3 * train.at("max_loss_difference_when_initial_weights_jittered").at("1e-6").get<double>());
}

struct StepResult {
  double loss, norm;
};
StepResult train_step(LlamaModel& model, AdamW& optimizer, const at::Tensor& ids_BL, const at::Tensor& mask_BL, double lr, double norm_max) {
  const MaskedTargets targets = masked_targets(ids_BL, mask_BL);
  const FusedNll nll = fused_linear_nll(hidden_of(model, ids_BL).flatten(0, 1), model.head_weight(), targets.targets_T, targets.weights_T);
  nll.loss.backward();
  const double norm = gradient_norm(model.parameters());
  optimizer.step(lr, clip_coefficient(norm, norm_max));
  optimizer.zero_grad();
  return {nll.loss.item<double>(), norm};
}

double evaluation_loss(const GoldenModel& golden, const LlamaModel& model) {
  const at::NoGradGuard no_grad;
  const MaskedTargets targets = masked_targets(golden.tensors.at("input_ids"), golden.tensors.at("attention_mask"));
  return fused_linear_nll(hidden_of(model, golden.tensors.at("input_ids")).flatten(0, 1), model.head_weight(), targets.targets_T, targets.weights_T)
      .loss.item<double>();
}

void check_final(const GoldenModel& golden, const LlamaModel& model, Report& report, const std::string& suffix) {
  const nlohmann::json& train = golden.numbers.at("train");
  const std::string name = golden.folder.filename().string();
  const double evaluation = evaluation_loss(golden, model), wanted = train.at("eval_cross_entropy_after");
  report.check("train.eval_cross_entropy_after" + suffix, std::abs(evaluation - wanted) < 10 * loss_tolerance(train), name,
               fmt::format("{} instead of {}", evaluation, wanted));
  for (const auto& [parameter, norm] : train.at("final_param_norms").items()) {
    const double difference = relative_difference(norm_of(model.parameters().at(parameter)), norm.get<double>());
    report.check("train.final_param_norms" + suffix, difference < 1e-3, name + " " + parameter,
                 fmt::format("relative difference {:.3g}", difference));
  }
  for (const auto& [key, value] : golden.tensors) {
    if (!key.starts_with("train.final.")) continue;
    const double difference = largest_difference(model.parameters().at(key.substr(12)).detach(), value);
    report.check("train.final" + suffix, difference < 1e-2, name + " " + key, fmt::format("difference {:.3g}", difference));
  }
}

}  // namespace

void train(const GoldenModel& golden, LlamaModel& model, Report* report, const std::string& suffix) {
  const nlohmann::json& train = golden.numbers.at("train");
  const at::Tensor &ids_SBL = golden.tensors.at("train.input_ids"), &mask_SBL = golden.tensors.at("train.attention_mask");
  AdamW optimizer(model.parameters(), optimizer_of(train));
  const std::string name = golden.folder.filename().string();
  for (int64_t step = 0; step < train.at("steps").get<int64_t>(); ++step) {
    const auto index = static_cast<size_t>(step);
    const int64_t batch = step % ids_SBL.size(0);
    const StepResult result =
        train_step(model, optimizer, ids_SBL[batch], mask_SBL[batch], train.at("lr_per_step")[index], train.at("grad_clip_norm"));
    if (!report) continue;
    const double loss = train.at("losses")[index], norm = train.at("grad_norms_before_clip")[index], tolerance = loss_tolerance(train);
    const std::string id = fmt::format("{} step {}", name, step);
    report->check("train.losses" + suffix, std::abs(result.loss - loss) < tolerance, id, fmt::format("{} instead of {}", result.loss, loss));
    report->check("train.grad_norms_before_clip" + suffix, relative_difference(result.norm, norm) < 10 * tolerance, id,
                  fmt::format("{} instead of {}", result.norm, norm));
  }
  if (report) check_final(golden, model, *report, suffix);
}

}  // namespace ringwright::golden
