// What a talk-only worker would send.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "daemon/worker/runtime/made_up_series.h"
#include "daemon/worker/runtime/made_up_step.h"
#include "daemon/worker/runtime/talk_recording.h"
#include "shared/history/activity.h"
#include "shared/history/store.h"
#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::worker {
namespace {

using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MadeUpSeries, AreTheSameAtEachStartAndOfEachRankTheirOwn) {
  const wire::TalkPlan plan{.points = 1, .seed = 3};
  wire::TalkPlan other = plan;
  other.seed = 4;
  EXPECT_EQ(MadeUpSeries(plan, 0).value(5, 100), MadeUpSeries(plan, 0).value(5, 100));
  EXPECT_NE(MadeUpSeries(plan, 0).value(5, 100), MadeUpSeries(plan, 1).value(5, 100));
  EXPECT_NE(MadeUpSeries(plan, 0).value(5, 100), MadeUpSeries(other, 0).value(5, 100));
}

TEST(MadeUpSeries, AreOddAsOftenAsAskedFor) {
  const MadeUpSeries series({.points = 1, .nan_every = 100, .spike_every = 50}, 0);
  for (const uint64_t metric : {0, 1, 4, 31}) {
    int spikes = 0, nan = 0, infinite = 0;
    for (int64_t step = 1; step <= 300; ++step) {
      const double value = series.value(metric, step);
      nan += std::isnan(value);
      infinite += std::isinf(value);
      spikes += std::isfinite(value) && std::abs(value) >= 1000;
    }
    EXPECT_EQ(nan, 1) << metric;
    EXPECT_EQ(infinite, 2) << metric;
    EXPECT_EQ(spikes, 3) << metric << ": half of them were NaN's steps";
  }
  const MadeUpSeries plain({.points = 1}, 0);
  for (int64_t step = 1; step <= 1000; ++step) EXPECT_LT(std::abs(plain.value(1, step)), 1000);
}

TEST(MadeUpStep, HasSpansAndSamplesOfEachActivity) {
  std::vector<history::SpanRecord> spans;
  std::vector<history::SampleRecord> samples;
  for (int rank = 0; rank < 4; ++rank) {
    for (const MadeUpSpan& span : made_up_spans(rank, 7, 1000)) spans.push_back({rank, 7, std::string(span.phase), span.begin_ns, span.end_ns});
    for (nlohmann::json& body : made_up_samples(rank, 7)) samples.push_back({7, rank, std::move(body)});
  }
  for (const history::Activity& activity : history::kActivities) {
    EXPECT_EQ(history::samples_at(samples, std::nullopt, &activity).size(), 4u) << activity.name;
    const auto phases = history::phases_at(spans, std::nullopt, &activity);
    ASSERT_TRUE(phases) << activity.name;
    EXPECT_EQ(phases->phases.front().longest_rank, 1) << "7 + 1 is a multiple of 4";
    EXPECT_LT(phases->phases.front().mean_ns, phases->phases.front().longest_ns);
  }
  int64_t end_ns = 0;
  for (const MadeUpSpan& span : made_up_spans(0, 7, 1000)) {
    EXPECT_GE(span.begin_ns, end_ns) << "one after another";
    end_ns = span.end_ns;
  }
}

history::RunRecord run_of_two_ranks() {
  history::RunRecord run;
  run.id = "r_00000001";
  run.name = "first";
  run.algorithm = "sft";
  run.world_size = 2;
  run.created_unix_ns = 1;
  run.mesh = run.recipe = nlohmann::json::object();
  return run;
}

wire::Event event_of(wire::Kind kind, int rank, uint64_t sequence, int64_t time_unix_ns, nlohmann::json body) {
  return {"r_00000001", kind, rank, sequence, 0, time_unix_ns, std::move(body)};
}

void record(const std::filesystem::path& store) {
  history::Writer writer(store, {});
  writer.create_run(run_of_two_ranks());
  const double infinite = std::numeric_limits<double>::infinity();
  writer.append(event_of(wire::Kind::event, 0, 1, 10, {{"name", "run.step_limit"}, {"steps", 2}}));
  writer.append(event_of(wire::Kind::metric, 0, 2, 20, {{"step", 1}, {"tokens", 5}, {"points", {{"a", 1.5}, {"b", std::nan("")}}}}));
  writer.append(event_of(wire::Kind::log, 0, 3, 30, {{"level", "warn"}, {"text", "careful"}}));
  writer.append(event_of(wire::Kind::span, 0, 4, 40, {{"phase", "forward"}, {"step", 1}, {"begin_ns", 21}, {"end_ns", 40}}));
  writer.append(event_of(wire::Kind::metric, 0, 5, 50, {{"step", 2}, {"tokens", 10}, {"points", {{"a", infinite}}}}));
  writer.append(event_of(wire::Kind::sample, 0, 6, 60, {{"step", 2}, {"prompt", "p"}, {"reply", "r"}}));
  writer.append(event_of(wire::Kind::metric, 1, 1, 20, {{"step", 1}, {"tokens", 5}, {"points", {{"a", 7.0}}}}));
  writer.append(event_of(wire::Kind::event, 0, 7, 70, {{"name", "fingerprint"}, {"node", "x"}}));
  writer.flush();
}

