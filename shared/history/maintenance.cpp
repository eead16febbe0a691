#include "shared/history/maintenance.h"

#include <sqlite3.h>

#include <algorithm>
#include <optional>

#include "shared/history/metric_value.h"
#include "shared/history/point_store.h"
#include "shared/history/sql.h"

namespace ringwright::history {
namespace {

constexpr int kProblemsMax = 20;
constexpr int kPagesAtATime = 256;  // about a megabyte: a daemon waits for milliseconds
constexpr double kDayNs = 86'400e9;

uint64_t bytes_of(const std::filesystem::path& file) {
  std::error_code failure;
  uint64_t bytes = 0;
  for (const char* part : {"", "-wal"})
    if (const auto size = std::filesystem::file_size(file.string() + part, failure); !failure) bytes += size;
  return bytes;
}

// Pages are given back from the file's end; of a file from before they could be, only free ones are reused.
void give_back_pages(SQLite::Database& connection) {
  for (int before = connection.execAndGet("PRAGMA freelist_count"); before > 0;) {
    SQLite::Statement step(connection, "PRAGMA incremental_vacuum(" + std::to_string(kPagesAtATime) + ")");
    while (step.executeStep()) continue;
    const int now = connection.execAndGet("PRAGMA freelist_count");
    if (now >= before) break;
    before = now;
  }
}

// Brings what is in the write-ahead log into the file, as far as readers allow.
void checkpoint(SQLite::Database& connection, int mode) { sqlite3_wal_checkpoint_v2(connection.getHandle(), nullptr, mode, nullptr, nullptr); }

struct TableOfRuns {
  const char* name;
  const char* orphans;
};
constexpr TableOfRuns kTablesOfRuns[] = {
    {"log", sql::orphans_log},         {"event", sql::orphans_event},           {"span", sql::orphans_span},
    {"sample", sql::orphans_sample},   {"checkpoint", sql::orphans_checkpoint}, {"received", sql::orphans_received},
    {"recipe", sql::orphans_recipe},   {"rank_status", sql::orphans_rank},      {"setting", sql::orphans_setting},
    {"segment", sql::orphans_segment}, {"series", sql::orphans_series},         {"tag", sql::orphans_tag},
    {"note", sql::orphans_note},       {"alert", sql::orphans_alert},           {"fingerprint", sql::orphans_fingerprint}};

class Checker {
 public:
  explicit Checker(const std::filesystem::path& file) : database_(file, Database::Access::read), pyramid_(database_) {}

  CheckReport run(bool quick, const std::function<void(int64_t, int64_t)>& progress) {
    try {
      check_pages();
      {
        const SQLite::Transaction one_moment(database_.connection());  // a daemon may be writing
        check_orphans();
        report_.runs = number(sql::check_run_count);
        report_.series = number(sql::check_series_count);
      }
      if (!quick) check_series(progress);
    } catch (const SQLite::Exception& error) {
      throw Error(database_.describe(error));
    }
    return std::move(report_);
  }

 private:
  void problem(std::string text) {
    if (report_.problems.size() < kProblemsMax) report_.problems.push_back(std::move(text));
  }
  template <class... Arguments>
  int64_t number(const char* query, const Arguments&... arguments) {
    SQLite::Statement& row = database_.query(query, arguments...);
    const int64_t value = row.executeStep() ? row.getColumn(0).getInt64() : 0;
    row.reset();
    return value;
  }

  void check_pages() {
    SQLite::Statement rows(database_.connection(), "PRAGMA integrity_check(" + std::to_string(kProblemsMax) + ")");
    while (rows.executeStep())
      if (const std::string text = rows.getColumn(0).getString(); text != "ok") problem("SQLite: " + text);
  }

  void check_orphans() {
    for (const TableOfRuns& table : kTablesOfRuns)
      if (const int64_t count = number(table.orphans)) problem("table " + std::string(table.name) + ": " + std::to_string(count) + " rows of no run");
    if (const int64_t count = number(sql::orphans_point)) problem("table point: points of " + std::to_string(count) + " unknown series");
    if (const int64_t count = number(sql::orphans_pyramid)) problem("table pyramid: blocks of " + std::to_string(count) + " unknown series");
    if (const int64_t count = number(sql::check_node_row); count != 1) problem("table node: the journal's numbers do not fit");
  }

  void check_series(const std::function<void(int64_t, int64_t)>& progress) {
    std::vector<int64_t> keys;
    SQLite::Statement& rows = database_.query(sql::series_keys);
    while (rows.executeStep()) keys.push_back(rows.getColumn(0).getInt64());
    rows.reset();
    int64_t done = 0;
    for (const int64_t key : keys) {
      check_one_series(key);
      if (progress) progress(++done, static_cast<int64_t>(keys.size()));
    }
  }

