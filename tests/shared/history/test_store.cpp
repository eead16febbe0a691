#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <mutex>

#include "shared/history/metric_value.h"
#include "tests/shared/history/temporary_store.h"

namespace ringwright::history {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> values(const std::vector<MetricPoint>& points) {
  std::vector<double> values;
  for (const MetricPoint& point : points) values.push_back(point.value);
  return values;
}

std::vector<int64_t> steps(const std::vector<MetricPoint>& points) {
  std::vector<int64_t> steps;
  for (const MetricPoint& point : points) steps.push_back(point.step);
  return steps;
}

TEST(Store, GivesBackARunAsItWas) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  RunRecord run = make_run("r_0000abcd");
  run.created_unix_ns = 42;
  run.state = RunState::queued;
  writer.create_run(run);
  writer.set_fingerprint(run.id, {{"node", "here"}});
  writer.set_state(run.id, RunState::running, "");
  writer.append(make_event(run.id, wire::Kind::event, 1, 1, {{"name", "fingerprint"}, {"libtorch", "2.11.0"}}));
  writer.append(metric(run.id, 0, 1, 7, "train/loss", 2.5));
  writer.flush();

  const RunRecord back = Reader(folder.store()).run(run.id);
  EXPECT_EQ(back.name, "demo");
  EXPECT_EQ(back.state, RunState::running);
  EXPECT_EQ(back.created_unix_ns, 42);
  EXPECT_GT(back.started_unix_ns, 0);
  EXPECT_EQ(back.ended_unix_ns, 0);
  EXPECT_EQ(back.mesh, run.mesh);
  EXPECT_EQ(back.recipe, run.recipe);
  EXPECT_EQ(back.recipe_text, run.recipe_text);
  EXPECT_EQ(back.overrides, run.overrides);
  EXPECT_EQ(back.fingerprint.at("node"), "here");
  EXPECT_EQ(back.fingerprint.at("workers").at("rank 1").at("libtorch"), "2.11.0");
  EXPECT_EQ(back.last_step, 7);

  writer.set_state(run.id, RunState::failed, "rank 1 was killed by signal 9", 1);
  const RunRecord failed = Reader(folder.store()).run("last");
  EXPECT_EQ(failed.state, RunState::failed);
  EXPECT_EQ(failed.reason, "rank 1 was killed by signal 9");
  EXPECT_EQ(failed.failed_rank, 1);
  EXPECT_GE(failed.ended_unix_ns, failed.started_unix_ns);
}

TEST(Store, FindsRunsByIdPrefixNameAndLast) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  writer.create_run(make_run("r_aa000001", "first"));
  writer.create_run(make_run("r_aa000002", "same"));
  writer.create_run(make_run("r_bb000003", "same"));
  const Reader reader(folder.store());
  EXPECT_EQ(reader.run("r_aa000001").name, "first");
  EXPECT_EQ(reader.run("r_bb").id, "r_bb000003");
  EXPECT_EQ(reader.run("same").id, "r_bb000003");
  EXPECT_EQ(reader.run("last").id, "r_bb000003");
  for (const char* wrong : {"r_aa", "frist", "%", "r_aa000001 OR 1=1", ""}) {
    try {
      reader.run(wrong);
      FAIL() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.parts().code, "RW-STORE-011");
      EXPECT_EQ(error.exit_code(), ExitCode::usage);
      if (std::string(wrong) == "frist") {
        EXPECT_THAT(error.parts().expected, HasSubstr("\"first\""));
      }
    }
  }
  ASSERT_EQ(reader.runs(2).size(), 2u);
  EXPECT_EQ(reader.runs(2)[0].id, "r_bb000003");
}

