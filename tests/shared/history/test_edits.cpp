#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/history/edits.h"
#include "shared/history/maintenance.h"
#include "tests/shared/history/sample_history.h"
#include "tests/support/error_of.h"

namespace ringwright::history {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kDay = 86'400'000'000'000;

TEST(Edits, LabelsARunBesideItsDaemon) {
  const TemporaryFolder folder;
  Writer writer(folder.store(), {});
  writer.create_run(make_run("r_00000001"));
  Editor editor(folder.store());
  EXPECT_TRUE(editor.add_tag("r_00000001", "good"));
  EXPECT_TRUE(editor.add_tag("r_00000001", "a tag, with signs; \"all\" of them"));
  EXPECT_FALSE(editor.add_tag("r_00000001", "good"));
  EXPECT_FALSE(editor.remove_tag("r_00000001", "never there"));
  const int64_t first = editor.add_note("r_00000001", "me", "the first");
  editor.add_note("r_00000001", "you", "the second");
  editor.remove_note("r_00000001", first);
  EXPECT_TRUE(editor.set_archived("r_00000001", true));
  EXPECT_FALSE(editor.set_archived("r_00000001", true));
  writer.append(metric("r_00000001", 0, 1, 1, "train/loss", 1.0));
  writer.flush();
  const Reader reader(folder.store());
  const RunRecord run = reader.run("r_00000001");
  EXPECT_THAT(run.tags, ElementsAre("a tag, with signs; \"all\" of them", "good"));
  EXPECT_TRUE(run.archived);
  ASSERT_EQ(reader.notes(run.id).size(), 1u);
  EXPECT_EQ(reader.notes(run.id)[0].author, "you");
  EXPECT_EQ(reader.notes(run.id)[0].text, "the second");
  EXPECT_GT(reader.notes(run.id)[0].time_unix_ns, 0);
  EXPECT_EQ(test::error_of([&] { editor.add_tag("r_00000009", "x"); }).code, "RW-STORE-009");
}

TEST(Edits, RefusesAMissingFileUnlessItMayBeMade) {
  const TemporaryFolder folder;
  EXPECT_EQ(test::error_of([&] { Editor editor(folder.store()); }).code, "RW-STORE-001");
  EXPECT_FALSE(std::filesystem::exists(folder.store()));
  Editor editor(folder.path() / "sub" / "history.db", Editor::Missing::create);
  EXPECT_TRUE(Reader(folder.path() / "sub" / "history.db").runs().empty());
}

TEST(Edits, AnOlderFileWaitsForItsDaemon) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(RINGWRIGHT_SOURCE_DIR "/tests/data/history/schema_001.db", folder.store());
  {
    const WriterLock old_daemon(folder.store());
    EXPECT_EQ(test::error_of([&] { Editor editor(folder.store()); }).code, "RW-STORE-002");
  }
  Editor(folder.store()).add_tag(kFinishedRun, "migrated");
  EXPECT_THAT(Reader(folder.store()).run(kFinishedRun).tags, ElementsAre("migrated"));
}

TEST(Edits, DeletesEveryRowOfARunAndNoOther) {
  const TemporaryFolder folder;
  write_sample_history(folder.store());
  Editor editor(folder.store());
  editor.add_tag(kFinishedRun, "t");
  editor.add_note(kFinishedRun, "me", "n");
  const ErrorParts error = test::error_of([&] { editor.delete_run(kOpenRun); });
  EXPECT_EQ(error.code, "RW-STORE-012");
  EXPECT_THAT(error.what, HasSubstr("running"));
  editor.delete_run(kFinishedRun);
  const Reader reader(folder.store());
  EXPECT_EQ(test::error_of([&] { reader.run(kFinishedRun); }).code, "RW-STORE-011");
  EXPECT_EQ(reader.metric(kResumedRun, "train/loss").size(), 220u);
  const CheckReport report = check(folder.store(), false);
  EXPECT_TRUE(report.problems.empty()) << report.problems.front();
  EXPECT_EQ(report.runs, 2);
  editor.delete_run(kResumedRun);
  SQLite::Database database(folder.store());
  for (const char* table : {"series", "point", "pyramid", "log", "span", "sample", "checkpoint", "received", "tag", "note", "fingerprint"})
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM " + std::string(table)).getInt(), 0) << table;
}

