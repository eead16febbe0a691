// One metric of one run: its points in step order, with a pyramid of summaries so that drawing never walks all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/history/records.h"

namespace ringwright::gui {

// since_resume: steps, counted from one of the run's own.
enum class XAxis { step, tokens, elapsed, since_resume };

// Summary of a stretch of points. Non-finite values are counted and never enter min and max.
struct Summary {
  double min = 0, max = 0;
  size_t min_index = 0, max_index = 0;  // where they are
  size_t first_finite = 0, last_finite = 0;
  size_t finite = 0, nonfinite = 0;
  size_t first_nonfinite = 0;
  size_t nans = 0;         // of the non-finite ones
  size_t nonpositive = 0;  // of the finite ones
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
  // The rank that sent the points; kMixedRanks where several did.
  static constexpr int kMixedRanks = -2;
  int rank() const { return rank_; }
  // Position on the axis, which begins at `origin`: nanoseconds since 1970 for elapsed (the position is in seconds), a step for since_resume. Never
  // decreases with the index.
  double x(size_t index, XAxis axis, int64_t origin = 0) const {
    switch (axis) {
      case XAxis::step:
        return static_cast<double>(steps_[index]);
      case XAxis::tokens:
        return static_cast<double>(tokens_[index]);
      case XAxis::elapsed:
        return static_cast<double>(times_[index] - origin) / 1e9;
      case XAxis::since_resume:
        return static_cast<double>(steps_[index] - origin);
    }
    return 0;
  }
  // Index of the first point at or after x / after x.
  size_t lower_bound(double x, XAxis axis, int64_t origin = 0) const;
  size_t upper_bound(double x, XAxis axis, int64_t origin = 0) const;
  // lower_bound, quick where `guess` is near it.
  size_t lower_bound_near(size_t guess, double x, XAxis axis, int64_t origin = 0) const;
  // The longest stretch of at most `points` points that is one sum of the pyramid, 0 where even the shortest is longer: a stretch that begins and ends at
  // multiples of it is summed up without a look at its points.
  static size_t block_points(size_t points);
  // Summary of [begin, end), by way of the pyramid: O(log size).
  Summary summarize(size_t begin, size_t end) const;
  // Changes with every append.
  uint64_t version() const { return version_; }
  // How many points were inserted or replaced before the end: what was computed from the past is then to be computed anew.
  size_t replaced_points() const { return replaced_; }

 private:
  // Summary of a block of the pyramid. Indices count from the block's beginning, so that a block is as small as a cache line is long.
  struct Block {
    double min, max;
    uint32_t min_at, max_at, first_finite, last_finite, first_nonfinite;
    uint32_t nonfinite, nans, nonpositive;
  };
  void insert_at(size_t index, const history::MetricPoint& point);
  void overwrite(size_t index, const history::MetricPoint& point);
  void refresh(size_t from);
  // Adds the points [begin, end), or the blocks [begin, end) of a level, to a summary of what comes before them.
  void add_points(Summary& sum, size_t begin, size_t end) const;
  void add_blocks(Summary& sum, size_t level, size_t begin, size_t end) const;

  std::vector<int64_t> steps_, tokens_, times_;
  std::vector<double> values_;
  // levels_[k][i] sums up points [i * size, (i+1) * size), where size is 16 * 4^k; only full blocks are kept.
  std::vector<std::vector<Block>> levels_;
  int rank_ = kMixedRanks;
  uint64_t version_ = 0;
  size_t replaced_ = 0;
};

// Exponential moving average with bias correction over the whole series in step order; non-finite values are skipped and repeated as they are. It
// begins anew at each step of `resumed_at` (in order): what a resumed run had left behind says nothing about what it goes on with.
class SmoothedSeries {
 public:
  // Works on at most `budget_points` points a call; true when it has caught up. Starts again when the weight, the resumes or the past have changed.
  bool follow(const Series& raw, double weight, const std::vector<int64_t>& resumed_at = {}, size_t budget_points = 200'000);
  bool has_followed(const Series& raw, double weight, const std::vector<int64_t>& resumed_at = {}) const;
  size_t points_done() const { return done_; }
  const Series& series() const { return series_; }

 private:
  Series series_;
  std::vector<int64_t> resumed_at_;
  size_t next_resume_ = 0;
  double weight_ = -1, mean_ = 0, correction_ = 0;
  size_t done_ = 0, replaced_seen_ = 0;
};

}  // namespace ringwright::gui