TEST(Store, NamesHideNeitherTheKeywordNorIds) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  writer.create_run(make_run("r_aa000001", "last"));
  writer.create_run(make_run("r_aa000002", "r_bb"));
  writer.create_run(make_run("r_bb000003", "r_cc"));
  writer.create_run(make_run("r_dd000004", "r"));
  const Reader reader(folder.store());
  EXPECT_EQ(reader.run("last").id, "r_dd000004");
  EXPECT_EQ(reader.run("r_bb").id, "r_bb000003");
  EXPECT_EQ(reader.run("r_cc").id, "r_bb000003") << "a name that no id begins with";
  EXPECT_EQ(reader.run("r").id, "r_dd000004") << "a name that reads like no id";
  for (const char* name : {"last", "r_", "r_74fb", "r_0123abcd"}) EXPECT_TRUE(is_reserved_name(name)) << name;
  for (const char* name : {"lasts", "r_74fbz", "r_0123abcd0", "r", "R_74fb", ""}) EXPECT_FALSE(is_reserved_name(name)) << name;
}

TEST(Store, ALostRunEndsWithItsLastSignOfLife) {
  TemporaryFolder folder;
  constexpr int64_t kBegin_ns = 1'000'000'000, kLastSign_ns = 1'700'000'000'000'000'000 + 7'000'000;
  {
    Writer writer(folder.store(), {});
    RunRecord run = make_run("r_00000001");
    run.created_unix_ns = run.started_unix_ns = kBegin_ns;
    writer.create_run(run);
    run.id = "r_00000002";
    writer.create_run(run);
    writer.append(log_line("r_00000001", 0, 6, "before"));
    writer.append(make_event("r_00000001", wire::Kind::heartbeat, 1, 7, {{"step", 3}, {"rss", 1}, {"cpu_seconds", 1.0}}));
  }
  EXPECT_EQ(Reader(folder.store()).last_sign_of_life_unix_ns("r_00000001"), kLastSign_ns);
  Writer writer(folder.store(), {});
  EXPECT_EQ(writer.mark_unfinished_as_lost("the daemon ended").size(), 2u);
  const Reader reader(folder.store());
  EXPECT_EQ(reader.run("r_00000001").ended_unix_ns, kLastSign_ns);
  EXPECT_EQ(reader.run("r_00000002").ended_unix_ns, kBegin_ns) << "nothing was heard of it";
}

TEST(Store, RefusesARunTwiceAndAStateOfNoRun) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  writer.create_run(make_run("r_00000001"));
  for (const auto& act : {std::function<void()>([&] { writer.create_run(make_run("r_00000001")); }),
                          std::function<void()>([&] { writer.set_state("r_00000009", RunState::lost, ""); }),
                          std::function<void()>([&] { writer.set_fingerprint("r_00000009", {}); })}) {
    try {
      act();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.parts().code, "RW-STORE-009");
      EXPECT_EQ(error.exit_code(), ExitCode::store);
    }
  }
  writer.set_state("r_00000001", RunState::finished, "");  // the writer lives on
}

TEST(Store, MarksUnfinishedRunsAsLost) {
  TemporaryFolder folder;
  {
    Writer writer(folder.store(), {});
    writer.create_run(make_run("r_00000001"));
    writer.create_run(make_run("r_00000002"));
    writer.set_state("r_00000001", RunState::finished, "");
  }
  Writer writer(folder.store(), {});
  EXPECT_THAT(writer.mark_unfinished_as_lost("the daemon ended"), ElementsAre("r_00000002"));
  EXPECT_TRUE(writer.mark_unfinished_as_lost("again").empty());
  const RunRecord lost = Reader(folder.store()).run("r_00000002");
  EXPECT_EQ(lost.state, RunState::lost);
  EXPECT_EQ(lost.reason, "the daemon ended");
  EXPECT_GT(lost.ended_unix_ns, 0);
}

// T29 (a): a step lower than the last one is kept, and read in step order.
TEST(Store, T29KeepsStepsThatComeOutOfOrder) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  writer.create_run(make_run("r_00000001"));
  uint64_t sequence = 0;
  for (const int64_t step : {1, 2, 4, 3, 5}) writer.append(metric("r_00000001", 0, ++sequence, step, "train/loss", static_cast<double>(step)));
  writer.flush();
  EXPECT_THAT(steps(Reader(folder.store()).metric("r_00000001", "train/loss")), ElementsAre(1, 2, 3, 4, 5));
}