TEST(Edits, ImportsAllOfARunOrNothing) {
  const TemporaryFolder folder;
  Editor editor(folder.store(), Editor::Missing::create);
  RunRecord run = make_run("r_00000001", "from elsewhere");
  run.state = RunState::finished;
  run.imported_from = "/there/run.rwrun";
  run.tags = {"old"};
  run.duration_ns = 5;
  run.fingerprint = {{"node", "there"}, {"workers", {{"rank 0", {{"libtorch", "2.11.0"}}}}}};
  EXPECT_THROW(editor.import_run(run,
                                 [](RunImport& import) {
                                   import.add_log({0, 1, 0, "info", "half of it"});
                                   throw std::runtime_error("the file ends here");
                                 }),
               std::runtime_error);
  EXPECT_TRUE(Reader(folder.store()).runs().empty());
  editor.import_run(run, [](RunImport& import) {
    import.add_segment({1, 1, 7});
    import.add_points("train/loss", 0, 1, {{1, 2.0, 10, 100, 0}, {2, 1.0, 20, 200, 0}});
    import.add_log({0, 1, 0, "info", "all of it"});
    import.add_alert({"nan", "train/loss", "a NaN", {{"step", 2}}, 3, 1, 9});
    import.add_checkpoint({2, "/there/step_2", 99, 5});
    import.set_counters({1, 4, 0, 0, 0, 0, 2});
  });
  const Reader reader(folder.store());
  const RunRecord back = reader.run(run.id);
  EXPECT_EQ(back.imported_from, run.imported_from);
  EXPECT_EQ(back.tags, run.tags);
  EXPECT_EQ(back.duration_ns, 5);
  EXPECT_EQ(back.fingerprint, run.fingerprint);
  EXPECT_EQ(reader.metric(run.id, "train/loss").at(1).tokens, 20);
  EXPECT_EQ(reader.logs(run.id, 0, 9, false).at(0).text, "all of it");
  EXPECT_EQ(reader.alerts(run.id).at(0).count, 3);
  EXPECT_EQ(reader.counters(run.id).metrics_replaced, 4);
  EXPECT_EQ(test::error_of([&] { editor.import_run(run, [](RunImport&) {}); }).code, "RW-STORE-009");
  EXPECT_EQ(test::error_of([&] {
              RunRecord other = make_run("r_00000002");
              editor.import_run(other, [](RunImport& import) { import.add_points("a", 0, 1, {{INT64_MAX, 1.0, -1, 0, 0}}); });
            }).code,
            "RW-STORE-013");
}

TEST(Alerts, TheSameTroubleIsOneRow) {
  const TemporaryFolder folder;
  Writer writer(folder.store(), {});
  writer.create_run(make_run("r_00000001"));
  for (uint64_t i = 1; i <= 3; ++i)
    writer.append(make_event("r_00000001", wire::Kind::event, 0, i,
                             {{"name", "alert"}, {"kind", "nan"}, {"topic", "train/loss"}, {"text", "NaN"}, {"step", i}}));
  writer.append(make_event("r_00000001", wire::Kind::event, -1, 0, {{"name", "alert"}, {"kind", "stall"}, {"text", "no step for 60 s"}}));
  writer.flush();
  const std::vector<AlertRecord> alerts = Reader(folder.store()).alerts("r_00000001");
  ASSERT_EQ(alerts.size(), 2u);
  const AlertRecord& nan = alerts[0].kind == "nan" ? alerts[0] : alerts[1];
  EXPECT_EQ(nan.count, 3);
  EXPECT_EQ(nan.detail, (nlohmann::json{{"step", 3}}));
  EXPECT_LT(nan.first_unix_ns, nan.last_unix_ns);
}

