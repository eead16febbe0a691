// Files of released schemas (tests/data/history) come to the newest one with nothing lost.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "shared/history/database.h"
#include "shared/history/edits.h"
#include "tests/shared/history/sample_history.h"
#include "tests/support/error_of.h"

namespace ringwright::history {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::filesystem::path> released_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(RINGWRIGHT_SOURCE_DIR "/tests/data/history"))
    if (entry.path().extension() == ".db") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class Migration : public ::testing::TestWithParam<std::filesystem::path> {};

std::string text(const SQLite::Database& database, const std::string& query) {
  return const_cast<SQLite::Database&>(database).execAndGet(query).getString();
}

TEST_P(Migration, LosesNothing) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(GetParam(), folder.store());
  std::filesystem::permissions(folder.store(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  {
    Writer writer(folder.store(), {});
  }
  {
    const Reader reader(folder.store());
    EXPECT_EQ(reader.notice(), "");
    expect_sample_history(reader);
  }
  SQLite::Database database(folder.store());
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), newest_schema());
  EXPECT_EQ(text(database, "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM metric").getInt(), 200 + 5 + 212 + 20);
}

// The migrated file has what a new one has: the same sums, pyramids and settings.
TEST_P(Migration, EqualsAFileOfTheNewestSchema) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(GetParam(), folder.store());
  std::filesystem::permissions(folder.store(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  {
    Writer writer(folder.store(), {});
  }
  write_sample_history(folder.path() / "new.db");
  const SQLite::Database old_file(folder.store()), new_file(folder.path() / "new.db");
  for (const char* query :
       {"SELECT group_concat(hex(buckets)) FROM (SELECT buckets FROM pyramid JOIN series ON series.key = series ORDER BY run, metric, rank, level, "
        "block)",
        "SELECT group_concat(finite || ',' || nans || ',' || positive_infinities || ',' || minimum || ',' || maximum || ',' || total || ',' || "
        "first_step"
        " || ',' || last_step || ',' || last_kind || ',' || last_value || ',' || last_time_unix_ns, ' ') FROM (SELECT * FROM series ORDER BY run, "
        "metric, rank, segment)",
        "SELECT group_concat(run || ',' || segment || ',' || coalesce(first_step, '-'), ' ') FROM segment",
        "SELECT group_concat(name || '=' || value, ' ') FROM (SELECT setting_name.name AS name, value FROM setting JOIN setting_name ON "
        "setting_name.key = setting.name WHERE run = 1 ORDER BY 1)"}) {
    EXPECT_FALSE(text(new_file, query).empty()) << query;
    EXPECT_EQ(text(old_file, query), text(new_file, query)) << query;
  }
}

INSTANTIATE_TEST_SUITE_P(Released, Migration, ::testing::ValuesIn(released_files()), [](const auto& info) { return info.param.stem().string(); });

TEST(Migrations, AFileIsKeptOfEachReleasedSchema) {
  const std::vector<std::filesystem::path> files = released_files();
  ASSERT_EQ(files.size(), static_cast<size_t>(newest_schema() - 1));
  const TemporaryFolder folder;  // SQLite puts files beside what it opens
  for (size_t i = 0; i < files.size(); ++i) {
    const std::filesystem::path copy = folder.path() / files[i].filename();
    std::filesystem::copy_file(files[i], copy);
    EXPECT_EQ(SQLite::Database(copy.string(), SQLite::OPEN_READONLY).execAndGet("PRAGMA user_version").getInt(), static_cast<int>(i + 1));
  }
  for (const auto& entry : std::filesystem::directory_iterator(files.front().parent_path()))
    EXPECT_TRUE(entry.path().extension() == ".db" || entry.path().filename() == "README.md") << entry.path() << ": each file is whole by itself";
}

TEST(Migrations, AnOlderFileIsNotReadBeforeItIsMigrated) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(released_files().front(), folder.store());
  try {
    const Reader reader(folder.store());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-STORE-002");
    EXPECT_THAT(error.parts().action, HasSubstr("daemon start"));
  }
}

// A program of today before a file of tomorrow that says it can be read.
TEST(Migrations, ANewerFileIsReadAndNotWritten) {
  const TemporaryFolder folder;
  write_sample_history(folder.store());
  SQLite::Database(folder.store(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 4711; ALTER TABLE run ADD COLUMN mood TEXT");
  const Reader reader(folder.store());
  EXPECT_THAT(reader.notice(), HasSubstr("schema 4711, newer"));
  expect_sample_history(reader);
  for (const auto& open :
       {std::function<void()>([&] { Writer writer(folder.store(), {}); }), std::function<void()>([&] { Editor editor(folder.store()); })}) {
    try {
      open();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.parts().code, "RW-STORE-002");
      EXPECT_THAT(error.parts().action, HasSubstr("still look into"));
    }
  }
}

// Neither to read nor to write, and no advice that would not work.
TEST(Migrations, ANewerFileThatNeedsANewerReaderIsRefused) {
  for (const char* change : {"UPDATE node SET readable_by = 4000", "ALTER TABLE node RENAME COLUMN readable_by TO something", "DROP TABLE node"}) {
    const TemporaryFolder folder;
    write_sample_history(folder.store());
    SQLite::Database(folder.store(), SQLite::OPEN_READWRITE).exec(std::string("PRAGMA user_version = 4711; ") + change);
    for (const auto& open :
         {std::function<void()>([&] { Reader reader(folder.store()); }), std::function<void()>([&] { Writer writer(folder.store(), {}); })}) {
      const ErrorParts parts = test::error_of(open);
      EXPECT_EQ(parts.code, "RW-STORE-002") << change;
      EXPECT_THAT(parts.what, HasSubstr("schema 4711, newer"));
      EXPECT_THAT(parts.action, HasSubstr("update Ringwright"));
      EXPECT_THAT(parts.action, Not(HasSubstr("look into")));
    }
  }
}

}  // namespace
}  // namespace ringwright::history