// T29 (b): a resume opens a new segment; its values win, the earlier ones stay.
TEST(Store, T29AResumeOpensANewSegment) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  writer.create_run(make_run("r_00000001"));
  for (int64_t step = 1; step <= 212; ++step) writer.append(metric("r_00000001", 0, static_cast<uint64_t>(step), step, "train/loss", 1.0));
  writer.append(make_event("r_00000001", wire::Kind::event, -1, 0, {{"name", "run.segment"}, {"segment", 2}}));
  for (int64_t step = 201; step <= 220; ++step) writer.append(metric("r_00000001", 0, static_cast<uint64_t>(step - 200), step, "train/loss", 2.0));
  writer.flush();
  const Reader reader(folder.store());
  const std::vector<MetricPoint> points = reader.metric("r_00000001", "train/loss");
  ASSERT_EQ(points.size(), 220u);
  EXPECT_EQ(points[199].value, 1.0);
  for (size_t i = 200; i < 220; ++i) EXPECT_EQ(points[i].value, 2.0) << i;
  EXPECT_EQ(reader.counters("r_00000001").segment, 2);
  SQLite::Database database(folder.store().string());
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM metric").getInt(), 212 + 20);
}

// T29 (c), and what a restarted connection sends again: stored once, also over a restart of the daemon, and acknowledged each time.
TEST(Store, T29StoresTheSameSequenceNumberOnce) {
  TemporaryFolder folder;
  std::vector<uint64_t> seen;
  for (int start = 0; start < 2; ++start) {
    Writer writer(folder.store(), {[&](std::vector<wire::Event>& events) {
                                     for (const wire::Event& event : events) seen.push_back(event.node_sequence);
                                   },
                                   nullptr});
    if (start == 0) writer.create_run(make_run("r_00000001"));
    for (int i = 0; i < 2; ++i) {
      writer.append(metric("r_00000001", 0, 1, 1, "train/loss", 1.5));
      writer.append(log_line("r_00000001", 0, 2, "hello"));
      writer.append(log_line("r_00000001", 1, 1, "of the other rank"));
    }
  }
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  const Reader reader(folder.store());
  EXPECT_EQ(reader.metric("r_00000001", "train/loss").size(), 1u);
  EXPECT_EQ(reader.logs("r_00000001", 0, 100, false).size(), 2u);
  EXPECT_EQ(reader.counters("r_00000001").duplicates, 9);
  EXPECT_EQ(reader.counters("r_00000001").metrics_replaced, 0);
}

TEST(Store, KeepsASequenceNumberThatFillsAGap) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  writer.create_run(make_run("r_00000001"));
  for (const uint64_t sequence : {1, 2, 5, 4, 5, 3, 4, 1}) writer.append(log_line("r_00000001", 0, sequence, std::to_string(sequence)));
  writer.flush();
  std::vector<std::string> texts;
  for (const LogLine& line : Reader(folder.store()).logs("r_00000001", 0, 100, false)) texts.push_back(line.text);
  EXPECT_THAT(texts, ElementsAre("1", "2", "5", "4", "3"));
}

