#include "daemon/worker/models/rope.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/outer.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace ringwright::worker {
namespace {

using model::ModelConfig;
using model::RopeConfig;

std::vector<double> base_frequencies(double theta, int64_t head_dim) {
  std::vector<double> frequencies(static_cast<size_t>(head_dim / 2));
  for (size_t j = 0; j < frequencies.size(); ++j) frequencies[j] = std::pow(theta, -2.0 * static_cast<double>(j) / static_cast<double>(head_dim));
  return frequencies;
}

std::vector<double> plain(const ModelConfig& config, int64_t) { return base_frequencies(config.rope.theta, config.head_dim); }

std::vector<double> linear(const ModelConfig& config, int64_t) {
  auto frequencies = plain(config, 0);
  for (double& f : frequencies) f /= config.rope.factor;
  return frequencies;
}

std::vector<double> dynamic(const ModelConfig& config, int64_t longest_length) {
  const auto maximum = static_cast<double>(config.max_position_embeddings), head_dim = static_cast<double>(config.head_dim),
             factor = config.rope.factor;
  const double length = std::max(static_cast<double>(longest_length), maximum);
  const double theta = config.rope.theta * std::pow(factor * length / maximum - (factor - 1), head_dim / (head_dim - 2));
  return base_frequencies(theta, config.head_dim);
}

std::vector<double> llama3(const ModelConfig& config, int64_t) {
  const RopeConfig& rope = config.rope;
  const auto original = static_cast<double>(rope.original_max_position_embeddings);
  auto frequencies = plain(config, 0);
  for (double& f : frequencies) {
    const double wavelength = 2 * std::numbers::pi / f;
    if (wavelength > original / rope.low_freq_factor) {
      f /= rope.factor;
    } else if (wavelength >= original / rope.high_freq_factor) {
      const double t = (original / wavelength - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
      f *= (1 - t) / rope.factor + t;
    }
  }
  return frequencies;
}

std::vector<double> yarn(const ModelConfig& config, int64_t) {
  const RopeConfig& rope = config.rope;
  const auto original = static_cast<double>(rope.original_max_position_embeddings), head_dim = static_cast<double>(config.head_dim);
  const auto turns_at = [&](double rotations) {
    return head_dim * std::log(original / (2 * std::numbers::pi * rotations)) / (2 * std::log(rope.theta));
  };
  double low = turns_at(rope.beta_fast), high = turns_at(rope.beta_slow);
  if (rope.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, head_dim - 1);
  if (low == high) high += 0.001;
  auto frequencies = plain(config, 0);
  for (size_t j = 0; j < frequencies.size(); ++j) {
    const double ramp = std::clamp((static_cast<double>(j) - low) / (high - low), 0.0, 1.0);
    frequencies[j] *= (1 - ramp) + ramp / rope.factor;
  }
  return frequencies;
}

double yarn_scale(double scale, double mscale) { return scale <= 1 ? 1 : 0.1 * mscale * std::log(scale) + 1; }

using Frequencies = std::vector<double> (*)(const ModelConfig&, int64_t);
const std::map<std::string, Frequencies> kTypes = {{"default", plain}, {"linear", linear}, {"dynamic", dynamic}, {"llama3", llama3}, {"yarn", yarn}};

}  // namespace

std::vector<double> rope_frequencies(const ModelConfig& config, int64_t longest_length) {
  return kTypes.at(config.rope.type)(config, longest_length);
}

double rope_attention_factor(const ModelConfig& config) {
  const RopeConfig& rope = config.rope;
  if (rope.type != "yarn") return 1;
  if (rope.attention_factor) return *rope.attention_factor;
  if (rope.mscale && rope.mscale_all_dim) return yarn_scale(rope.factor, *rope.mscale) / yarn_scale(rope.factor, *rope.mscale_all_dim);
  return yarn_scale(rope.factor, 1);
}

RopeTable make_rope_table(const ModelConfig& config, const at::Tensor& positions, int64_t longest_length) {
  auto frequencies = rope_frequencies(config, longest_length);
  const at::Tensor f_h =
      at::from_blob(frequencies.data(), {static_cast<int64_t>(frequencies.size())}, at::kDouble).to(positions.device(), at::kFloat);
  const at::Tensor angles_Th = at::outer(positions.reshape(-1).to(at::kFloat), f_h);
  const double factor = rope_attention_factor(config);
  RopeTable table{angles_Th.cos(), angles_Th.sin()};
  if (factor != 1) table.cos_Th.mul_(factor), table.sin_Th.mul_(factor);
  return table;
}

}  // namespace ringwright::worker