  void check_one_series(int64_t key) {
    const SQLite::Transaction one_moment(database_.connection());
    Bucket sums;
    int64_t first_step = 0, last_step = 0;
    pyramid_.read(key, 0, -kStepMax, kStepMax + 1, kStepMax, [&](const Bucket& point) {
      if (sums.points() == 0) first_step = point.first_step;
      last_step = point.first_step;
      sums.add(point);
    });
    report_.points += sums.points();
    SQLite::Statement& row = database_.query(sql::series_by_key, key);
    row.executeStep();
    const bool fits = row.getColumn(0).getInt64() == sums.finite && row.getColumn(1).getInt64() == sums.nans &&
                      row.getColumn(2).getInt64() == sums.positive_infinities && row.getColumn(3).getInt64() == sums.negative_infinities &&
                      (sums.finite == 0 || (row.getColumn(4).getDouble() == sums.minimum && row.getColumn(5).getDouble() == sums.maximum)) &&
                      (sums.points() == 0 || (row.getColumn(6).getInt64() == first_step && row.getColumn(7).getInt64() == last_step));
    row.reset();
    if (!fits) problem("series " + std::to_string(key) + ": its sums are not those of its points");
    check_blocks(key, last_step);
  }

  void check_blocks(int64_t key, int64_t last_step) {
    std::vector<std::pair<int, int64_t>> places;
    std::vector<std::string> stored;
    SQLite::Statement& rows = database_.query(sql::pyramid_all, key);
    while (rows.executeStep()) {
      places.emplace_back(rows.getColumn(0).getInt(), rows.getColumn(1).getInt64());
      stored.push_back(rows.getColumn(2).getString());
    }
    rows.reset();
    report_.blocks += static_cast<int64_t>(places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      const auto [level, block] = places[i];
      if (level < 1 || level > kPyramidLevelMax || pyramid_.make_block(key, level, block, last_step) != stored[i])
        problem("series " + std::to_string(key) + ": block " + std::to_string(block) + " of level " + std::to_string(level) +
                " does not sum up what it is of");
    }
  }

  Database database_;
  Pyramid pyramid_;
  CheckReport report_;
};

}  // namespace

std::vector<RunRecord> runs_to_remove(const Reader& reader, const Retention& retention, int64_t now_unix_ns) {
  std::vector<RunRecord> removed;
  if (retention.empty()) return removed;
  size_t place = 0;
  for (RunRecord& run : reader.runs(SIZE_MAX, Reader::Parts::head)) {
    const bool beyond = !retention.keep_newest || place++ >= *retention.keep_newest;
    const int64_t end = run.ended_unix_ns ? run.ended_unix_ns : run.created_unix_ns;
    const bool old = !retention.older_than_days || static_cast<double>(now_unix_ns - end) > *retention.older_than_days * kDayNs;
    const bool kept = std::find(run.tags.begin(), run.tags.end(), kKeepTag) != run.tags.end();
    if (is_final(run.state) && beyond && old && !kept && (run.archived || !retention.archived)) removed.push_back(std::move(run));
  }
  return removed;
}

VacuumReport vacuum(const std::filesystem::path& file) {
  VacuumReport report;
  const Database as_it_is(file, Database::Access::read);  // refuses what is no history of ours, before a file is made of it
  std::optional<WriterLock> lock;
  try {
    lock.emplace(file);
  } catch (const Error& error) {
    if (error.parts().code != "RW-STORE-003") throw;
    report.beside_daemon = true;
  }
  Database database(file, Database::Access::write);
  try {
    checkpoint(database.connection(), SQLITE_CHECKPOINT_PASSIVE);
    report.bytes_before = bytes_of(file);
    if (report.beside_daemon) {
      give_back_pages(database.connection());
    } else {
      database.connection().exec("PRAGMA auto_vacuum = INCREMENTAL");
      database.connection().exec("VACUUM");
      checkpoint(database.connection(), SQLITE_CHECKPOINT_TRUNCATE);
    }
    if (report.beside_daemon) checkpoint(database.connection(), SQLITE_CHECKPOINT_PASSIVE);
  } catch (const SQLite::Exception& error) {
    throw Error(database.describe(error));
  }
  report.bytes_after = bytes_of(file);
  return report;
}

CheckReport check(const std::filesystem::path& file, bool quick, const std::function<void(int64_t, int64_t)>& progress) {
  return Checker(file).run(quick, progress);
}

}  // namespace ringwright::history