// T30: values that SQLite and JSON cannot hold come back as what they were.
TEST(Store, T30KeepsNanAndInfinities) {
  TemporaryFolder folder;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  Writer writer(folder.store(), {});
  writer.create_run(make_run("r_00000001"));
  const std::pair<int64_t, double> sent[] = {{1, kNan}, {1, kNan}, {2, kInfinity}, {3, -kInfinity}, {4, -0.0}, {5, 1e-45}};
  uint64_t sequence = 0;
  for (const auto& [step, value] : sent) writer.append(metric("r_00000001", 0, ++sequence, step, "train/loss", value));
  writer.flush();
  const Reader reader(folder.store());
  const std::vector<double> back = values(reader.metric("r_00000001", "train/loss"));
  ASSERT_EQ(back.size(), 5u);  // the NaN that came twice has one row, and is counted
  EXPECT_TRUE(std::isnan(back[0]));
  EXPECT_EQ(back[1], kInfinity);
  EXPECT_EQ(back[2], -kInfinity);
  EXPECT_EQ(back[3], 0.0);
  EXPECT_EQ(back[4], 1e-45);
  EXPECT_EQ(reader.counters("r_00000001").metrics_replaced, 1);
  EXPECT_EQ(reader.last_metric("r_00000001", "train/loss")->step, 5);
}

TEST(Store, T30NumbersPassThroughJson) {
  for (const double value : {1.5, -0.25, 1e-45, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()})
    EXPECT_EQ(metric_value_from_json(nlohmann::json::parse(metric_value_to_json(value).dump())), value);
  EXPECT_EQ(metric_value_to_json(std::nan("")).dump(), "\"NaN\"");
  EXPECT_TRUE(std::isnan(metric_value_from_json("NaN")));
  EXPECT_TRUE(std::isnan(metric_value_from_json(nullptr)));
  EXPECT_THROW(metric_value_from_json("nearly"), nlohmann::json::exception);
}

TEST(Store, KeepsTheRanksOfAMetricApart) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  writer.create_run(make_run("r_00000001"));
  for (int rank = 0; rank < 2; ++rank)
    for (int64_t step = 1; step <= 3; ++step)
      writer.append(
          metric("r_00000001", rank, static_cast<uint64_t>(step), step, "timing/train/total_step_time", rank * 10.0 + static_cast<double>(step)));
  writer.flush();
  const Reader reader(folder.store());
  EXPECT_THAT(values(reader.metric("r_00000001", "timing/train/total_step_time")), ElementsAre(1, 2, 3));
  EXPECT_THAT(values(reader.metric("r_00000001", "timing/train/total_step_time", 1, 1)), ElementsAre(12, 13));
  EXPECT_THAT(reader.metric_names("r_00000001"), ElementsAre("timing/train/total_step_time"));
  EXPECT_THAT(reader.metric_ranks("r_00000001", "timing/train/total_step_time"), ElementsAre(0, 1));
  EXPECT_EQ(reader.metric("r_00000001", "timing/train/total_step_time")[2].tokens, 3 * 1024);
  EXPECT_TRUE(reader.metric("r_00000001", "no/such").empty());
  EXPECT_TRUE(reader.metric("r_99999999", "timing/train/total_step_time").empty());
}

