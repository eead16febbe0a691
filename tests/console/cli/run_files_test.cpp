// The verbs that label runs, and that write and read files of them: the program is called on a history with two runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/console/cli/program_test.h"
#include "tests/shared/history/temporary_store.h"

namespace ringwright::cli {
namespace {

namespace fs = std::filesystem;
using history::testing::make_run;
using history::testing::metric;
using test::Outcome;
using ::testing::HasSubstr;
using ::testing::Not;

class RunFiles : public ProgramTest {
 protected:
  void SetUp() override {
    history::Writer writer(store(), {});
    for (const char* letter : {"a", "b"}) {
      history::RunRecord run = make_run(std::string("r_0000000") + letter, std::string("run-") + letter);
      run.recipe = {{"policy", {{"model_name", "Qwen/Qwen3"}, {"lr", *letter == 'a' ? 1e-5 : 2e-5}}}};
      writer.create_run(run);
      for (int64_t step = 1; step <= 3; ++step)
        writer.append(metric(run.id, 0, static_cast<uint64_t>(step), step, "train/loss", 4.0 / static_cast<double>(step)));
      writer.flush();
      writer.set_state(run.id, *letter == 'a' ? history::RunState::failed : history::RunState::finished, "");
    }
  }
  std::string refused(int exit_code, std::vector<std::string> arguments) {
    const Outcome outcome = ringwright(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }
  std::string found(const std::string& query) {
    std::string ids;
    for (const nlohmann::json& run :
         json_of(query.empty() ? std::vector<std::string>{"runs", "list"} : std::vector<std::string>{"runs", "list", query}))
      ids += run.at("id").get<std::string>().back();
    return ids;
  }
};

TEST_F(RunFiles, ListTakesAQueryInOneWordOrMany) {
  EXPECT_EQ(found("state = failed and loss.last < 2"), "a");
  EXPECT_EQ(json_of({"runs", "list", "state", "=", "finished", "or", "name", "~", "A$"}).size(), 2u);
  EXPECT_EQ(json_of({"runs", "list", "recipe.policy.lr > 1.5e-5"}).at(0).at("recipe_path"), "demo.yaml");
  EXPECT_THAT(good({"runs", "list", "name = nobody"}), HasSubstr("matches these options"));
  const std::string error = refused(2, {"runs", "list", "state = failed and los.last < 2"});
  EXPECT_THAT(error, HasSubstr("error RW-QUERY-002: there is no field 'los.last'\n  at: column 20 of the query"));
  EXPECT_THAT(error, HasSubstr("did you mean 'loss.last'?"));
  EXPECT_THAT(refused(2, {"runs", "list", "name = x", "--state", "failed"}), HasSubstr("RW-CLI-046"));
}

TEST_F(RunFiles, AnIdThatIsCutTooShortListsWhatItMayMean) {
  const std::string error = refused(2, {"runs", "show", "r_0000000"});
  EXPECT_THAT(error, HasSubstr("r_0000000b (run-b, finished, "));
  EXPECT_THAT(error, HasSubstr("r_0000000a (run-a, failed, "));
  EXPECT_THAT(error, HasSubstr("start"));
}

TEST_F(RunFiles, SpeedIsTheMedianOfTheLastSteps) {
  {
    history::Writer writer(store(), {});
    writer.create_run(make_run("r_0000000c", "slow-start"));
    for (int64_t step = 1; step <= 25; ++step)
      writer.append(metric("r_0000000c", 0, static_cast<uint64_t>(step), step, "perf/tokens_per_s", step <= 5 ? 1 : step == 25 ? 7 : 500));
    writer.flush();
  }
  const std::string list = good({"runs", "list", "name = slow-start"});
  EXPECT_THAT(list, HasSubstr(" 500 "));
  EXPECT_THAT(good({"runs", "list", "--help"}), HasSubstr("tokens/s is the median of the last 20 steps"));
}

// What an imported run of NeMo RL's says of its rollouts (RW-GUARD-502).
TEST_F(RunFiles, AGapBetweenGenerationAndTrainingIsSaid) {
  {
    history::Writer writer(store(), {});
    writer.create_run(make_run("r_0000000d", "rollouts"));
    for (int64_t step = 1; step <= 9; ++step)
      writer.append(metric("r_0000000d", 0, static_cast<uint64_t>(step), step, "train/token_mult_prob_error", step == 4 ? 1.5 : 1.01));
    writer.flush();
  }
  EXPECT_THAT(good({"runs", "show", "rollouts"}), HasSubstr("RW-GUARD-502"));
  const nlohmann::json guards = json_of({"runs", "show", "rollouts"}).at("guards");
  ASSERT_EQ(guards.size(), 1u);
  EXPECT_THAT(guards[0].at("reason").get<std::string>(), HasSubstr("step 4"));
  EXPECT_THAT(good({"runs", "show", "run-a"}), Not(HasSubstr("RW-GUARD")));
  good({"runs", "export", "rollouts", "--format", "tensorboard", "-o", "events"});
  EXPECT_THAT(good({"runs", "import", "events", "--name", "imported"}), HasSubstr("RW-GUARD-502"));
}

TEST_F(RunFiles, TagsAndNotesArePutOnShownFoundAndTakenOff) {
  EXPECT_THAT(good({"runs", "tag", "run-a", "bad", "spike"}), HasSubstr("r_0000000a bad spike"));
  EXPECT_EQ(found("tag = bad"), "a");
  EXPECT_EQ(json_of({"runs", "tag", "run-a"}).at("tags"), nlohmann::json({"bad", "spike"}));
  EXPECT_THAT(good({"runs", "tag", "run-a", "bad", "--remove"}), Not(HasSubstr("bad")));
  EXPECT_THAT(refused(2, {"runs", "tag", "run-a", "two words"}), HasSubstr("RW-CLI-040"));
  EXPECT_THAT(good({"runs", "note", "run-b"}), HasSubstr("has no notes"));
  EXPECT_THAT(good({"runs", "note", "run-b", "the", "best", "one"}), HasSubstr("the best one"));
  EXPECT_EQ(found("note ~ BEST"), "b");
  const nlohmann::json notes = json_of({"runs", "note", "run-b"}).at("notes");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(good({"runs", "show", "run-b"}), HasSubstr("the best one"));
  EXPECT_THAT(good({"runs", "note", "run-b", "--remove", notes[0].at("key").dump()}), HasSubstr("has no notes"));
}

TEST_F(RunFiles, ArchivedRunsAreLeftOutUntilTheyAreAskedFor) {
  EXPECT_THAT(good({"runs", "archive", "run-a"}), HasSubstr("archived"));
  EXPECT_EQ(found(""), "b");
  EXPECT_EQ(found("archived = true"), "a");
  good({"runs", "archive", "run-a", "--undo"});
  EXPECT_EQ(found(""), "ba");
  EXPECT_THAT(refused(2, {"runs", "archive", "run-b", "run-x"}), HasSubstr("RW-STORE-011"));
  EXPECT_EQ(found(""), "ba") << "all or none";
}

TEST_F(RunFiles, DeletingWantsAYesAndLeavesTheOthers) {
  folder_.write("ringwright/runs/r_0000000a/rank0.log", "some lines");
  EXPECT_THAT(refused(2, {"runs", "delete", "run-a"}), HasSubstr("say it again with --yes"));
  EXPECT_EQ(found(""), "ba");
  EXPECT_THAT(good({"runs", "delete", "run-a", "--yes"}), HasSubstr("--files removes such folders too"));
  EXPECT_EQ(found(""), "b");
  EXPECT_TRUE(fs::exists(folder_ / "ringwright/runs/r_0000000a"));
  folder_.write("ringwright/runs/r_0000000b/rank0.log", "some lines");
  good({"runs", "delete", "r_0000000b", "--yes", "--files"});
  EXPECT_FALSE(fs::exists(folder_ / "ringwright/runs/r_0000000b"));
  EXPECT_EQ(found(""), "");
}

TEST_F(RunFiles, ARunThatGoesOnIsNotDeleted) {
  {
    history::Writer writer(store(), {});
    writer.create_run(make_run("r_0000000c", "going"));
  }
  EXPECT_THAT(refused(3, {"runs", "delete", "going", "--yes"}), HasSubstr("RW-STORE-012"));
}

TEST_F(RunFiles, DiffNamesWhatTheRunsWereStartedWith) {
  const std::string text = good({"runs", "diff", "run-a", "run-b"});
  EXPECT_THAT(text, HasSubstr("recipe.policy.lr"));
  EXPECT_THAT(text, Not(HasSubstr("model_name")));
  EXPECT_EQ(json_of({"runs", "diff", "run-a", "run-b", "--recipe"}).at("differences").size(), 1u);
  EXPECT_THAT(good({"runs", "diff", "run-a", "run-a"}), HasSubstr("the same"));
}

TEST_F(RunFiles, AnExportIntoAFileSaysSoOnStderr) {
  const Outcome csv = ringwright({"runs", "export", "run-a", "-o", "a.csv"});
  EXPECT_EQ(csv.exit_code, 0);
  EXPECT_EQ(csv.out, "");
  EXPECT_THAT(csv.err, ::testing::MatchesRegex("r_0000000a as csv in a\\.csv \\([0-9]+ B\\)\n"));
  EXPECT_EQ(ringwright({"runs", "export", "run-a", "--format", "csv"}).err, "") << "to stdout";
}

TEST_F(RunFiles, AnArchiveGoesToAnotherHistory) {
  good({"runs", "export", "run-a", "-o", "a.tar.zst"});
  EXPECT_FALSE(fs::exists(folder_ / "a.tar.zst.part"));
  EXPECT_THAT(good({"runs", "import", "a.tar.zst", "--store", "other/history.db"}), HasSubstr("r_0000000a (run-a) is imported: 3 points"));
  EXPECT_THAT(good({"runs", "import", "a.tar.zst", "--store", "other/history.db"}), HasSubstr("is in this history already"));
  EXPECT_THAT(good({"runs", "show", "run-a", "--store", "other/history.db"}), HasSubstr("a.tar.zst"));
  EXPECT_EQ(good({"runs", "export", "run-a", "--format", "csv"}),
            good({"runs", "export", "run-a", "--format", "csv", "--store", "other/history.db"}));
}

// Last month's run of another program beside today's.
TEST_F(RunFiles, EventFilesAreWrittenReadAndCompared) {
  EXPECT_THAT(good({"runs", "export", "run-a", "--format", "tensorboard", "-o", "logs"}), HasSubstr("logs/events.out.tfevents."));
  const nlohmann::json imported = json_of({"runs", "import", "logs", "--name", "nemo"});
  ASSERT_EQ(imported.size(), 1u);
  EXPECT_EQ(imported[0].at("points"), 3);
  const nlohmann::json comparison = json_of({"runs", "compare", "nemo", "run-b", "-m", "train/loss", "--tolerance", "1e-6"});
  EXPECT_EQ(comparison.at("common_steps"), 3);
  EXPECT_EQ(comparison.at("within_tolerance"), true);
  EXPECT_EQ(found("imported_from is not null").size(), 1u);
  EXPECT_THAT(refused(2, {"runs", "export", "run-a", "--format", "tensorboard"}), HasSubstr("RW-CLI-044"));
}

TEST_F(RunFiles, SqlReadsAsTableCsvAndJson) {
  EXPECT_THAT(good({"sql", "SELECT id, world_size FROM run ORDER BY id"}), HasSubstr("r_0000000a"));
  EXPECT_EQ(good({"sql", "SELECT id, 1.5 AS x, NULL AS n FROM run ORDER BY id", "--csv"}), "id,x,n\nr_0000000a,1.5,\nr_0000000b,1.5,\n");
  EXPECT_EQ(json_of({"sql", "SELECT count(*) AS points, 1 AS points FROM metric"}), nlohmann::json({{{"points", 6}, {"points_2", 1}}}));
  EXPECT_THAT(refused(2, {"sql", "DELETE FROM run"}), HasSubstr("RW-SQL-003"));
  EXPECT_THAT(refused(2, {"sql", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100001) SELECT i FROM n"}),
              HasSubstr("RW-SQL-005"));
  EXPECT_EQ(found(""), "ba");
}

TEST_F(RunFiles, AlertsAreListed) {
  {
    history::Writer writer(store(), {});
    writer.append(history::testing::make_event("r_0000000b", wire::Kind::event, -1, 0,
                                               {{"name", "alert"}, {"kind", "nan"}, {"topic", "train/loss"}, {"text", "train/loss is NaN"}}));
  }
  EXPECT_THAT(good({"alert", "list"}), HasSubstr("train/loss is NaN"));
  EXPECT_EQ(json_of({"alert", "list", "run-b"}).at(0).at("run"), "r_0000000b");
  EXPECT_EQ(json_of({"alert", "list", "run-a"}).size(), 0u);
  EXPECT_THAT(good({"alert", "list", "run-a"}), HasSubstr("No alerts."));
}

// With a daemon, whose command is really called.
TEST_F(RunFiles, TheCommandForAlertsIsTested) {
  const std::string heard = (folder_ / "heard").string();
  folder_.write("ringwright/daemon.yaml", "alerts:\n  command: cat > " + heard + "\n");
  good({"daemon", "start"});
  EXPECT_THAT(good({"alert", "test"}), HasSubstr("good"));
  std::ifstream stream(heard);
  EXPECT_EQ(nlohmann::json::parse(stream, nullptr, false).at("alert").at("kind"), "test");
  good({"daemon", "stop"});
  folder_.write("ringwright/daemon.yaml", "alerts:\n  command: 'echo wrong address; exit 1'\n");
  good({"daemon", "start"});
  const Outcome failed = ringwright({"alert", "test"});
  EXPECT_EQ(failed.exit_code, 1) << failed.err;
  EXPECT_THAT(failed.out, HasSubstr("exited with code 1: wrong address"));
  // Labels and imports go into the file beside the daemon that writes it.
  good({"runs", "export", "run-a", "-o", "a.tar.zst"});
  good({"runs", "tag", "run-a", "beside"});
  good({"runs", "delete", "run-a", "--yes"});
  EXPECT_THAT(good({"runs", "import", "a.tar.zst"}), HasSubstr("is imported"));
  EXPECT_EQ(found(""), "ab");
  good({"daemon", "stop"});
}

}  // namespace
}  // namespace ringwright::cli
