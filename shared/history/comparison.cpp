#include "shared/history/comparison.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

namespace ringwright::history {
namespace {

// The bits of a NaN do not live through the store, so all of them are one.
bool equal_bits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b)); }

void add_common(Comparison& result, ComparedStep& row) {
  row.relative_difference = relative_difference(*row.a, *row.b);
  const double absolute = difference(*row.a, *row.b);
  ++result.common;
  result.equal_bits += equal_bits(*row.a, *row.b);
  result.mean_difference += absolute;  // sums until all steps are in
  result.mean_relative_difference += *row.relative_difference;
  result.largest_difference = std::max(result.largest_difference, absolute);
  if (!result.largest || *row.relative_difference > *result.largest->relative_difference) result.largest = row;
}

struct BatchMetric {
  const char* metric;
  const char* what;
};
constexpr std::array<BatchMetric, 4> kBatchMetrics = {{{"train/global_valid_toks", "trained targets"},
                                                       {"train/global_valid_seqs", "sequences"},
                                                       {"train/packs", "packs"},
                                                       {"train/pack_slots", "slots in packs"}}};

}  // namespace

double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
  return std::abs(a - b);
}

double relative_difference(double a, double b) {
  const double absolute = difference(a, b);
  return absolute == 0 || std::isinf(absolute) ? absolute : absolute / std::max(std::abs(a), std::abs(b));
}

Comparison compare(const std::vector<MetricPoint>& a, const std::vector<MetricPoint>& b) {
  std::map<int64_t, ComparedStep> by_step;
  for (const MetricPoint& point : a) by_step[point.step].a = point.value;
  for (const MetricPoint& point : b) by_step[point.step].b = point.value;
  Comparison result;
  for (auto& [step, row] : by_step) {
    row.step = step;
    if (row.a && row.b) {
      add_common(result, row);
    } else {
      ++(row.a ? result.only_a : result.only_b);
    }
    const bool same = row.a && row.b && equal_bits(*row.a, *row.b);
    if (!same && !result.first_different_step) result.first_different_step = step;
    result.steps.push_back(row);
  }
  if (result.common > 0) {
    result.mean_difference /= static_cast<double>(result.common);
    result.mean_relative_difference /= static_cast<double>(result.common);
  }
  return result;
}

bool values_are_within(const Comparison& comparison, double relative_tolerance) {
  return comparison.common > 0 && *comparison.largest->relative_difference <= relative_tolerance;
}

bool is_within(const Comparison& comparison, double relative_tolerance) {
  return comparison.only_a == 0 && comparison.only_b == 0 && values_are_within(comparison, relative_tolerance);
}

std::optional<BatchDifference> first_batch_difference(const Reader& reader, const RunRecord& a, const RunRecord& b) {
  std::optional<BatchDifference> first;
  for (const BatchMetric& metric : kBatchMetrics) {
    for (const ComparedStep& row : compare(reader.metric(a.id, metric.metric), reader.metric(b.id, metric.metric)).steps) {
      if (!row.a || !row.b || difference(*row.a, *row.b) == 0) continue;
      if (!first || row.step < first->step) first = BatchDifference{metric.what, row.step, *row.a, *row.b};
      break;
    }
  }
  return first;
}

}  // namespace ringwright::history
