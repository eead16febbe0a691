// Two runs' values of a metric, step by step, and whether the two were trained on the same batches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/history/records.h"
#include "shared/history/store.h"

namespace ringwright::history {

struct ComparedStep {
  int64_t step;
  std::optional<double> a, b;  // absent where only the other run has the step
  std::optional<double> relative_difference;
};

// Differences are of the common steps; the means and maxima are 0 where there are none.
struct Comparison {
  std::vector<ComparedStep> steps;  // in order
  int64_t common = 0, only_a = 0, only_b = 0;
  int64_t equal_bits = 0;                       // common steps whose values are the same bit for bit
  std::optional<int64_t> first_different_step;  // of all steps: bits that differ, or a step that one run lacks
  double mean_difference = 0, largest_difference = 0, mean_relative_difference = 0;
  std::optional<ComparedStep> largest;  // the common step with the largest relative difference
};

// Of relative differences, unless a command is told another: a probe's, and that of two runs.
inline constexpr double kToleranceDefault = 1e-4;

// |a - b|; 0 for equal values, two NaN included; infinite where only one is finite or they differ in kind.
double difference(double a, double b);
// |a - b| / max(|a|, |b|), with the same rules.
double relative_difference(double a, double b);

Comparison compare(const std::vector<MetricPoint>& a, const std::vector<MetricPoint>& b);
// No common step differs by more than the tolerance, and there is one.
bool values_are_within(const Comparison& comparison, double relative_tolerance);
// The same, and each run has every step of the other.
bool is_within(const Comparison& comparison, double relative_tolerance);

// What a step was trained on, as its metrics say it.
struct BatchDifference {
  std::string what;  // "packs"
  int64_t step;
  double a, b;
};
// The first step for which both runs say what they were trained on, and differ in it: trained targets, sequences, packs, slots in packs. A run that
// is packed and one that is not differ in none of these.
std::optional<BatchDifference> first_batch_difference(const Reader& reader, const RunRecord& a, const RunRecord& b);

}  // namespace ringwright::history