// T33: a run's length is measured by one clock that never steps.
TEST(Edits, T33DurationIsKnownOrUnknownNeverNegative) {
  const TemporaryFolder folder;
  {
    Writer writer(folder.store(), {});
    writer.create_run(make_run("r_00000001"));
    writer.set_state("r_00000001", RunState::running, "");
    writer.set_state("r_00000001", RunState::finished, "");
    writer.create_run(make_run("r_00000002"));
    writer.set_state("r_00000002", RunState::failed, "never ran");
    writer.create_run(make_run("r_00000003"));
    writer.set_state("r_00000003", RunState::running, "");
  }
  Writer writer(folder.store(), {});
  writer.mark_unfinished_as_lost("the daemon ended");
  const Reader reader(folder.store());
  EXPECT_GE(reader.run("r_00000001").duration_ns, 0);
  EXPECT_EQ(reader.run("r_00000002").duration_ns, -1);
  EXPECT_EQ(reader.run("r_00000003").duration_ns, -1);
}

// T33: the wall clock steps while the runs are under way, back for one and a day forward for the other.
TEST(Edits, T33AClockThatStepsChangesNoLength) {
  constexpr int64_t kSecond = 1'000'000'000, kStart = 1'793'413'600 * kSecond, kSecondsMax = 60;
  const TemporaryFolder folder;
  {
    Writer writer(folder.store(), {});
    for (const auto& [id, end] : {std::pair("r_00000001", kStart - 600 * kSecond), std::pair("r_00000002", kStart + kDay)}) {
      writer.create_run(make_run(id));
      writer.set_state(id, RunState::running, "", -1, kStart);
      writer.set_state(id, RunState::finished, "", -1, end);
    }
  }
  const Reader reader(folder.store());
  for (const char* id : {"r_00000001", "r_00000002"}) {
    const RunRecord run = reader.run(id);
    EXPECT_GE(run.duration_ns, 0) << id;
    EXPECT_LT(run.duration_ns, kSecondsMax * kSecond) << id;
    EXPECT_EQ(elapsed_seconds(run, kStart), static_cast<double>(run.duration_ns) / 1e9) << id;
  }
  EXPECT_EQ(reader.find("elapsed < 60s").size(), 2U);
}

// T33: without a measured length the two wall clocks are all that there is, and their order may be wrong.
TEST(Edits, T33AnEndBeforeTheStartIsUnknownNotNegative) {
  constexpr int64_t kSecond = 1'000'000'000;
  const TemporaryFolder folder;
  RunRecord run = make_run("r_00000001");
  run.started_unix_ns = 300 * kSecond, run.ended_unix_ns = 10 * kSecond;
  EXPECT_EQ(elapsed_seconds(run, 0), std::nullopt);
  run.ended_unix_ns = 310 * kSecond;
  EXPECT_EQ(elapsed_seconds(run, 0), 10);
  run.ended_unix_ns = 0;
  EXPECT_EQ(elapsed_seconds(run, 290 * kSecond), std::nullopt) << "it runs, and our own clock is behind its node's";
  EXPECT_EQ(elapsed_seconds(run, 303 * kSecond), 3);

  constexpr int64_t kFarAhead = 4'000'000'000 * kSecond;  // of a node whose clock is decades ahead
  {
    Writer writer(folder.store(), {});
    for (const char* id : {"r_00000001", "r_00000002"}) writer.create_run(make_run(id));
    writer.set_state("r_00000001", RunState::running, "", -1, kFarAhead);
    writer.set_state("r_00000002", RunState::running, "");
    const Reader reader(folder.store());
    ASSERT_EQ(reader.find("elapsed is null").size(), 1U);
    EXPECT_EQ(reader.find("elapsed is null").front().id, "r_00000001");
    EXPECT_EQ(reader.find("elapsed < 1h").size(), 1U) << "a negative number would be below it too";
  }
}