TEST(Store, StoresEveryKind) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  const std::string run = "r_00000001";
  writer.create_run(make_run(run));
  writer.append(log_line(run, 0, 1, "a line"));
  writer.append(make_event(run, wire::Kind::event, 0, 2, {{"name", "checkpoint.saved"}, {"path", "/there/step_5"}, {"step", 5}, {"bytes", 123}}));
  writer.append(make_event(run, wire::Kind::span, 1, 1, {{"phase", "forward"}, {"step", 5}, {"begin_ns", 100}, {"end_ns", 250}}));
  writer.append(make_event(run, wire::Kind::sample, 0, 3, {{"step", 5}, {"prompt", "2+2="}, {"reply", "4"}}));
  writer.append(make_event(run, wire::Kind::heartbeat, 0, 4, {{"step", 5}, {"resident_bytes", 2000}, {"cpu_seconds", 1.5}}));
  writer.append(make_event(run, wire::Kind::heartbeat, 0, 5, {{"step", 6}, {"resident_bytes", 1000}, {"cpu_seconds", 2.5}}));
  writer.append(make_event(run, static_cast<wire::Kind>(77), 0, 6, {{"from", "the future"}}));
  writer.append(make_event("", wire::Kind::event, -1, 0, {{"name", "daemon.started"}}));
  writer.flush();

  const Reader reader(folder.store());
  EXPECT_EQ(reader.logs(run, 0, 10, true).at(0).text, "a line");
  EXPECT_EQ(reader.checkpoints(run).at(0).path, "/there/step_5");
  EXPECT_EQ(reader.checkpoints(run).at(0).bytes, 123u);
  EXPECT_EQ(reader.spans(run, 5, 5).at(0).phase, "forward");
  EXPECT_EQ(reader.spans(run, 5, 5).at(0).end_ns, 250);
  EXPECT_TRUE(reader.spans(run, 6, 9).empty());
  EXPECT_EQ(reader.samples(run, 10).at(0).body.at("reply"), "4");
  EXPECT_EQ(reader.rank_statuses(run).at(0).resident_bytes, 1000u);
  EXPECT_EQ(reader.rank_statuses(run).at(0).resident_bytes_max, 2000u);
  EXPECT_EQ(reader.rank_statuses(run).at(0).step, 6);
  const std::vector<wire::Event> events = reader.run_events(run, 10);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(static_cast<int>(events[0].kind), 77);
  EXPECT_EQ(events[0].body.at("from"), "the future");
  EXPECT_EQ(reader.node_sequence(), 8u);
}

TEST(Store, FindsEventsByNameBehindManyOthers) {
  constexpr uint64_t kOthers = 10'001;
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  const std::string run = "r_00000001";
  writer.create_run(make_run(run));
  writer.append(make_event(run, wire::Kind::event, 0, 1, {{"name", "run.estimate"}, {"memory_bytes", 7}}));
  writer.append(make_event(run, wire::Kind::event, 0, 2, {{"name", "run.step_limit"}, {"steps", 50}}));
  for (uint64_t i = 0; i < kOthers; ++i) writer.append(make_event(run, wire::Kind::event, 0, 3 + i, {{"name", "data.batch"}}));
  writer.flush();
  const Reader reader(folder.store());
  const std::vector<wire::Event> one = reader.run_events(run, {"run.estimate"}, 1);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.front().body.at("memory_bytes"), 7);
  const std::vector<wire::Event> both = reader.run_events(run, {"run.estimate", "run.step_limit"}, 10);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both.front().body.at("steps"), 50) << "the newest is the first";
  EXPECT_EQ(reader.run_events(run, {"data.batch"}, 5).size(), 5U);
  EXPECT_TRUE(reader.run_events(run, {"run.estimat%"}, 5).empty());
  EXPECT_TRUE(reader.run_events(run, std::vector<std::string>(), 5).empty());
}

TEST(Store, KeepsAMalformedBodyRawAndGoesOn) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  const std::string run = "r_00000001";
  writer.create_run(make_run(run));
  writer.append(make_event(run, wire::Kind::metric, 0, 1, {{"step", 1}, {"points", {{"a", 1.0}, {"b", "no number"}}}}));
  writer.append(make_event(run, wire::Kind::metric, 0, 2, {{"points", {{"a", 1.0}}}}));
  writer.append(make_event(run, wire::Kind::log, 0, 3, {{"text", 5}}));
  writer.append(make_event(run, wire::Kind::log, 0, 4, {{"text", "bytes \xff\xfe are kept"}}));
  writer.append(metric(run, 0, 5, 2, "train/loss", 1.0));
  writer.flush();
  const Reader reader(folder.store());
  EXPECT_TRUE(reader.metric(run, "a").empty());
  EXPECT_EQ(reader.run_events(run, 10).size(), 3u);
  EXPECT_EQ(reader.logs(run, 0, 10, false).at(0).text, "bytes \xff\xfe are kept");
  EXPECT_EQ(reader.metric(run, "train/loss").size(), 1u);
}

