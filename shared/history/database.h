// One connection to the history file: opening, schema, prepared statements, and SQLite's errors as ours.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <unordered_map>

#include "shared/base/error.h"
#include "shared/history/limits.h"

namespace ringwright::history {

// The newest schema that this program knows: the number of the last migration.
int newest_schema();

// What went wrong, in our terms. `file` is named in it.
ErrorParts describe_sqlite_error(const SQLite::Exception& error, const std::filesystem::path& file, int system_errno = 0);

class Database {
 public:
  enum class Access { write, read };
  // write: creates the file and its folder, or brings it to the newest schema. read: takes the file as it is, also one of a newer schema that says
  // that programs of ours can read it.
  // Throws Error (exit code 6): RW-STORE-001 missing, not readable or no history; RW-STORE-002 other schema; RW-STORE-004 disk full;
  // RW-STORE-005 locked; RW-STORE-006 damaged; RW-STORE-007 anything else that SQLite reports.
  Database(const std::filesystem::path& file, Access access, int lock_wait_ms_max = Limits{}.lock_wait_ms_max);

  // Prepared once, handed out reset.
  SQLite::Statement& statement(const char* sql);
  // Binds the arguments to ?1, ?2, ... and hands the statement out, to be stepped.
  template <class... Arguments>
  SQLite::Statement& query(const char* sql, const Arguments&... arguments) {
    SQLite::Statement& prepared = statement(sql);
    SQLite::bind(prepared, arguments...);
    return prepared;
  }
  // The same for a statement without rows. Returns the number of rows that it changed.
  template <class... Arguments>
  int run(const char* sql, const Arguments&... arguments) {
    SQLite::Statement& prepared = query(sql, arguments...);
    const int changes = prepared.exec();
    prepared.reset();
    return changes;
  }
  // All of the change, durable, or nothing of it.
  void transact(const std::function<void()>& change);
  // Our error for what this connection has just thrown.
  ErrorParts describe(const SQLite::Exception& error) const;

  SQLite::Database& connection() { return *connection_; }
  const std::filesystem::path& file() const { return file_; }
  // The file's schema; larger than newest_schema() where the file is only read.
  int schema() const { return schema_; }

 private:
  void open_for_writing();
  void open_for_reading();
  void check_schema(Access access);
  void check_readable();
  bool readable_by_this_program() const;  // of a newer schema
  void migrate(int from);
  void check_tables();

  std::filesystem::path file_;
  int lock_wait_ms_max_;
  int schema_ = 0;
  bool was_history_ = false;  // when it was opened
  std::unique_ptr<SQLite::Database> connection_;
  std::unordered_map<const char*, std::unique_ptr<SQLite::Statement>> statements_;
};

// Held by the one process that writes a history file: an advisory lock on FILE.lock, which holds the writer's process id.
class WriterLock {
 public:
  // Throws Error RW-STORE-003 naming the process that has it.
  explicit WriterLock(const std::filesystem::path& file);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace ringwright::history
