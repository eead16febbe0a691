#include "shared/history/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "shared/base/failpoint.h"
#include "shared/base/files.h"
#include "shared/history/ownership.h"
#include "shared/history/point_store.h"
#include "shared/history/run_rows.h"
#include "shared/history/sql.h"

namespace ringwright::history {
namespace {

constexpr int kApplicationId = 0x52574831;  // "RWH1": tells our files from other SQLite databases
constexpr int kCacheKib = 16 * 1024;
constexpr int kCheckpointPages = 4096;  // the WAL is copied into the file when it has this many pages
constexpr int kWalBytesMax = 64 << 20;  // to which a WAL that grew is cut back

bool is_disk_full(int code, int extended, int system_errno) {
  return code == SQLITE_FULL || (code == SQLITE_IOERR && (system_errno == EFBIG || system_errno == ENOSPC || system_errno == EDQUOT)) ||
         extended == SQLITE_IOERR_SHMSIZE;
}

std::string read_small_file(int descriptor) {
  char text[32] = {};
  const ssize_t bytes = ::pread(descriptor, text, sizeof text - 1, 0);
  return bytes > 0 ? std::string(text, std::strcspn(text, "\n")) : "";
}

// Why the last write failed: from the write-ahead log's file, else the connection, which forgets it when a transaction is rolled back.
int last_system_errno(sqlite3* connection) {
  sqlite3_file* log = nullptr;
  int number = 0;
  if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log && log->pMethods)
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
  return number ? number : sqlite3_system_errno(connection);
}

Error no_history(const std::filesystem::path& file, const std::string& what, const std::string& action) {
  return Error({"RW-STORE-001", what, file.string(), "a history file of Ringwright", action, ExitCode::store});
}

// A part is gone; .recover finds nothing that is not there.
ErrorParts damaged(const std::filesystem::path& file, const std::string& what) {
  return {"RW-STORE-006",
          "the history file is damaged: " + what,
          file.string(),
          "a history file as Ringwright made it",
          "take a copy of the file from before, or begin a new one with --store FILE; what is left shows: sqlite3 FILE .dump",
          ExitCode::store};
}

std::string newer_schema(int schema) {
  return "the history file has schema " + std::to_string(schema) + ", newer than this program knows (" + std::to_string(newest_schema()) + ")";
}

Error other_schema(const std::filesystem::path& file, const std::string& what, const std::string& expected, const std::string& action) {
  return Error({"RW-STORE-002", what, file.string(), expected, action, ExitCode::store});
}

// Version 2 keeps sums, pyramids and settings of what was recorded before.
void fill_series_and_settings(Database& database) {
  add_settings_of_all_runs(database);
  PointStore points(database);
  std::vector<int64_t> series;
  SQLite::Statement& rows = database.query(sql::series_keys);
  while (rows.executeStep()) series.push_back(rows.getColumn(0).getInt64());
  rows.reset();
  for (const int64_t key : series) points.rebuild(key);
}

// What SQL alone cannot say of a migration; within its transaction.
struct Completion {
  int version;
  void (*complete)(Database&);
};
constexpr Completion kCompletions[] = {{2, fill_series_and_settings}};

}  // namespace

int newest_schema() { return std::prev(std::end(sql::kMigrations))->version; }

ErrorParts describe_sqlite_error(const SQLite::Exception& error, const std::filesystem::path& file, int system_errno) {
  const int code = error.getErrorCode() & 0xff, extended = error.getExtendedErrorCode();
  const std::string place = file.string();
  if (is_disk_full(code, extended, system_errno))
    return {"RW-STORE-004",
            "the disk is full: the history cannot grow",
            place,
            "free space where the history file is",
            "make room on that disk, or choose another place with --store FILE",
            ExitCode::store};
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    return {"RW-STORE-005",
            "the history is locked by another program",
            place,
            "a lock that is given back within seconds",
            "end the program that holds it (an open sqlite3 shell with BEGIN, a backup)",
            ExitCode::store};
  if (code == SQLITE_NOTADB)
    return {"RW-STORE-001", "this file is no SQLite database", place, "a history file of Ringwright", "name another file with --store FILE",
            ExitCode::store};
  if (code == SQLITE_CORRUPT)
    return {"RW-STORE-006",
            "the history file is damaged: " + std::string(error.what()),
            place,
            "a sound SQLite database",
            "save what is readable with: sqlite3 FILE .recover | sqlite3 NEW; then use --store NEW",
            ExitCode::store};
  // Our own statements are right, so what they name and SQLite does not find is missing from the file.
  const std::string_view message = error.what();
  if (code == SQLITE_ERROR && (message.find("no such table") != message.npos || message.find("no such column") != message.npos))
    return damaged(file, std::string(message));
  if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_PERM || code == SQLITE_AUTH)
    return {"RW-STORE-001",
            "the history file cannot be opened: " + std::string(error.what()),
            place,
            "a file and folder that you may read and write",
            "look at the permissions, or name another file with --store FILE",
            ExitCode::store};
  return {"RW-STORE-007",
          "the history file reports: " + std::string(error.what()) + " (SQLite " + std::to_string(extended) + ")",
          place,
          "",
          "look at the disk; nothing that was acknowledged is lost",
          ExitCode::store};
}