TEST(Store, HandsOutCommittedEventsAndTheirRange) {
  TemporaryFolder folder;
  std::mutex mutex;
  std::vector<wire::Event> committed;
  Writer writer(folder.store(), {[&](std::vector<wire::Event>& events) {
                                   const std::lock_guard guard(mutex);
                                   committed.insert(committed.end(), events.begin(), events.end());
                                 },
                                 nullptr});
  writer.create_run(make_run("r_00000001"));
  for (uint64_t i = 1; i <= 100; ++i) writer.append(log_line("r_00000001", 0, i, "line " + std::to_string(i)));
  writer.flush();
  const std::lock_guard guard(mutex);
  ASSERT_EQ(committed.size(), 100u);
  for (size_t i = 0; i < committed.size(); ++i) EXPECT_EQ(committed[i].node_sequence, i + 1);
  EXPECT_EQ(writer.node_sequence(), 100u);
  const std::vector<wire::Event> range = Reader(folder.store()).events(11, 1000, 5);
  ASSERT_EQ(range.size(), 5u);
  EXPECT_EQ(range[0].node_sequence, 11u);
  EXPECT_EQ(range[0].run, "r_00000001");
  EXPECT_EQ(range[0].body, committed[10].body);
  EXPECT_EQ(range[0].time_unix_ns, committed[10].time_unix_ns);
}

TEST(Store, RotatesLogsAndCountsWhatWent) {
  TemporaryFolder folder;
  Limits limits;
  limits.logs_per_run_max = 128;
  limits.log_text_bytes_max = 10;
  Writer writer(folder.store(), {}, limits);
  writer.create_run(make_run("r_00000001"));
  writer.create_run(make_run("r_00000002"));
  writer.append(log_line("r_00000002", 0, 1, "of another run, which is left alone"));
  for (uint64_t i = 1; i <= 1000; ++i) writer.append(log_line("r_00000001", 0, i, std::to_string(i)));
  writer.flush();
  const Reader reader(folder.store());
  const std::vector<LogLine> lines = reader.logs("r_00000001", 0, 100'000, false);
  EXPECT_LE(lines.size(), 130u);
  EXPECT_GE(lines.size(), 128u);
  EXPECT_EQ(lines.back().text, "1000");
  EXPECT_EQ(reader.counters("r_00000001").logs_dropped, static_cast<int64_t>(1000 - lines.size()));
  EXPECT_EQ(reader.logs("r_00000001", 0, 3, true).at(0).text, "998");
  EXPECT_EQ(reader.logs("r_00000001", lines[5].node_sequence, 1, false).at(0).text, lines[6].text);
  EXPECT_EQ(reader.logs("r_00000002", 0, 3, true).at(0).text, "of another ... (25 bytes more)");
}

TEST(Store, PrunesTheJournalAndNothingElse) {
  TemporaryFolder folder;
  Limits limits;
  limits.journal_events_max = 100;
  {
    Writer writer(folder.store(), {}, limits);
    writer.create_run(make_run("r_00000001"));
    for (uint64_t i = 1; i <= 1000; ++i) writer.append(metric("r_00000001", 0, i, static_cast<int64_t>(i), "train/loss", 1.0));
    writer.flush();
  }
  const Reader reader(folder.store());
  EXPECT_EQ(reader.metric("r_00000001", "train/loss").size(), 1000u);
  EXPECT_EQ(reader.oldest_journal_sequence(), 901u);
  EXPECT_EQ(reader.events(1, 10'000, 10'000).size(), 100u);
  limits.journal_bytes_max = 2000;
  Writer writer(folder.store(), {}, limits);
  writer.append(log_line("r_00000001", 0, 1001, "one more"));
  writer.flush();
  const std::vector<wire::Event> kept = Reader(folder.store()).events(1, 10'000, 10'000);
  EXPECT_LT(kept.size(), 50u);
  ASSERT_FALSE(kept.empty());
  EXPECT_EQ(kept.back().node_sequence, 1001u);
  EXPECT_EQ(writer.node_sequence(), 1001u);
}

}  // namespace
}  // namespace ringwright::history
