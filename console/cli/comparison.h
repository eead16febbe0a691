// Two runs' values of a metric, step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shared/history/records.h"

namespace ringwright::cli {

struct ComparedStep {
  int64_t step;
  std::optional<double> a, b;  // absent where only the other run has the step
  std::optional<double> relative_difference;
};

struct Comparison {
  std::vector<ComparedStep> steps;  // in order
  int64_t common = 0, only_a = 0, only_b = 0;
  std::optional<ComparedStep> largest;  // of the common steps
};

// |a - b| / max(|a|, |b|); 0 for equal values, two NaN included; infinite where only one is finite or they differ in kind.
double relative_difference(double a, double b);

Comparison compare(const std::vector<history::MetricPoint>& a, const std::vector<history::MetricPoint>& b);
// Within the tolerance: no step differs by more, and each run has every step of the other.
bool is_within(const Comparison& comparison, double tolerance);

}  // namespace ringwright::cli
