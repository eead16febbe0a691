// One metric of one run: its points in step order, with a pyramid of summaries so that drawing never walks all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/history/records.h"

namespace ringwright::gui {

enum class XAxis { step, tokens, elapsed };

// Summary of a stretch of points. Non-finite values are counted and never enter min and max.
struct Summary {
  double min = 0, max = 0;
  size_t min_index = 0, max_index = 0;  // where they are
  size_t first_finite = 0, last_finite = 0;
  size_t finite = 0, nonfinite = 0;
  size_t first_nonfinite = 0;
};
// Summary of `left` followed by `right`.
Summary merge(const Summary& left, const Summary& right);

class Series {
 public:
  // Inserts in step order (T29): a step that is there already takes the value with the later time, so each step has one point.
  void append(const history::MetricPoint& point);
  void append(const std::vector<history::MetricPoint>& points);

  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  double value(size_t index) const { return values_[index]; }
  int64_t step(size_t index) const { return steps_[index]; }
  int64_t tokens(size_t index) const { return tokens_[index]; }
  int64_t time_unix_ns(size_t index) const { return times_[index]; }
  // Position on the axis; seconds since `start_unix_ns` for elapsed. Never decreases with the index.
  double x(size_t index, XAxis axis, int64_t start_unix_ns = 0) const;
  // Index of the first point at or after x / after x.
  size_t lower_bound(double x, XAxis axis, int64_t start_unix_ns = 0) const;
  size_t upper_bound(double x, XAxis axis, int64_t start_unix_ns = 0) const;
  // lower_bound, quick where `guess` is near it.
  size_t lower_bound_near(size_t guess, double x, XAxis axis, int64_t start_unix_ns = 0) const;
  // Summary of [begin, end), by way of the pyramid: O(log size).
  Summary summarize(size_t begin, size_t end) const;
  // Changes with every append.
  uint64_t version() const { return version_; }
  // How many points were inserted or replaced before the end: what was computed from the past is then to be computed anew.
  size_t replaced_points() const { return replaced_; }

 private:
  void insert_at(size_t index, const history::MetricPoint& point);
  void overwrite(size_t index, const history::MetricPoint& point);
  void refresh(size_t from);
  // Summary of [begin, end), point by point.
  Summary scan(size_t begin, size_t end) const;

  std::vector<int64_t> steps_, tokens_, times_;
  std::vector<double> values_;
  // levels_[k][i] sums up points [i * 8^(k+1), (i+1) * 8^(k+1)).
  std::vector<std::vector<Summary>> levels_;
  uint64_t version_ = 0;
  size_t replaced_ = 0;
};

// Exponential moving average with bias correction over the whole series in step order; non-finite values are skipped and repeated as they are.
class SmoothedSeries {
 public:
  // Works on at most `budget_points` points a call; true when it has caught up. Starts again when the weight or the past has changed.
  bool follow(const Series& raw, double weight, size_t budget_points = 200'000);
  bool has_followed(const Series& raw, double weight) const;
  size_t points_done() const { return done_; }
  const Series& series() const { return series_; }

 private:
  Series series_;
  double weight_ = -1, mean_ = 0, correction_ = 0;
  size_t done_ = 0, replaced_seen_ = 0;
};

}  // namespace ringwright::gui
