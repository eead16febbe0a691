#include "shared/history/point_store.h"

#include <algorithm>

#include "shared/history/metric_value.h"
#include "shared/history/sql.h"

namespace ringwright::history {
namespace {

// NULL for a value that SQLite has no number for.
void bind_value(SQLite::Statement& statement, int index, double value) {
  kind_of(value) == ValueKind::finite ? statement.bind(index, value) : statement.bind(index);
}

}  // namespace

size_t PointStore::Hash::operator()(const SeriesId& id) const {
  uint64_t hash = 0;
  for (const int64_t part : {id.run, id.metric, int64_t{id.rank}, id.segment})
    hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15, hash ^= hash >> 29;
  return hash;
}

int64_t PointStore::metric_key(const std::string& name) {
  if (const auto found = metric_keys_.find(name); found != metric_keys_.end()) return found->second;
  database_.run(sql::metric_name_insert, name);
  SQLite::Statement& row = database_.query(sql::metric_name_key, name);
  row.executeStep();
  const int64_t key = row.getColumn(0).getInt64();
  row.reset();
  metric_keys_[name] = key;
  return key;
}

void PointStore::add(const SeriesId& id, int64_t step, double value, int64_t tokens, int64_t time_unix_ns) {
  points_.push_back({&series(id), step, value, tokens, time_unix_ns});
}

PointStore::Series& PointStore::series(const SeriesId& id) {
  const auto found = series_.find(id);
  return found != series_.end() ? found->second : series_.emplace(id, load(id)).first->second;
}

PointStore::Series PointStore::load(const SeriesId& id) {
  database_.run(sql::series_insert, id.run, id.metric, id.rank, id.segment);
  SQLite::Statement& row = database_.query(sql::series_get, id.run, id.metric, id.rank, id.segment);
  row.executeStep();
  Series series;
  series.key = row.getColumn(0).getInt64();
  series.run = id.run;
  series.sums.finite = row.getColumn(1).getInt64();
  series.sums.nans = row.getColumn(2).getInt64();
  series.sums.positive_infinities = row.getColumn(3).getInt64();
  series.sums.negative_infinities = row.getColumn(4).getInt64();
  if (series.sums.finite > 0) series.sums.minimum = row.getColumn(5).getDouble(), series.sums.maximum = row.getColumn(6).getDouble();
  series.sums.total = row.getColumn(7).getDouble();
  series.first_step = row.getColumn(8).getInt64();
  series.last_step = row.getColumn(9).getInt64();
  series.sums.last = value_of(static_cast<ValueKind>(row.getColumn(10).getInt()), row.getColumn(11).getDouble());
  series.last_time_unix_ns = row.getColumn(12).getInt64();
  row.reset();
  return series;
}

// In the order of the rows' key, so that neighbours land on the same page while it is at hand.
std::unordered_map<int64_t, int64_t> PointStore::write() {
  std::stable_sort(points_.begin(), points_.end(),
                   [](const Point& a, const Point& b) { return a.series->key != b.series->key ? a.series->key < b.series->key : a.step < b.step; });
  std::unordered_map<int64_t, int64_t> replaced;
  const Point* const end = points_.data() + points_.size();
  for (const Point* begin = points_.data(); begin != end;) {
    Series& series = *begin->series;
    const Point* next = begin;
    while (next != end && next->series == &series) ++next;
    if (const int64_t count = write_series(series, begin, next)) replaced[series.run] += count;
    begin = next;
  }
  points_.clear();
  return replaced;
}

int64_t PointStore::write_series(Series& series, const Point* begin, const Point* end) {
  const bool was_empty = series.sums.points() == 0;
  const int64_t old_last_step = was_empty ? begin->step : series.last_step;
  int64_t replaced = 0;
  steps_.clear();
  for (const Point* point = begin; point != end; ++point) {
    if (!write_point(*point)) ++replaced;
    if (steps_.empty() || steps_.back() != point->step) steps_.push_back(point->step);
  }
  series.first_step = was_empty ? begin->step : std::min(series.first_step, begin->step);
  const int64_t last_step = was_empty ? (end - 1)->step : std::max(series.last_step, (end - 1)->step);
  pyramid_.update(series.key, steps_, old_last_step, last_step);
  if ((end - 1)->step >= series.last_step || was_empty) series.last_time_unix_ns = (end - 1)->time_unix_ns;
  if (replaced == 0) {
    count(series, begin, end);
    series.last_step = last_step;
  } else {
    series.last_step = last_step;
    series.sums = pyramid_.sum(series.key, series.first_step, last_step + 1, last_step);
  }
  write_sums(series);
  return replaced;
}

// False when the point took the place of another one.
bool PointStore::write_point(const Point& point) {
  const auto bind = [&](SQLite::Statement& statement) {
    const ValueKind kind = kind_of(point.value);
    statement.bind(1, point.series->key);
    statement.bind(2, point.step);
    statement.bind(3, static_cast<int>(kind));
    bind_value(statement, 4, point.value);
    statement.bind(5, point.tokens);
    statement.bind(6, point.time_unix_ns);
  };
  SQLite::Statement& insert = database_.statement(sql::point_insert);
  bind(insert);
  const bool is_new = insert.exec() > 0;
  insert.reset();
  if (is_new) return true;
  SQLite::Statement& update = database_.statement(sql::point_update);
  bind(update);
  update.exec();
  update.reset();
  return false;
}

void PointStore::count(Series& series, const Point* begin, const Point* end) {
  const double last = series.sums.last;
  const bool is_last = series.sums.points() == 0 || (end - 1)->step > series.last_step;
  for (const Point* point = begin; point != end; ++point) series.sums.add(point->step, point->value);
  if (!is_last) series.sums.last = last;
}

void PointStore::write_sums(const Series& series) {
  const Bucket& sums = series.sums;
  SQLite::Statement& update =
      database_.query(sql::series_update, series.key, sums.finite, sums.nans, sums.positive_infinities, sums.negative_infinities);
  if (sums.finite > 0) update.bind(6, sums.minimum), update.bind(7, sums.maximum);
  if (sums.finite == 0) update.bind(6), update.bind(7);
  update.bind(8, sums.total);
  update.bind(9, series.first_step);
  update.bind(10, series.last_step);
  update.bind(11, static_cast<int>(kind_of(sums.last)));
  bind_value(update, 12, sums.last);
  update.bind(13, series.last_time_unix_ns);
  update.exec();
  update.reset();
}

void PointStore::rebuild(int64_t key) {
  Series series;
  series.key = key;
  std::vector<int64_t> steps;
  SQLite::Statement& rows = database_.query(sql::point_all, key);
  while (rows.executeStep()) {
    steps.push_back(rows.getColumn(0).getInt64());
    series.sums.add(steps.back(), value_of(static_cast<ValueKind>(rows.getColumn(1).getInt()), rows.getColumn(2).getDouble()));
    series.last_time_unix_ns = rows.getColumn(3).getInt64();
  }
  rows.reset();
  database_.run(sql::pyramid_clear, key);
  if (!steps.empty()) {
    series.first_step = steps.front(), series.last_step = steps.back();
    pyramid_.update(key, steps, steps.front(), steps.back());
  }
  write_sums(series);
}

void PointStore::forget() {
  metric_keys_.clear();
  series_.clear();
  points_.clear();
}

void PointStore::forget_run(int64_t run) {
  std::erase_if(series_, [&](const auto& entry) { return entry.first.run == run; });
}

}  // namespace ringwright::history
