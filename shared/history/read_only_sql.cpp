#include "shared/history/read_only_sql.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "shared/history/database.h"
#include "shared/history/metric_value.h"

namespace ringwright::history {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kProgressSteps = 1000;  // of SQLite's machine, between two looks at the clock
constexpr int kStatementBytesMax = 100'000;
constexpr const char* kRefusedFunctions[] = {"load_extension", "fts3_tokenizer", "sqlite_compileoption_get"};
constexpr const char* kTableFunctions[] = {"table_info", "table_xinfo", "table_list",    "index_list",
                                           "index_info", "index_xinfo", "function_list", "collation_list"};

bool is_one_of(const char* name, const auto& names) {
  return name && std::any_of(std::begin(names), std::end(names), [&](const char* one) { return std::strcmp(name, one) == 0; });
}

// Reading of tables, and pragmas only as table-valued functions that describe them.
bool may(int action, const char* first, const char* second) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return true;
    case SQLITE_FUNCTION:
      return !is_one_of(second, kRefusedFunctions);
    case SQLITE_PRAGMA:
      return is_one_of(first, kTableFunctions);
    case SQLITE_UPDATE:  // asked for when a table-valued function is met; a statement that really writes there is no read-only one
      return first && std::strcmp(first, "sqlite_master") == 0;
    default:
      return false;
  }
}

// `denied`: a bool. SQLite gives the error of some refusals no code of its own.
int authorize(void* denied, int action, const char* first, const char* second, const char*, const char*) {
  if (may(action, first, second)) return SQLITE_OK;
  *static_cast<bool*>(denied) = true;
  return SQLITE_DENY;
}

std::string blob_text(const void* bytes, int count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "x'";
  for (int i = 0; i < count; ++i) {
    const unsigned char byte = static_cast<const unsigned char*>(bytes)[i];
    text += kDigits[byte >> 4], text += kDigits[byte & 0xf];
  }
  return text + "'";
}

nlohmann::json value_of_column(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT:
      return metric_value_to_json(sqlite3_column_double(statement, column));
    case SQLITE_TEXT:
      return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
                         static_cast<size_t>(sqlite3_column_bytes(statement, column)));
    case SQLITE_BLOB:
      return blob_text(sqlite3_column_blob(statement, column), sqlite3_column_bytes(statement, column));
    default:
      return nullptr;
  }
}

class Session {
 public:
  Session(const std::filesystem::path& file, const std::string& text, const SqlLimits& limits)
      : database_(file, Database::Access::read), handle_(database_.connection().getHandle()), text_(text), limits_(limits) {
    database_.connection().exec("PRAGMA query_only = 1");
    database_.connection().exec("PRAGMA temp_store = MEMORY");
    sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, limits.value_bytes_max);
    sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(handle_, SQLITE_LIMIT_SQL_LENGTH, kStatementBytesMax);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_set_authorizer(handle_, &authorize, &denied_);
    end_ = Clock::now() + limits.time_max;
    sqlite3_progress_handler(
        handle_, kProgressSteps, [](void* self) { return static_cast<int>(Clock::now() > static_cast<Session*>(self)->end_); }, this);
  }
  ~Session() { sqlite3_finalize(statement_); }

  void run(const SqlTake& take) {
    prepare();
    std::vector<std::string> columns;
    for (int i = 0; i < sqlite3_column_count(statement_); ++i) columns.emplace_back(sqlite3_column_name(statement_, i));
    if (take.columns) take.columns(columns);
    std::vector<nlohmann::json> row(columns.size());
    size_t rows = 0;
    for (int result; (result = sqlite3_step(statement_)) != SQLITE_DONE;) {
      if (result != SQLITE_ROW) throw failure(result);
      if (++rows > limits_.rows_max)
        throw error("RW-SQL-005", "the statement gives more than " + std::to_string(limits_.rows_max) + " rows", "fewer rows",
                    "add WHERE, GROUP BY or LIMIT");
      for (size_t i = 0; i < row.size(); ++i) row[i] = value_of_column(statement_, static_cast<int>(i));
      if (take.row) take.row(row);
      if (Clock::now() > end_) throw failure(SQLITE_INTERRUPT);
    }
  }

 private:
  void prepare() {
    const char* rest = nullptr;
    if (const int result = sqlite3_prepare_v2(handle_, text_.c_str(), static_cast<int>(text_.size()), &statement_, &rest); result != SQLITE_OK)
      throw failure(result);
    if (!statement_) throw error("RW-SQL-002", "there is no statement", "one SELECT", "");
    sqlite3_stmt* second = nullptr;
    const int result = sqlite3_prepare_v2(handle_, rest, -1, &second, nullptr);
    sqlite3_finalize(second);
    if (second || result != SQLITE_OK) throw error("RW-SQL-002", "there is more than one statement", "one SELECT", "run them one after the other");
    if (!sqlite3_stmt_readonly(statement_)) throw failure(SQLITE_AUTH);
  }

  static Error error(const char* code, const std::string& what, const std::string& expected, const std::string& action,
                     const std::string& where = "the statement") {
    return Error({code, what, where, expected, action, ExitCode::usage});
  }

  Error failure(int result) const {
    const std::string message = sqlite3_errmsg(handle_);
    const int offset = sqlite3_error_offset(handle_);
    const std::string where = offset >= 0 ? "column " + std::to_string(offset + 1) + " of the statement" : "the statement";
    if (denied_ || (result & 0xff) == SQLITE_AUTH || (result & 0xff) == SQLITE_READONLY || (result & 0xff) == SQLITE_PERM)
      return error("RW-SQL-003", "the statement would do more than read: " + message, "a SELECT",
                   "change runs with: ringwright runs tag, note, archive, delete", where);
    if ((result & 0xff) == SQLITE_INTERRUPT)
      return error("RW-SQL-004", "the statement takes longer than " + std::to_string(limits_.time_max.count()) + " ms", "an answer within that time",
                   "ask for one run (run = ...), or for fewer rows");
    if ((result & 0xff) == SQLITE_TOOBIG)
      return error("RW-SQL-006", "a value, or the statement, is too large", "at most " + std::to_string(limits_.value_bytes_max) + " bytes",
                   "ask for less");
    if ((result & 0xff) == SQLITE_ERROR)
      return error("RW-SQL-001", "SQLite: " + message, "the tables in sql/migrations", "list them with: SELECT name FROM sqlite_master", where);
    return Error(describe_sqlite_error(SQLite::Exception(handle_, result), database_.file()));
  }

  Database database_;
  sqlite3* handle_;
  const std::string& text_;
  const SqlLimits& limits_;
  Clock::time_point end_;
  sqlite3_stmt* statement_ = nullptr;
  bool denied_ = false;
};

}  // namespace

void read_only_sql(const std::filesystem::path& file, const std::string& statement, const SqlTake& take, const SqlLimits& limits) {
  Session(file, statement, limits).run(take);
}

}  // namespace ringwright::history