Database::Database(const std::filesystem::path& file, Access access, int lock_wait_ms_max) : file_(file), lock_wait_ms_max_(lock_wait_ms_max) {
  try {
    access == Access::write ? open_for_writing() : open_for_reading();
    check_schema(access);
    was_history_ = true;
  } catch (const SQLite::Exception& error) {
    throw Error(connection_ ? describe(error) : describe_sqlite_error(error, file_, errno));
  }
}

ErrorParts Database::describe(const SQLite::Exception& error) const {
  // It was one when it was opened.
  if (was_history_ && (error.getErrorCode() & 0xff) == SQLITE_NOTADB) return damaged(file_, error.what());
  ErrorParts parts = describe_sqlite_error(error, file_, last_system_errno(connection_->getHandle()));
  if (parts.code == "RW-STORE-006" && schema_ > newest_schema())
    return other_schema(file_, newer_schema(schema_) + ": " + error.what(), "what schema " + std::to_string(newest_schema()) + " has",
                        "update Ringwright to see this part")
        .parts();
  return parts;
}

void Database::open_for_writing() {
  std::error_code failure;
  if (file_.has_parent_path()) std::filesystem::create_directories(file_.parent_path(), failure);
  if (failure) throw no_history(file_, "the folder of the history file cannot be made: " + failure.message(), "name another file with --store FILE");
  if (std::filesystem::is_directory(file_)) throw no_history(file_, "the history file is a folder", "name a file with --store FILE");
  connection_ = std::make_unique<SQLite::Database>(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, lock_wait_ms_max_);
  connection_->exec("PRAGMA auto_vacuum = INCREMENTAL");  // counts for a new file only: room can then be given back while the daemon writes
  connection_->exec("PRAGMA synchronous = FULL");
  connection_->exec("PRAGMA cache_size = -" + std::to_string(kCacheKib));
  connection_->exec("PRAGMA wal_autocheckpoint = " + std::to_string(kCheckpointPages));
  connection_->exec("PRAGMA journal_size_limit = " + std::to_string(kWalBytesMax));
}

