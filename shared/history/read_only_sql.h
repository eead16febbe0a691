// A statement that a person wrote, let loose on the history: it can read, and nothing else, for so long and so much.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ringwright::history {

struct SqlLimits {
  std::chrono::milliseconds time_max{2000};
  size_t rows_max = 100'000;
  int value_bytes_max = 16 << 20;  // of one text, blob or row
};

struct SqlTake {
  std::function<void(const std::vector<std::string>& columns)> columns;
  std::function<void(const std::vector<nlohmann::json>& row)> row;  // null, numbers, texts; a blob as "x'0a1b'"
};

// Runs one statement (SELECT, WITH, VALUES, EXPLAIN) and hands out its columns, then its rows. Throws Error (exit code 2) RW-SQL-001 what SQLite says
// of the statement, with the column where it knows it; RW-SQL-002 more than one statement, or none; RW-SQL-003 a statement that would do more than
// read; RW-SQL-004 over the time; RW-SQL-005 over the rows, after rows_max of them were handed out; RW-SQL-006 a value that is too large; and the
// errors of Database.
void read_only_sql(const std::filesystem::path& file, const std::string& statement, const SqlTake& take, const SqlLimits& limits = {});

}  // namespace ringwright::history
