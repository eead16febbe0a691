// Metric points into rows, with the sums and the pyramid of their series. Works inside transactions that the caller opens and commits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "shared/history/database.h"
#include "shared/history/pyramid.h"

namespace ringwright::history {

// One metric of one rank in one segment; run and metric by their keys.
struct SeriesId {
  int64_t run, metric;
  int32_t rank;
  int64_t segment;
  bool operator==(const SeriesId&) const = default;
};

class PointStore {
 public:
  explicit PointStore(Database& database) : database_(database), pyramid_(database) {}

  int64_t metric_key(const std::string& name);
  // Remembers the point for write(). The step is within kStepMax.
  void add(const SeriesId& id, int64_t step, double value, int64_t tokens, int64_t time_unix_ns);
  size_t pending() const { return points_.size(); }
  void drop_pending_from(size_t count) { points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(count), points_.end()); }
  // Writes what was added. Returns, by run, how many points took the place of one of the same step.
  std::unordered_map<int64_t, int64_t> write();

  // Sums and pyramid of a series from its points alone.
  void rebuild(int64_t series);

  // What is remembered may not be in the file after a roll-back, and is not needed after a run's end.
  void forget();
  void forget_run(int64_t run);

 private:
  struct Series {
    int64_t key = 0, run = 0;
    Bucket sums;
    int64_t first_step = 0, last_step = 0, last_time_unix_ns = 0;
  };
  struct Point {
    Series* series;
    int64_t step;
    double value;
    int64_t tokens, time_unix_ns;
  };
  struct Hash {
    size_t operator()(const SeriesId& id) const;
  };

  Series& series(const SeriesId& id);
  Series load(const SeriesId& id);
  int64_t write_series(Series& series, const Point* begin, const Point* end);
  bool write_point(const Point& point);
  void count(Series& series, const Point* begin, const Point* end);
  void write_sums(const Series& series);

  Database& database_;
  Pyramid pyramid_;
  std::unordered_map<std::string, int64_t> metric_keys_;
  std::unordered_map<SeriesId, Series, Hash> series_;
  std::vector<Point> points_;
  std::vector<int64_t> steps_;
};

}  // namespace ringwright::history