void Database::open_for_reading() {
  std::error_code failure;
  if (!std::filesystem::exists(file_, failure))
    throw no_history(file_, "there is no history file", "start a run with: ringwright run RECIPE; or name another file with --store FILE");
  if (const std::string kind = files::kind_if_not_regular(file_); !kind.empty())
    throw no_history(file_, "the history file is " + kind, "name a file with --store FILE");
  connection_ = std::make_unique<SQLite::Database>(file_.string(), SQLite::OPEN_READONLY, lock_wait_ms_max_);
  connection_->exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");  // the file may come from anywhere
  try {
    connection_->execAndGet("PRAGMA schema_version");
  } catch (const SQLite::Exception& error) {
    // A WAL database that, like its folder, may not be written: readable only as a file that nobody changes, which is so when it has no WAL.
    const int code = error.getErrorCode() & 0xff;
    if ((code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || std::filesystem::exists(file_.string() + "-wal", failure)) throw;
    std::string uri = "file:";
    for (const char c : file_.string()) c == '?' || c == '#' || c == '%' ? uri += (c == '?' ? "%3f" : c == '#' ? "%23" : "%25") : uri += c;
    connection_ = std::make_unique<SQLite::Database>(uri + "?immutable=1", SQLite::OPEN_READONLY | SQLite::OPEN_URI, lock_wait_ms_max_);
  }
}

void Database::check_schema(Access access) {
  schema_ = connection_->execAndGet("PRAGMA user_version");
  const int application = connection_->execAndGet("PRAGMA application_id");
  const int tables = connection_->execAndGet("SELECT count(*) FROM sqlite_master");
  const bool fresh = schema_ == 0 && application == 0 && tables == 0;
  if (!fresh && application != kApplicationId)
    throw no_history(file_, "this SQLite database is not a history of Ringwright", "name another file with --store FILE");
  if (access == Access::read) return check_readable();
  if (schema_ > newest_schema())
    throw other_schema(file_, newer_schema(schema_), "schema " + std::to_string(newest_schema()) + " or older to write it",
                       std::string("update Ringwright, or use another file with --store FILE") +
                           (readable_by_this_program() ? "; ringwright runs can still look into this one" : ""));
  if (connection_->execAndGet("PRAGMA journal_mode = WAL").getString() != "wal")
    throw no_history(file_, "the history file's disk does not support a write-ahead log", "name a file on a local disk with --store FILE");
  migrate(schema_);
  check_tables();
}

void Database::check_readable() {
  if (schema_ < newest_schema())
    throw other_schema(file_, "the history file has schema " + std::to_string(schema_) + ", this program reads " + std::to_string(newest_schema()),
                       "a file that a daemon of this version has opened", "run: ringwright daemon start (it migrates the file)");
  if (schema_ == newest_schema()) return;
  if (!readable_by_this_program())
    throw other_schema(file_, newer_schema(schema_), "schema " + std::to_string(newest_schema()) + ", or one that its programs can read",
                       "update Ringwright, or use another file with --store FILE");
}

// A schema to come may not say it in this way any more: then it is not for us.
bool Database::readable_by_this_program() const {
  if (!connection_->tableExists("node")) return false;
  SQLite::Statement columns(*connection_, "SELECT count(*) FROM pragma_table_info('node') WHERE name = 'readable_by'");
  if (!columns.executeStep() || columns.getColumn(0).getInt() == 0) return false;
  SQLite::Statement oldest(*connection_, "SELECT readable_by FROM node");
  return oldest.executeStep() && oldest.getColumn(0).getInt() <= newest_schema();
}

// What the migrations make in an empty database has to be there.
void Database::check_tables() {
  SQLite::Database whole(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (const sql::Migration& migration : sql::kMigrations) whole.exec(migration.text);
  SQLite::Statement tables(whole, "SELECT name FROM sqlite_master WHERE type = 'table'");
  while (tables.executeStep()) {
    const std::string name = tables.getColumn(0).getString();
    if (!connection_->tableExists(name)) throw Error(damaged(file_, "no such table: " + name));
  }
}

void Database::migrate(int from) {
  for (const sql::Migration& migration : sql::kMigrations) {
    if (migration.version <= from) continue;
    transact([&] {
      connection_->exec(migration.text);
      for (const Completion& completion : kCompletions)
        if (completion.version == migration.version) completion.complete(*this);
      connection_->exec("PRAGMA application_id = " + std::to_string(kApplicationId));
      connection_->exec("PRAGMA user_version = " + std::to_string(migration.version));
      failpoint("history.migrate");
    });
    schema_ = migration.version;
  }
}

void Database::transact(const std::function<void()>& change) {
  SQLite::Transaction transaction(*connection_, SQLite::TransactionBehavior::IMMEDIATE);
  change();
  transaction.commit();
}

SQLite::Statement& Database::statement(const char* sql) {
  std::unique_ptr<SQLite::Statement>& prepared = statements_[sql];
  if (!prepared) prepared = std::make_unique<SQLite::Statement>(*connection_, sql);
  prepared->tryReset();
  return *prepared;
}

WriterLock::WriterLock(const std::filesystem::path& file) {
  const std::string lock_file = file.string() + ".lock";
  descriptor_ = ::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor_ < 0)
    throw Error({"RW-STORE-001", "the history's lock file cannot be opened: " + std::string(std::strerror(errno)), lock_file,
                 "a folder that you may write in", "look at the permissions, or name another file with --store FILE", ExitCode::store});
  if (!lock_exclusively(descriptor_)) {
    const std::string owner = read_small_file(descriptor_);
    ::close(descriptor_);
    throw Error({"RW-STORE-003", "another daemon writes this history" + (owner.empty() ? "" : " (process " + owner + ")"), file.string(),
                 "one writer for each history file",
                 "stop it with: ringwright daemon stop" + (owner.empty() ? "" : ", or kill " + owner) + "; or use another file with --store FILE",
                 ExitCode::store});
  }
  const std::string own = std::to_string(::getpid()) + "\n";
  // The number is only for the message above, so a disk that is full does not matter here.
  if (::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, own.data(), own.size(), 0) < 0) errno = 0;
}

WriterLock::~WriterLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace ringwright::history
