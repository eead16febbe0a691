#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "shared/history/read_only_sql.h"
#include "shared/history/settings_difference.h"
#include "shared/history/store.h"
#include "tests/shared/history/temporary_store.h"
#include "tests/support/error_of.h"

namespace ringwright::history {
namespace {

using ::testing::HasSubstr;
using testing::make_run;
using testing::metric;

class ReadOnlySql : public ::testing::Test {
 protected:
  void SetUp() override {
    Writer writer(folder_.store(), {});
    writer.create_run(make_run("r_00000001"));
    for (int64_t step = 1; step <= 1000; ++step)
      writer.append(metric("r_00000001", 0, static_cast<uint64_t>(step), step, "train/loss", 1.0 / static_cast<double>(step)));
  }
  std::vector<std::vector<nlohmann::json>> ask(const std::string& statement, const SqlLimits& limits = {}) {
    std::vector<std::vector<nlohmann::json>> rows;
    columns_.clear();
    read_only_sql(folder_.store(), statement, {[&](const auto& columns) { columns_ = columns; }, [&](const auto& row) { rows.push_back(row); }},
                  limits);
    return rows;
  }
  std::string code(const std::string& statement, const SqlLimits& limits = {}) {
    return test::error_code([&] { ask(statement, limits); });
  }

  testing::TemporaryFolder folder_;
  std::vector<std::string> columns_;
};

TEST_F(ReadOnlySql, AnswersQuestions) {
  EXPECT_EQ(ask("SELECT id, world_size, 2.5 AS x, NULL, x'0a1B' FROM run"),
            (std::vector<std::vector<nlohmann::json>>{{"r_00000001", 2, 2.5, nullptr, "x'0a1b'"}}));
  EXPECT_EQ(columns_, (std::vector<std::string>{"id", "world_size", "x", "NULL", "x'0a1B'"}));
  EXPECT_EQ(ask("SELECT count(*) FROM metric WHERE name = 'train/loss' AND run = 'r_00000001'").at(0).at(0), 1000);
  EXPECT_EQ(ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n;").at(0).at(0), 15);
  EXPECT_EQ(ask("VALUES (9e999)").at(0).at(0), "Infinity");
  EXPECT_FALSE(ask("SELECT name FROM pragma_table_info('run')").empty());
  EXPECT_FALSE(ask("EXPLAIN QUERY PLAN SELECT * FROM run").empty());
  EXPECT_FALSE(ask("SELECT sql FROM sqlite_master").empty());
}

TEST_F(ReadOnlySql, RefusesWhateverWouldChangeOrReachOut) {
  for (const char* statement : {"DELETE FROM run",
                                "UPDATE run SET name = 'x'",
                                "INSERT INTO tag VALUES (1, 'x')",
                                "DROP TABLE run",
                                "CREATE TABLE x (y)",
                                "CREATE TEMP TABLE x (y)",
                                "VACUUM",
                                "VACUUM INTO '/tmp/x'",
                                "ATTACH '/tmp/x' AS y",
                                "DETACH main",
                                "PRAGMA query_only = 0",
                                "PRAGMA user_version",
                                "PRAGMA writable_schema = 1",
                                "BEGIN",
                                "COMMIT",
                                "SAVEPOINT x",
                                "REINDEX",
                                "ANALYZE",
                                "ALTER TABLE run ADD COLUMN x",
                                "EXPLAIN DELETE FROM run",
                                "SELECT load_extension('/tmp/x')",
                                "SELECT * FROM pragma_user_version",
                                "WITH x AS (SELECT 1) DELETE FROM run",
                                "REPLACE INTO tag VALUES (1, 'x')",
                                "CREATE VIEW x AS SELECT 1",
                                "CREATE TRIGGER x AFTER INSERT ON run BEGIN SELECT 1; END"}) {
    const ErrorParts parts = test::error_of([&] { ask(statement); });
    EXPECT_EQ(parts.code, "RW-SQL-003") << statement << ": " << parts.what;
    EXPECT_EQ(parts.exit_code, ExitCode::usage);
  }
  EXPECT_NE(code("UPDATE sqlite_master SET sql = ''"), "none");
  EXPECT_EQ(Reader(folder_.store()).run("r_00000001").name, "demo");
}

TEST_F(ReadOnlySql, OneStatementAndNoHalfOfAnother) {
  EXPECT_EQ(code("SELECT 1; SELECT 2"), "RW-SQL-002");
  EXPECT_EQ(code("SELECT 1; DELETE FROM run"), "RW-SQL-002");
  EXPECT_EQ(code(""), "RW-SQL-002");
  EXPECT_EQ(code("-- a remark"), "RW-SQL-002");
  EXPECT_EQ(code("SELECT 1; -- a remark"), "none");
}

TEST_F(ReadOnlySql, WhatIsWrongHasItsColumn) {
  const ErrorParts parts = test::error_of([&] { ask("SELECT nam FROM run"); });
  EXPECT_EQ(parts.code, "RW-SQL-001");
  EXPECT_EQ(parts.where, "column 8 of the statement");
  EXPECT_THAT(parts.what, HasSubstr("no such column: nam"));
  EXPECT_EQ(code("SELEC 1"), "RW-SQL-001");
}

TEST_F(ReadOnlySql, TimeRowsAndSizesAreBounded) {
  SqlLimits limits;
  limits.time_max = std::chrono::milliseconds(50);
  EXPECT_EQ(code("SELECT count(*) FROM metric a, metric b, metric c", limits), "RW-SQL-004");
  EXPECT_EQ(code("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n", limits), "RW-SQL-004");
  limits = {};
  limits.rows_max = 999;
  EXPECT_EQ(code("SELECT value FROM metric", limits), "RW-SQL-005");
  limits.rows_max = 1000;
  EXPECT_EQ(ask("SELECT value FROM metric", limits).size(), 1000u);
  EXPECT_EQ(code("SELECT zeroblob(1000000000)"), "RW-SQL-006");
}

TEST_F(ReadOnlySql, AFileThatIsNoHistoryIsRefused) {
  folder_.write("text.db", std::string(5000, 'x'));
  EXPECT_EQ(test::error_code([&] { read_only_sql(folder_ / "text.db", "SELECT 1", {}); }), "RW-STORE-001");
  EXPECT_EQ(test::error_code([&] { read_only_sql(folder_ / "none.db", "SELECT 1", {}); }), "RW-STORE-001");
}

TEST(SettingsDifference, NamesEachLeafThatDiffers) {
  RunRecord a = make_run("r_00000001"), b = make_run("r_00000002");
  EXPECT_TRUE(settings_difference(a, b).empty());
  a.recipe = {{"policy", {{"lr", 1e-5}, {"list", {1, 2}}, {"same", true}, {"only_a", nullptr}}}};
  b.recipe = {{"policy", {{"lr", 2e-5}, {"list", {1, 3}}, {"same", true}, {"map", {{"x", 1}}}}}};
  b.mesh["cp"] = 4;
  std::vector<std::string> keys;
  for (const SettingDifference& each : settings_difference(a, b)) keys.push_back(each.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"mesh.cp", "recipe.policy.list", "recipe.policy.lr", "recipe.policy.map.x", "recipe.policy.only_a"}));
  const auto of_recipe = settings_difference(a, b, false);
  EXPECT_EQ(of_recipe.size(), 4u);
  EXPECT_EQ(of_recipe.back().a, nlohmann::json());
  EXPECT_FALSE(of_recipe.back().b);
}

}  // namespace
}  // namespace ringwright::history
