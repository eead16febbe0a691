// The verbs that read the history: a file is filled through the writer, then the program is called on it.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "shared/history/metric_value.h"
#include "tests/console/cli/program_test.h"
#include "tests/shared/history/temporary_store.h"

namespace ringwright::cli {
namespace {

using history::testing::log_line;
using history::testing::make_event;
using history::testing::make_run;
using history::testing::metric;
using test::Outcome;
using ::testing::HasSubstr;
using ::testing::Not;

class HistoryVerbs : public ProgramTest {
 protected:
  // Of cp2.
  static void add_samples_and_spans(history::Writer& writer) {
    uint64_t sequence = 10;
    const auto send = [&](wire::Kind kind, nlohmann::json body) { writer.append(make_event("r_0000000b", kind, 0, ++sequence, std::move(body))); };
    send(wire::Kind::sample, {{"step", 2}, {"kind", "rollout"}, {"prompt", "2 + 2"}, {"reply", "4\nor so"}, {"reward", 0.75}});
    send(wire::Kind::sample, {{"step", 3}, {"kind", "teacher"}, {"prompt", "3 + 3"}, {"kl", 0.125}});
    send(wire::Kind::span, {{"phase", "rollout"}, {"step", 2}, {"begin_ns", 0}, {"end_ns", 30'000'000}});
    send(wire::Kind::span, {{"phase", "forward"}, {"step", 2}, {"begin_ns", 30'000'000}, {"end_ns", 40'000'000}});
  }
  void SetUp() override {
    history::Writer writer(store(), {});
    writer.create_run(make_run("r_0000000a", "cp1"));
    writer.create_run(make_run("r_0000000b", "cp2"));
    for (int64_t step = 1; step <= 3; ++step) {
      const auto sequence = static_cast<uint64_t>(step);
      writer.append(metric("r_0000000a", 0, sequence, step, "train/loss", 4.0 / static_cast<double>(step)));
      writer.append(metric("r_0000000b", 0, sequence, step, "train/loss", 4.0 / static_cast<double>(step) * (step == 2 ? 1.001 : 1.0)));
    }
    writer.append(metric("r_0000000a", 0, 4, 4, "train/grad_norm", std::nan("")));
    writer.append(metric("r_0000000a", 0, 5, 5, "train/grad_norm", HUGE_VAL));
    writer.append(log_line("r_0000000a", 0, 6, "loading, \"quoted\""));
    writer.append(make_event("r_0000000a", wire::Kind::log, 1, 1, {{"level", "error"}, {"text", "it broke"}}));
    writer.append(
        make_event("r_0000000a", wire::Kind::event, 0, 7, {{"name", "checkpoint.saved"}, {"path", "/there/step_3"}, {"step", 3}, {"bytes", 2048}}));
    writer.append(make_event("r_0000000a", wire::Kind::heartbeat, 1, 2, {{"resident_bytes", 1024}}));
    add_samples_and_spans(writer);
    writer.flush();
    writer.set_state("r_0000000a", history::RunState::failed, "rank 1 exited with code 7", 1);
    writer.set_state("r_0000000b", history::RunState::finished, "");
  }
};

TEST_F(HistoryVerbs, ListShowsTheNewestFirst) {
  const Outcome outcome = ringwright({"runs", "list"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_LT(outcome.out.find("r_0000000b"), outcome.out.find("r_0000000a"));
  EXPECT_THAT(outcome.out, HasSubstr("rank 1 exited with code 7"));
  const nlohmann::json failed = json_of({"runs", "list", "--state", "failed"});
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].at("failed_rank"), 1);
  EXPECT_EQ(failed[0].at("last_step"), 5);
  EXPECT_EQ(json_of({"runs", "list", "-n", "1"}).size(), 1u);
}

TEST_F(HistoryVerbs, ARankWithoutAStepHasADash) {
  const std::string out = ringwright({"runs", "show", "cp1"}).out;
  EXPECT_THAT(out, Not(HasSubstr(" -1"))) << out;
  EXPECT_THAT(out, ::testing::ContainsRegex("\n +1 +- +1 KiB"));
}

TEST_F(HistoryVerbs, ShowHasAllOfARun) {
  const Outcome outcome = ringwright({"runs", "show", "cp1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* text : {"failed: rank 1 exited with code 7", "cp 2", "train/grad_norm", "+inf", "/there/step_3", "2 KiB"})
    EXPECT_THAT(outcome.out, HasSubstr(text));
  const nlohmann::json json = json_of({"runs", "show", "r_0000000a"});
  EXPECT_EQ(json.at("metrics").at("train/grad_norm").at("value"), "Infinity");
  EXPECT_EQ(json.at("recipe").at("sft").at("max_num_steps"), 50);
  EXPECT_EQ(ringwright({"runs", "show", "cp1", "--recipe"}).out, "sft: {max_num_steps: 50}\n");
}

TEST_F(HistoryVerbs, MetricsAsTableCsvAndJson) {
  EXPECT_THAT(ringwright({"runs", "metrics", "cp1"}).out, HasSubstr("train/loss"));
  EXPECT_EQ(ringwright({"runs", "metrics", "cp1", "--csv", "-m", "train/loss", "-m", "train/grad_norm"}).out,
            "step,train/loss,train/grad_norm\n1,4,\n2,2,\n3,1.3333333333333333,\n4,,NaN\n5,,Infinity\n");
  const nlohmann::json json = json_of({"runs", "metrics", "cp1", "--metric", "train/grad_norm"});
  EXPECT_EQ(json.at("metrics").at("train/grad_norm").at(0).at("value"), "NaN");
  const Outcome wrong = ringwright({"runs", "metrics", "cp1", "-m", "train/los"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("RW-CLI-010"));
  EXPECT_THAT(wrong.err, HasSubstr("\"train/loss\""));
}

TEST_F(HistoryVerbs, SamplesOfAStepAndOfAnActivity) {
  const std::string newest = ringwright({"runs", "samples", "cp2"}).out;
  EXPECT_THAT(newest, HasSubstr("3 + 3"));
  EXPECT_THAT(newest, HasSubstr("0.125"));
  const std::string rollouts = ringwright({"runs", "samples", "cp2", "--of", "rollout"}).out;
  for (const char* text : {"reward", "0.75", "2 + 2", "4 or so"}) EXPECT_THAT(rollouts, HasSubstr(text));
  EXPECT_THAT(rollouts, Not(HasSubstr("3 + 3")));
  const nlohmann::json before = json_of({"runs", "samples", "cp2", "--step", "2"});
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before.at(0).at("body").at("reply"), "4\nor so");
  EXPECT_THAT(ringwright({"runs", "samples", "cp1"}).out, HasSubstr("has sent no samples"));
  EXPECT_THAT(ringwright({"runs", "samples", "cp2", "--of", "alignment"}).out, HasSubstr("no samples of alignment"));
  EXPECT_EQ(ringwright({"runs", "samples", "cp2", "--of", "nothing"}).exit_code, 2);
}

TEST_F(HistoryVerbs, PhasesOfAStepAndTheirShare) {
  const std::string all = ringwright({"runs", "phases", "cp2"}).out;
  for (const char* text : {"step 2", "rollout", "forward", "75 %", "25 %", "30"}) EXPECT_THAT(all, HasSubstr(text));
  const nlohmann::json json = json_of({"runs", "phases", "cp2", "--of", "rollout"});
  ASSERT_EQ(json.at("phases").size(), 1u);
  EXPECT_EQ(json.at("phases").at(0).at("longest_ns"), 30'000'000);
  EXPECT_EQ(json.at("step"), 2);
  EXPECT_TRUE(json_of({"runs", "phases", "cp1"}).at("step").is_null());
  EXPECT_THAT(ringwright({"runs", "phases", "cp2", "--of", "teacher"}).out, HasSubstr("no spans of teacher"));
}

// T30: the export is valid JSON whatever the values are, and they can be read back.
TEST_F(HistoryVerbs, T30ExportsAreValid) {
  const nlohmann::json json = json_of({"runs", "export", "cp1", "--format", "json"});
  EXPECT_EQ(json.at("logs").at(1).at("text"), "it broke");
  const nlohmann::json other = json_of({"runs", "export", "cp2", "--format", "json"});
  EXPECT_EQ(other.at("samples").at(0).at("body").at("reward"), 0.75) << "oldest first";
  EXPECT_EQ(other.at("spans").at(1).at("phase"), "forward");
  for (const nlohmann::json& series : json.at("metrics"))
    if (series.at("metric") == "train/grad_norm") {
      EXPECT_TRUE(std::isnan(history::metric_value_from_json(series.at("points").at(0).at("value"))));
      EXPECT_EQ(history::metric_value_from_json(series.at("points").at(1).at("value")), HUGE_VAL);
    }
  std::istringstream lines(ringwright({"runs", "export", "cp1", "--format", "jsonl"}).out);
  size_t metrics = 0;
  for (std::string line; std::getline(lines, line);) metrics += nlohmann::json::parse(line).at("type") == "metric";
  EXPECT_EQ(metrics, 5u);
  const std::string file = (folder_.path() / "out.csv").string();
  EXPECT_EQ(ringwright({"runs", "export", "cp1", "--format", "csv", "-o", file}).exit_code, 0);
  std::ifstream stream(file);
  const std::string csv{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_THAT(csv, HasSubstr("metric,rank,step,value,tokens,time_unix_ns\n"));
  EXPECT_THAT(csv, HasSubstr("train/grad_norm,0,4,NaN,"));
  EXPECT_FALSE(std::filesystem::exists(file + ".part"));
  const std::string link = (folder_.path() / "link.csv").string();
  std::filesystem::create_symlink(file, link);
  EXPECT_EQ(ringwright({"runs", "export", "cp2", "-o", link}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  const Outcome nowhere = ringwright({"runs", "export", "cp1", "-o", (folder_.path() / "no" / "where").string()});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("RW-CLI-011"));
}

TEST_F(HistoryVerbs, ComparePrintsBothColumnsAndTheLargestDifference) {
  const Outcome outcome = ringwright({"runs", "compare", "cp1", "cp2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("largest relative difference 9.99e-04 at step 2"));
  EXPECT_THAT(outcome.out, HasSubstr("1.333333"));
  EXPECT_EQ(ringwright({"runs", "compare", "cp1", "cp2", "--tolerance", "1e-2"}).exit_code, 0);
  const Outcome beyond = ringwright({"runs", "compare", "cp1", "cp2", "--tolerance", "1e-4"});
  EXPECT_EQ(beyond.exit_code, 1);
  EXPECT_THAT(beyond.out, HasSubstr("beyond the tolerance"));
  EXPECT_EQ(json_of({"runs", "compare", "cp1", "cp1", "--tolerance", "0"}).at("within_tolerance"), true);
}

TEST_F(HistoryVerbs, ParityCountsEqualStepsAndExitsByTheTolerance) {
  const Outcome outcome = ringwright({"runs", "parity", "cp1", "cp2", "--tolerance", "1e-2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 of 3"));
  EXPECT_THAT(outcome.out, HasSubstr("within the tolerance"));
  const Outcome beyond = ringwright({"runs", "parity", "cp1", "cp2", "--json"});
  EXPECT_EQ(beyond.exit_code, 1);
  const nlohmann::json json = nlohmann::json::parse(beyond.out);
  EXPECT_EQ(json.at("equal_bits"), 2);
  EXPECT_EQ(json.at("first_different_step"), 2);
  EXPECT_NEAR(json.at("largest_difference").get<double>(), 0.002, 1e-12);
  EXPECT_NEAR(json.at("mean_difference").get<double>(), 0.002 / 3, 1e-12);
  EXPECT_NEAR(json.at("mean_relative_difference").get<double>(), 0.001 / 1.001 / 3, 1e-12);
  EXPECT_EQ(json.at("within_tolerance"), false);
  EXPECT_EQ(ringwright({"runs", "parity", "cp1", "cp1", "--tolerance", "0"}).exit_code, 0);
}

// Two runs that failed after the same step agree in what there is, and that is not all.
TEST_F(HistoryVerbs, ParitySaysHowMuchItComparedAndWhatBecameOfTheRuns) {
  {
    history::Writer writer(store(), {});
    for (const char* run : {"r_0000000a", "r_0000000b"})
      writer.append(make_event(run, wire::Kind::event, 0, 30, {{"name", "run.step_limit"}, {"steps", 40}}));
  }
  const Outcome outcome = ringwright({"runs", "parity", "cp1", "cp2", "--tolerance", "1e-2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("within the tolerance"));
  EXPECT_THAT(outcome.out, HasSubstr("only 3 of 40 steps could be compared"));
  EXPECT_THAT(outcome.out, HasSubstr("cp1 (r_0000000a) is failed at step 5"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("cp2 (r_0000000b) is")));
  EXPECT_EQ(json_of({"runs", "parity", "cp1", "cp1", "--json"}).at("steps_planned"), 40);
}

TEST_F(HistoryVerbs, ParityOfRunsOfOtherLengthsBlamesTheLengthsNotTheValues) {
  {
    history::Writer writer(store(), {});
    for (int64_t step = 4; step <= 6; ++step) writer.append(metric("r_0000000b", 0, static_cast<uint64_t>(40 + step), step, "train/loss", 1.0));
  }
  const Outcome outcome = ringwright({"runs", "parity", "cp1", "cp2", "--tolerance", "1e-2"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("the runs differ in length: 3 and 6 steps; the 3 that both have are within the tolerance"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("beyond")));
  EXPECT_THAT(ringwright({"runs", "compare", "cp1", "cp2", "--tolerance", "1e-2"}).out, HasSubstr("within the tolerance 0.01, but one run lacks"));
}

TEST_F(HistoryVerbs, ParityRefusesRunsOfOtherPacksWithTheReason) {
  {
    history::Writer writer(store(), {});
    writer.append(metric("r_0000000a", 0, 20, 2, "train/packs", 3));
    writer.append(metric("r_0000000b", 0, 20, 2, "train/packs", 4));
  }
  const Outcome outcome = ringwright({"runs", "parity", "cp1", "cp2"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("RW-CLI-029"));
  EXPECT_THAT(outcome.err, HasSubstr("step 2 has 3 packs in one and 4 in the other"));
  EXPECT_THAT(outcome.err, HasSubstr("ringwright.packing.document_divisor"));
  EXPECT_EQ(ringwright({"runs", "compare", "cp1", "cp2"}).exit_code, 0) << "the values alone can still be compared";
}

TEST_F(HistoryVerbs, LogsFilterAndFollowToTheEnd) {
  const Outcome all = ringwright({"logs", "cp1", "-f"});  // ends, since the run has
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_THAT(all.out, HasSubstr("loading, \"quoted\""));
  EXPECT_THAT(all.out, HasSubstr("it broke"));
  EXPECT_THAT(ringwright({"logs", "cp1", "--rank", "0"}).out, Not(HasSubstr("it broke")));
  EXPECT_THAT(ringwright({"logs", "cp1", "--level", "warn"}).out, Not(HasSubstr("loading")));
  const nlohmann::json line = json_of({"logs", "cp1", "--rank", "1", "-n", "1"});
  EXPECT_EQ(line.at("text"), "it broke");
  EXPECT_EQ(line.at("rank"), 1);
}

// A newcomer who reads the log of a run that is over sees how it went, and what came of it.
TEST_F(HistoryVerbs, LogsTellTheCourseOfARun) {
  {
    history::Writer writer(store(), {});
    const auto tell = [&](const char* run, int rank, uint64_t sequence, nlohmann::json body) {
      wire::Event event = make_event(run, wire::Kind::event, rank, sequence, std::move(body));
      event.time_unix_ns = 1'700'000'000'000'000'000 + static_cast<int64_t>(sequence) * 1'000'000'000;
      writer.append(event);
    };
    tell("r_0000000b", -1, 0, {{"name", "run.state"}, {"state", "running"}, {"reason", ""}});
    writer.append(log_line("r_0000000b", 0, 101, "model: llama"));
    tell("r_0000000b", 0, 102, {{"name", "checkpoint.saved"}, {"path", "/there/step_3"}, {"step", 3}, {"bytes", 2048}});
    tell("r_0000000b", -1, 103, {{"name", "alert"}, {"kind", "nan"}, {"topic", "a"}, {"text", "a is NaN at step 2"}});
    tell("r_0000000b", 0, 104, {{"name", "run.estimate"}, {"memory_bytes", 1}});
    tell("r_0000000b", -1, 105, {{"name", "run.state"}, {"state", "failed"}, {"reason", "rank 1 exited with code 7"}});
    tell("r_0000000b", -1, 106, {{"name", "run.state"}, {"state", 7}});
  }
  EXPECT_THAT(ringwright({"logs", "cp2"}).out,
              ::testing::ContainsRegex("daemon +info +run: running\n.*rank 0 +info +model: llama\n.*"
                                       "rank 0 +info +checkpoint of step 3 saved: /there/step_3 \\(2 KiB\\)\n.*"
                                       "daemon +warn +alert: a is NaN at step 2\n.*daemon +error +run: failed, rank 1 exited with code 7\n$"));
  EXPECT_THAT(ringwright({"logs", "cp2", "--rank", "0", "-f"}).out, Not(HasSubstr("run: ")));
  EXPECT_THAT(ringwright({"logs", "cp2", "--level", "error"}).out, Not(HasSubstr("alert")));
  EXPECT_EQ(json_of({"logs", "cp2", "-n", "1"}).at("text"), "run: failed, rank 1 exited with code 7");
}

TEST_F(HistoryVerbs, LogsOfARankThatIsNotThereSayWhichAre) {
  const Outcome outcome = ringwright({"logs", "cp1", "--rank", "99"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("RW-CLI-026"));
  EXPECT_THAT(outcome.err, HasSubstr("0 to 1, or -1 for the daemon"));
  EXPECT_EQ(ringwright({"logs", "cp1", "--rank", "-1"}).exit_code, 0);
}

// A history from elsewhere may hold anything; a terminal must not act on it.
TEST_F(HistoryVerbs, ControlCharactersAreShownNotSent) {
  SQLite::Database(store(), SQLite::OPEN_READWRITE).exec("UPDATE run SET name = 'a' || char(27) || '[2Jb' || char(10) || 'c' WHERE name = 'cp1'");
  for (const char* verb : {"list", "show"}) {
    std::vector<std::string> arguments = {"runs", verb};
    if (std::string(verb) == "show") arguments.emplace_back("r_0000000a");
    const Outcome outcome = ringwright(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("a\\x1b[2Jb\\x0ac"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
  }
}

TEST_F(HistoryVerbs, AStoreCanBeNamed) {
  const std::string copy = (folder_.path() / "copy.db").string();
  std::filesystem::copy_file(store(), copy);
  EXPECT_EQ(json_of({"runs", "list", "--store", copy}).size(), 2u);
}

}  // namespace
}  // namespace ringwright::cli