RunRecord run_that_ended(const std::string& id, int64_t ended, RunState state = RunState::finished) {
  RunRecord run = make_run(id);
  run.state = state;
  run.ended_unix_ns = ended;
  return run;
}

TEST(Maintenance, RemovesOnlyWhatAllOptionsAskFor) {
  const TemporaryFolder folder;
  const int64_t now = 1'000 * kDay;
  {
    Editor editor(folder.store(), Editor::Missing::create);
    for (const RunRecord& run :
         {run_that_ended("r_00000001", now - 90 * kDay), run_that_ended("r_00000002", now - 60 * kDay), run_that_ended("r_00000003", now - 50 * kDay),
          run_that_ended("r_00000004", now - 1 * kDay), run_that_ended("r_00000005", 0, RunState::running)})
      editor.import_run(run, [](RunImport&) {});
    editor.add_tag("r_00000002", kKeepTag);
    editor.set_archived("r_00000003", true);
  }
  const Reader reader(folder.store());
  const auto removed = [&](const Retention& retention) {
    std::vector<std::string> ids;
    for (const RunRecord& run : runs_to_remove(reader, retention, now)) ids.push_back(run.id);
    return ids;
  };
  EXPECT_TRUE(removed({}).empty());
  EXPECT_THAT(removed({30.0, std::nullopt, false}), ElementsAre("r_00000003", "r_00000001"));
  EXPECT_THAT(removed({30.0, std::nullopt, true}), ElementsAre("r_00000003"));
  EXPECT_THAT(removed({std::nullopt, 2, false}), ElementsAre("r_00000003", "r_00000001"));
  EXPECT_THAT(removed({70.0, 2, false}), ElementsAre("r_00000001"));
}

TEST(Maintenance, VacuumGivesRoomBackWithAndWithoutADaemon) {
  for (const bool beside_daemon : {false, true}) {
    const TemporaryFolder folder;
    {
      Writer writer(folder.store(), {});
      writer.create_run(make_run("r_00000001"));
      for (uint64_t i = 1; i <= 1000; ++i) writer.append(log_line("r_00000001", 0, i, std::string(4000, 'x')));
      writer.flush();
      writer.set_state("r_00000001", RunState::finished, "");
    }
    std::optional<Writer> daemon;
    if (beside_daemon) daemon.emplace(folder.store(), Writer::Hooks{});
    Editor(folder.store()).delete_run("r_00000001");
    const VacuumReport report = vacuum(folder.store());
    EXPECT_EQ(report.beside_daemon, beside_daemon);
    EXPECT_LT(report.bytes_after + 3'000'000, report.bytes_before) << beside_daemon;
    EXPECT_TRUE(check(folder.store(), false).problems.empty());
    Writer* const writer = beside_daemon ? &*daemon : nullptr;
    if (writer) writer->create_run(make_run("r_00000002"));
  }
}

TEST(Maintenance, CheckFindsWhatDoesNotFit) {
  const struct {
    const char* damage;
    const char* said;
  } kDamages[] = {{"UPDATE point SET value = 1e30 WHERE series = 1 AND step = 5", "its sums are not"},
                  {"UPDATE pyramid SET buckets = zeroblob(46) WHERE series = 1 AND level = 1 AND block = 1", "does not sum up"},
                  {"DELETE FROM run WHERE key = 1", "rows of no run"},
                  {"DELETE FROM series WHERE key = 1", "unknown series"},
                  {"UPDATE node SET node_sequence = 3", "journal's numbers"}};
  for (const auto& [damage, said] : kDamages) {
    const TemporaryFolder folder;
    write_sample_history(folder.store());
    EXPECT_TRUE(check(folder.store(), false).problems.empty());
    SQLite::Database(folder.store(), SQLite::OPEN_READWRITE).exec(damage);
    const CheckReport report = check(folder.store(), false);
    ASSERT_FALSE(report.problems.empty()) << damage;
    EXPECT_THAT(report.problems, ::testing::Contains(HasSubstr(said))) << damage;
  }
}

}  // namespace
}  // namespace ringwright::history
