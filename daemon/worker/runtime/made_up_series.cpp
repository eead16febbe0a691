#include "daemon/worker/runtime/made_up_series.h"

#include <cmath>
#include <limits>

namespace ringwright::worker {
namespace {

constexpr double kSpike = 1000;
constexpr double kNoise = 0.02;
constexpr uint64_t kStride = 7;  // so that not every metric is odd at the same step

// One round of SplitMix64.
uint64_t mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

using Shape = double (*)(double step, double offset);

constexpr Shape kShapes[] = {
    [](double step, double offset) { return 2 + offset + 6 * std::exp(-step / 500); },
    [](double step, double offset) { return offset + 0.1 * std::log1p(step); },
    [](double step, double offset) { return offset + std::sin(step / 50); },
    [](double step, double offset) { return offset + std::floor(step / 100); },
    [](double, double offset) { return 1 + offset; },
};

bool is_due(uint64_t every, uint64_t metric, int64_t step) { return every > 0 && (static_cast<uint64_t>(step) + metric * kStride) % every == 0; }

}  // namespace

MadeUpSeries::MadeUpSeries(const wire::TalkPlan& plan, int rank)
    : seed_(mix(plan.seed ^ mix(static_cast<uint64_t>(rank)))), nan_every_(plan.nan_every), spike_every_(plan.spike_every) {}

std::string MadeUpSeries::name(uint64_t metric) { return "talk/" + std::to_string(metric); }

double MadeUpSeries::noise(uint64_t metric, int64_t step) const {
  const uint64_t bits = mix(seed_ ^ mix(metric) ^ mix(static_cast<uint64_t>(step) << 1));
  return kNoise * (std::ldexp(static_cast<double>(bits >> 11), -52) - 1);  // [-kNoise, kNoise)
}

double MadeUpSeries::value(uint64_t metric, int64_t step) const {
  if (is_due(nan_every_, metric, step)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double kinds[] = {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity};
    return kinds[(static_cast<uint64_t>(step) + metric * kStride) / nan_every_ % std::size(kinds)];
  }
  const double offset = static_cast<double>(metric % 16) / 4;
  const double plain = kShapes[metric % std::size(kShapes)](static_cast<double>(step), offset) + noise(metric, step);
  return is_due(spike_every_, metric, step) ? kSpike * (1 + std::abs(plain)) : plain;
}

}  // namespace ringwright::worker
