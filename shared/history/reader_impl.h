// What the parts of the reader share.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shared/history/database.h"
#include "shared/history/pyramid.h"
#include "shared/history/sql.h"
#include "shared/history/store.h"

namespace ringwright::history {

// The run of a row with the columns of sql::run_list.
RunRecord run_of(SQLite::Statement& row);

struct Reader::Impl {
  explicit Impl(const std::filesystem::path& file) : database(file, Database::Access::read), pyramid(database) {}

  // SQLite's errors become ours.
  template <class Act>
  auto guarded(Act act) -> decltype(act()) {
    try {
      return act();
    } catch (const SQLite::Exception& error) {
      throw Error(database.describe(error));
    } catch (const nlohmann::json::exception& error) {
      throw Error({"RW-STORE-006", "the history file is damaged: " + std::string(error.what()), database.file().string(), "JSON in this column", "",
                   ExitCode::store});
    }
  }
  // Runs the query and hands each row to `take`.
  template <class Take, class... Arguments>
  void rows(Take take, const char* sql, const Arguments&... arguments) {
    guarded([&] {
      SQLite::Statement& statement = database.query(sql, arguments...);
      while (statement.executeStep()) take(statement);
      statement.reset();
    });
  }
  // The first column of the first row.
  template <class... Arguments>
  std::optional<int64_t> number(const char* sql, const Arguments&... arguments) {
    std::optional<int64_t> result;
    rows([&](SQLite::Statement& row) { result = row.getColumn(0).getInt64(); }, sql, arguments...);
    return result;
  }

  // The key of a run by its full id; -1 for none, which no row has.
  int64_t key(const std::string& run) { return number(sql::run_key, run).value_or(-1); }
  int64_t metric_key(const std::string& name) { return number(sql::metric_name_key, name).value_or(-1); }

  // One segment's part of a curve: its steps before `end` are shown.
  struct Part {
    int64_t series = 0, segment = 1;
    int64_t first_step = 0, last_step = 0, points = 0;
    int64_t end = kStepMax + 1;
    double last = 0;
    int64_t last_time_unix_ns = 0;
    bool empty() const { return points == 0 || first_step >= end; }
  };
  // In step order. segment 0: what the run's curve shows of each; otherwise all of that one. rank -1: of rank 0, else of the daemon.
  std::vector<Part> parts(const std::string& run, const std::string& name, int& rank, int64_t segment);
  std::vector<Part> parts_of_rank(int64_t run, int64_t metric, int rank, int64_t segment);

  std::optional<int64_t> find(const std::string& id_or_name);
  std::optional<int64_t> find_by_prefix(const std::string& prefix);
  Error not_found(const std::string& id_or_name);
  void add_recipe(RunRecord& run, int64_t key);
  void add_fingerprint(RunRecord& run, int64_t key);

  Database database;
  Pyramid pyramid;
};

}  // namespace ringwright::history
