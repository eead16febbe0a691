#include "daemon/worker/algorithms/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "daemon/worker/kernels/simd/row_kernels.h"

namespace ringwright::worker {
namespace {

constexpr double kClipEpsilon = 1e-6;

bool fused_applies(const at::Tensor& tensor) { return tensor.is_cpu() && tensor.scalar_type() == at::kFloat && tensor.is_contiguous(); }

double sum_of_squares(const at::Tensor& gradient) {
  if (fused_applies(gradient)) return simd::sum_of_squares(gradient.data_ptr<float>(), gradient.numel());
  return gradient.to(at::kDouble).square().sum().item<double>();
}

struct Coefficients {
  double decay, beta1, beta2, step_size, bias_correction2_sqrt, eps, grad_scale;
};

void update_composed(const at::Tensor& parameter, const at::Tensor& gradient_as_given, const at::Tensor& mean, const at::Tensor& square,
                     const Coefficients& c) {
  const at::Tensor gradient = gradient_as_given * c.grad_scale;
  mean.mul_(c.beta1).add_(gradient, 1 - c.beta1);
  square.mul_(c.beta2).addcmul_(gradient, gradient, 1 - c.beta2);
  const at::Tensor denominator = square.sqrt().div_(c.bias_correction2_sqrt).add_(c.eps);
  parameter.mul_(c.decay).addcdiv_(mean, denominator, -c.step_size);
}

void update_fused(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& mean, const at::Tensor& square, const Coefficients& c) {
  const auto narrow = [](double value) { return static_cast<float>(value); };
  simd::adamw(parameter.data_ptr<float>(), gradient.data_ptr<float>(), mean.data_ptr<float>(), square.data_ptr<float>(), parameter.numel(),
              {narrow(c.decay), narrow(c.beta1), narrow(c.beta2), narrow(1 - c.beta1), narrow(1 - c.beta2), narrow(c.step_size),
               narrow(c.bias_correction2_sqrt), narrow(c.eps), narrow(c.grad_scale)});
}

}  // namespace

double gradient_norm(const TensorMap& parameters) {
  const at::NoGradGuard no_grad;
  double sum = 0;
  for (const auto& [name, parameter] : parameters)
    if (parameter.grad().defined()) sum += sum_of_squares(parameter.grad());
  return std::sqrt(sum);
}

double clip_coefficient(double norm, double norm_max) { return norm_max == 0 ? 1 : std::min(1.0, norm_max / (norm + kClipEpsilon)); }

AdamW::AdamW(TensorMap parameters, const recipe::OptimizerConfig& config) : parameters_(std::move(parameters)), config_(config) {}

void AdamW::step(double lr, double grad_scale) {
  const at::NoGradGuard no_grad;
  const auto steps = static_cast<double>(++step_count_);
  Coefficients coefficients{
      1,           config_.beta1, config_.beta2, lr / (1 - std::pow(config_.beta1, steps)), std::sqrt(1 - std::pow(config_.beta2, steps)),
      config_.eps, grad_scale};
  for (auto& [name, parameter] : parameters_) {
    if (!parameter.grad().defined()) continue;
    Moments& moments = moments_[name];
    if (!moments.mean.defined()) moments = {at::zeros_like(parameter), at::zeros_like(parameter)};
    const bool decays = !config_.decay_matrices_only || parameter.dim() >= 2;
    coefficients.decay = decays ? 1 - lr * config_.weight_decay : 1;
    const auto update = fused_applies(parameter) && fused_applies(parameter.grad()) ? update_fused : update_composed;
    update(parameter, parameter.grad(), moments.mean, moments.square, coefficients);
  }
}

void AdamW::zero_grad() {
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

}  // namespace ringwright::worker
