// The reader's curves: points, summaries and reductions.
#include <algorithm>
#include <limits>

#include "shared/history/metric_value.h"
#include "shared/history/reader_impl.h"

namespace ringwright::history {
namespace {

constexpr size_t kValuesPerPixelMax = 4;
constexpr size_t kPixelsRead = 256;  // fewer pixels are read as so many and put together

double value_in(SQLite::Statement& row, int kind_column) {
  return value_of(static_cast<ValueKind>(row.getColumn(kind_column).getInt()), row.getColumn(kind_column + 1).getDouble());
}

MetricPoint point_of(SQLite::Statement& row, int rank) {
  return {row.getColumn(0).getInt64(), value_in(row, 1), row.getColumn(3).getInt64(), row.getColumn(4).getInt64(), rank};
}

std::optional<double> number_in(SQLite::Statement& row, int column) {
  return row.getColumn(column).isNull() ? std::nullopt : std::optional(row.getColumn(column).getDouble());
}

MetricSummary summary_of(SQLite::Statement& row) {
  MetricSummary summary;
  summary.name = row.getColumn(0).getString();
  summary.rank = row.getColumn(1).getInt();
  summary.segment = row.getColumn(2).getInt64();
  summary.finite = row.getColumn(3).getInt64();
  summary.nans = row.getColumn(4).getInt64();
  summary.positive_infinities = row.getColumn(5).getInt64();
  summary.negative_infinities = row.getColumn(6).getInt64();
  summary.minimum = number_in(row, 7);
  summary.maximum = number_in(row, 8);
  if (summary.finite > 0) summary.mean = row.getColumn(9).getDouble() / static_cast<double>(summary.finite);
  summary.first_step = row.getColumn(10).getInt64();
  summary.last_step = row.getColumn(11).getInt64();
  summary.last = value_in(row, 12);
  summary.last_time_unix_ns = row.getColumn(14).getInt64();
  return summary;
}

// Beside whole buckets, what a range may need of each finer level: three buckets at each end, three blocks behind the last complete one; and the
// points of a block that is still open.
constexpr size_t kBucketsBesidePerLevel = 6 + 3 * kBlockBuckets;
constexpr size_t kPointsBeside = 4 * kBlockBuckets;

// The finest level at which a part of `steps` steps and `points` points needs at most `values_max` values.
int level_for(uint64_t steps, uint64_t points, size_t values_max) {
  if (std::min(steps, points) <= values_max) return 0;
  for (int level = 1; level < kPyramidLevelMax; ++level)
    if ((steps >> 2 * level) + static_cast<size_t>(level) * kBucketsBesidePerLevel + kPointsBeside <= values_max) return level;
  return kPyramidLevelMax;
}

}  // namespace

std::vector<Reader::Impl::Part> Reader::Impl::parts_of_rank(int64_t run, int64_t metric, int rank, int64_t segment) {
  std::vector<Part> parts;
  rows(
      [&](SQLite::Statement& row) {
        if (segment != 0 && row.getColumn(1).getInt64() != segment) return;
        Part part;
        part.series = row.getColumn(0).getInt64(), part.segment = row.getColumn(1).getInt64();
        part.first_step = std::clamp(row.getColumn(2).getInt64(), -kStepMax, kStepMax);
        part.last_step = std::clamp(row.getColumn(3).getInt64(), -kStepMax, kStepMax);
        part.last = value_in(row, 4);
        part.last_time_unix_ns = row.getColumn(6).getInt64(), part.points = row.getColumn(7).getInt64();
        parts.push_back(part);
      },
      sql::series_segments, run, metric, rank);
  if (segment != 0 || parts.empty()) return parts;
  rows(
      [&](SQLite::Statement& row) {
        if (row.getColumn(1).isNull()) return;
        const int64_t of = row.getColumn(0).getInt64(), first_step = std::clamp(row.getColumn(1).getInt64(), -kStepMax, kStepMax);
        for (Part& part : parts)
          if (part.segment < of) part.end = std::min(part.end, first_step);
      },
      sql::segment_list, run);
  std::erase_if(parts, [](const Part& part) { return part.empty(); });
  return parts;
}

std::vector<Reader::Impl::Part> Reader::Impl::parts(const std::string& run, const std::string& name, int& rank, int64_t segment) {
  const int64_t run_key = key(run), name_key = metric_key(name);
  const bool of_run = rank < 0;
  if (of_run) rank = 0;
  std::vector<Part> parts = parts_of_rank(run_key, name_key, rank, segment);
  if (of_run && parts.empty()) parts = parts_of_rank(run_key, name_key, rank = -1, segment);
  return parts;
}

std::vector<std::string> Reader::metric_names(const std::string& run) const {
  std::vector<std::string> names;
  impl_->rows([&](SQLite::Statement& row) { names.push_back(row.getColumn(0).getString()); }, sql::series_name_list, impl_->key(run));
  return names;
}

std::vector<MetricSummary> Reader::metric_summaries(const std::string& run) const {
  std::vector<MetricSummary> summaries;
  impl_->rows(
      [&](SQLite::Statement& row) {
        MetricSummary summary = summary_of(row);
        if (!summaries.empty() && summaries.back().name == summary.name) summaries.pop_back();  // rank 0 comes after the daemon
        summaries.push_back(std::move(summary));
      },
      sql::series_summaries, impl_->key(run));
  return summaries;
}

std::vector<int> Reader::metric_ranks(const std::string& run, const std::string& name) const {
  std::vector<int> ranks;
  impl_->rows([&](SQLite::Statement& row) { ranks.push_back(row.getColumn(0).getInt()); }, sql::series_ranks, impl_->key(run),
              impl_->metric_key(name));
  return ranks;
}

std::vector<MetricPoint> Reader::metric(const std::string& run, const std::string& name, int rank, int64_t after_step, int64_t segment) const {
  std::vector<MetricPoint> points;
  for (const Impl::Part& part : impl_->parts(run, name, rank, segment))
    impl_->rows([&](SQLite::Statement& row) { points.push_back(point_of(row, rank)); }, sql::point_list, part.series, after_step, part.end);
  return points;
}

std::optional<MetricPoint> Reader::last_metric(const std::string& run, const std::string& name) const {
  int rank = -1;
  const std::vector<Impl::Part> parts = impl_->parts(run, name, rank, 0);
  std::optional<MetricPoint> last;
  if (!parts.empty())
    impl_->rows([&](SQLite::Statement& row) { last = point_of(row, rank); }, sql::point_last_before, parts.back().series, parts.back().end);
  return last;
}

std::optional<StepRange> Reader::metric_range(const std::string& run, const std::string& name, int rank) const {
  const std::vector<Impl::Part> parts = impl_->parts(run, name, rank, 0);
  if (parts.empty()) return std::nullopt;
  const Impl::Part& last = parts.back();
  return StepRange{parts.front().first_step, std::min(last.last_step, last.end - 1)};
}

Reduction Reader::reduce(const std::string& run, const std::string& name, int rank, StepRange range, size_t pixels) const {
  range.first = std::clamp(range.first, -kStepMax, kStepMax);
  range.last = std::clamp(range.last, range.first, kStepMax);
  std::vector<Impl::Part> parts = impl_->parts(run, name, rank, 0);
  std::erase_if(parts, [&](const Impl::Part& part) { return part.first_step > range.last || std::min(part.last_step, part.end - 1) < range.first; });
  ColumnSums columns(range, pixels);
  const size_t values_max = parts.empty() ? 0 : kValuesPerPixelMax * std::max(pixels, kPixelsRead) / parts.size();
  for (const Impl::Part& part : parts) {
    const int64_t from = std::max(range.first, part.first_step), to = std::min({range.last, part.last_step, part.end - 1}) + 1;
    if (from >= to) continue;
    const int level = level_for(static_cast<uint64_t>(to - from), static_cast<uint64_t>(part.points), values_max);
    impl_->guarded([&] { impl_->pyramid.read(part.series, level, from, to, part.last_step, [&](const Bucket& bucket) { columns.add(bucket); }); });
  }
  return columns.finish();
}

}  // namespace ringwright::history