TEST(Recording, OfAHistoryIsWhatEachRankSent) {
  const TemporaryFolder folder;
  record(folder / "history.db");
  const wire::TalkPlan plan{.from = (folder / "history.db").string()};
  const Recording first = read_recording(plan, 0);
  EXPECT_EQ(first.rank_count, 2);
  std::vector<wire::Kind> kinds;
  for (const wire::Event& event : first.events) kinds.push_back(event.kind);
  EXPECT_THAT(kinds, ElementsAre(wire::Kind::event, wire::Kind::metric, wire::Kind::log, wire::Kind::span, wire::Kind::metric, wire::Kind::sample))
      << "a fingerprint is not that of this machine";
  EXPECT_EQ(first.events[1].body["points"]["a"], 1.5);
  EXPECT_TRUE(std::isnan(first.events[1].body["points"]["b"].get<double>()));
  EXPECT_TRUE(std::isinf(first.events[4].body["points"]["a"].get<double>()));
  EXPECT_EQ(first.events[4].body["tokens"], 10);
  EXPECT_EQ(first.events[5].body["reply"], "r");
  EXPECT_EQ(read_recording(plan, 1).events.size(), 1u);
  EXPECT_EQ(read_recording(plan, 2).events.size(), 6u) << "a third talker repeats the first rank";
}

TEST(Recording, OfAnExportIsTheSame) {
  const TemporaryFolder folder;
  const auto file = folder.write("run.jsonl", R"({"type":"run","id":"r_1","world_size":2})"
                                              "\n"
                                              R"({"type":"metric","metric":"a","step":1,"value":1.5,"tokens":5,"time_unix_ns":20,"rank":0})"
                                              "\n"
                                              R"({"type":"metric","metric":"a","step":1,"value":7.0,"tokens":5,"time_unix_ns":20,"rank":1})"
                                              "\n"
                                              R"({"type":"metric","metric":"b","step":1,"value":"NaN","tokens":5,"time_unix_ns":20,"rank":0})"
                                              "\n"
                                              R"({"type":"checkpoint","step":1,"path":"/x","bytes":3,"time_unix_ns":40})"
                                              "\n"
                                              R"({"type":"sample","step":1,"rank":0,"body":{"step":1,"kind":"rollout","reply":"r"}})"
                                              "\n"
                                              R"({"type":"sample","step":1,"rank":1,"body":{"step":1,"reply":"of another rank"}})"
                                              "\n"
                                              R"({"type":"span","step":1,"rank":0,"phase":"rollout","begin_ns":12,"end_ns":15})"
                                              "\n"
                                              R"({"type":"later","x":1})"
                                              "\n"
                                              R"({"type":"log","level":"info","text":"hello","rank":0,"time_unix_ns":10})"
                                              "\n");
  const Recording recording = read_recording({.from = file.string()}, 0);
  ASSERT_EQ(recording.events.size(), 5u);
  EXPECT_EQ(recording.events[0].body["text"], "hello");
  EXPECT_EQ(recording.events[1].body["phase"], "rollout");
  EXPECT_EQ(recording.events[2].body["points"].size(), 2u);
  EXPECT_EQ(recording.events[3].body["reply"], "r") << "a sample follows the points of its step";
  EXPECT_EQ(recording.events[4].body["name"], "checkpoint.saved");
  EXPECT_EQ(recording.rows_skipped, 1u);
}

// Since exports have the events, a checkpoint is not told twice, and what is of the recorded run alone is not told at all.
TEST(Recording, OfAnExportWithEventsHasEachOnce) {
  const TemporaryFolder folder;
  const auto file = folder.write("run.jsonl", R"({"type":"run","id":"r_1","world_size":1,"export_version":2})"
                                              "\n"
                                              R"({"type":"event","kind_number":3,"rank":0,"time_unix_ns":40,"body":{"name":"checkpoint.saved"}})"
                                              "\n"
                                              R"({"type":"event","kind_number":3,"rank":-1,"time_unix_ns":41,"body":{"name":"run.state"}})"
                                              "\n"
                                              R"({"type":"checkpoint","step":1,"path":"/x","bytes":3,"time_unix_ns":40})"
                                              "\n"
                                              R"({"type":"note","author":"a","text":"n","time_unix_ns":1})"
                                              "\n"
                                              R"({"type":"end","lines":5})"
                                              "\n");
  const Recording recording = read_recording({.from = file.string()}, 0);
  ASSERT_EQ(recording.events.size(), 1u);
  EXPECT_EQ(recording.events[0].body["name"], "checkpoint.saved");
  EXPECT_EQ(recording.rows_skipped, 0u);
}

TEST(Recording, WhatIsNoneIsRefusedWithItsPlace) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& file) { return test::error_of([&] { read_recording({.from = file}, 0); }); };
  EXPECT_EQ(refused((folder / "gone").string()).code, "RW-TALK-002");
  EXPECT_EQ(refused(folder.path().string()).code, "RW-TALK-002");
  EXPECT_EQ(refused(folder.write("text", "no json").string()).code, "RW-TALK-002");
  const ErrorParts damaged = refused(folder.write("damaged.jsonl", "{\"type\":\"run\"}\n{\"type\":\"metric\"}\n").string());
  EXPECT_EQ(damaged.code, "RW-TALK-002");
  EXPECT_THAT(damaged.where, HasSubstr("damaged.jsonl:2"));
}

}  // namespace
}  // namespace ringwright::worker
