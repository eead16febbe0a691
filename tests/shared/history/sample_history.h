// A small history that has a row of everything, and what must be read from it whichever release wrote it (tests/data/history/README.md).
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/shared/history/temporary_store.h"

namespace ringwright::history::testing {

inline constexpr const char* kFinishedRun = "r_00000001";
inline constexpr const char* kResumedRun = "r_00000002";
inline constexpr const char* kOpenRun = "r_00000003";

inline double sample_loss(int64_t step) {
  if (step == 10 || step == 11) return std::numeric_limits<double>::quiet_NaN();
  if (step == 20) return std::numeric_limits<double>::infinity();
  if (step == 30) return -std::numeric_limits<double>::infinity();
  return step == 77 ? 1000.0 : 1.0 / static_cast<double>(step);
}

inline void fill_finished_run(Writer& writer) {
  RunRecord run = make_run(kFinishedRun, "finished");
  run.created_unix_ns = 1'700'000'000'000'000'000;
  run.state = RunState::queued;
  writer.create_run(run);
  writer.set_fingerprint(run.id, {{"node", "here"}, {"libraries", {{"sqlite", "3.40.1"}}}});
  writer.set_state(run.id, RunState::running, "");
  uint64_t sequence = 0;
  for (int64_t step = 1; step <= 200; ++step) writer.append(metric(run.id, 0, ++sequence, step, "train/loss", sample_loss(step)));
  for (int64_t step = 1; step <= 5; ++step) writer.append(metric(run.id, 1, static_cast<uint64_t>(step), step, "time/step", 0.5));
  writer.append(metric(run.id, 0, 1, 1, "train/loss", 5.0));              // came before
  writer.append(metric(run.id, 0, ++sequence, 200, "train/loss", 0.25));  // another value for step 200
  writer.append(make_event(run.id, wire::Kind::event, 1, 6, {{"name", "fingerprint"}, {"libtorch", "2.11.0"}}));
  writer.append(log_line(run.id, 0, ++sequence, "a line of rank 0"));
  writer.append(log_line(run.id, 1, 7, "a line of rank 1"));
  writer.append(make_event(run.id, wire::Kind::event, 0, ++sequence,
                           {{"name", "checkpoint.saved"}, {"path", "/there/step_200"}, {"step", 200}, {"bytes", 123}}));
  writer.append(make_event(run.id, wire::Kind::span, 1, 8, {{"phase", "forward"}, {"step", 5}, {"begin_ns", 100}, {"end_ns", 250}}));
  writer.append(make_event(run.id, wire::Kind::sample, 0, ++sequence, {{"step", 5}, {"prompt", "2+2="}, {"reply", "4"}}));
  writer.append(make_event(run.id, wire::Kind::heartbeat, 0, ++sequence, {{"step", 200}, {"resident_bytes", 2000}, {"cpu_seconds", 1.5}}));
  writer.append(make_event(run.id, static_cast<wire::Kind>(77), 0, ++sequence, {{"from", "the future"}}));
  writer.flush();
  writer.set_state(run.id, RunState::failed, "rank 1 was killed by signal 9", 1);
}

inline void fill_resumed_run(Writer& writer) {
  writer.create_run(make_run(kResumedRun, "resumed"));
  for (int64_t step = 1; step <= 212; ++step) writer.append(metric(kResumedRun, 0, static_cast<uint64_t>(step), step, "train/loss", 1.0));
  writer.append(make_event(kResumedRun, wire::Kind::event, -1, 0, {{"name", "run.segment"}, {"segment", 2}}));
  for (int64_t step = 201; step <= 220; ++step) writer.append(metric(kResumedRun, 0, static_cast<uint64_t>(step - 200), step, "train/loss", 2.0));
  writer.flush();
  writer.set_state(kResumedRun, RunState::finished, "");
}

inline void write_sample_history(const std::filesystem::path& file) {
  Limits limits;
  limits.journal_events_max = 20;
  Writer writer(file, {}, limits);
  fill_finished_run(writer);
  fill_resumed_run(writer);
  writer.create_run(make_run(kOpenRun, "open"));
  writer.flush();
}

inline void expect_finished_run(const Reader& reader) {
  const RunRecord run = reader.run(kFinishedRun), made = make_run(kFinishedRun, "finished");
  EXPECT_EQ(run.name, "finished");
  EXPECT_EQ(run.state, RunState::failed);
  EXPECT_EQ(run.reason, "rank 1 was killed by signal 9");
  EXPECT_EQ(run.failed_rank, 1);
  EXPECT_EQ(run.created_unix_ns, 1'700'000'000'000'000'000);
  EXPECT_GT(run.started_unix_ns, 0);
  EXPECT_GE(run.ended_unix_ns, run.started_unix_ns);
  EXPECT_EQ(run.world_size, 2);
  EXPECT_EQ(run.mesh, made.mesh);
  EXPECT_EQ(run.recipe, made.recipe);
  EXPECT_EQ(run.recipe_text, made.recipe_text);
  EXPECT_EQ(run.recipe_path, made.recipe_path);
  EXPECT_EQ(run.overrides, made.overrides);
  EXPECT_EQ(run.fingerprint.at("node"), "here");
  EXPECT_EQ(run.fingerprint.at("workers").at("rank 1").at("libtorch"), "2.11.0");
  EXPECT_EQ(run.last_step, 200);
  EXPECT_EQ(reader.counters(run.id).duplicates, 1);
  EXPECT_EQ(reader.counters(run.id).metrics_replaced, 1);

  const std::vector<MetricPoint> points = reader.metric(run.id, "train/loss");
  ASSERT_EQ(points.size(), 200u);
  for (const MetricPoint& point : points) {
    const double expected = point.step == 200 ? 0.25 : sample_loss(point.step);
    EXPECT_TRUE(point.value == expected || (std::isnan(point.value) && std::isnan(expected))) << point.step;
    EXPECT_EQ(point.tokens, point.step * 1024);
    EXPECT_EQ(point.time_unix_ns, metric(run.id, 0, static_cast<uint64_t>(point.step == 200 ? 201 : point.step), 0, "", 0).time_unix_ns);
  }
  EXPECT_EQ(reader.metric(run.id, "time/step", 1).size(), 5u);
  EXPECT_EQ(reader.metric_names(run.id), (std::vector<std::string>{"time/step", "train/loss"}));
  EXPECT_EQ(reader.logs(run.id, 0, 10, false).size(), 2u);
  EXPECT_EQ(reader.checkpoints(run.id).at(0).path, "/there/step_200");
  EXPECT_EQ(reader.spans(run.id, 5, 5).at(0).end_ns, 250);
  EXPECT_EQ(reader.samples(run.id, 10).at(0).body.at("reply"), "4");
  EXPECT_EQ(reader.rank_statuses(run.id).at(0).resident_bytes_max, 2000u);
  const std::vector<wire::Event> events = reader.run_events(run.id, 10);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].body.at("from"), "the future");
}

inline void expect_sample_history(const Reader& reader) {
  expect_finished_run(reader);
  const std::vector<MetricPoint> points = reader.metric(kResumedRun, "train/loss");
  ASSERT_EQ(points.size(), 220u);
  EXPECT_EQ(points[199].value, 1.0);
  EXPECT_EQ(points[200].value, 2.0);
  EXPECT_EQ(reader.run(kResumedRun).state, RunState::finished);
  EXPECT_EQ(reader.run(kOpenRun).state, RunState::running);
  EXPECT_EQ(reader.counters(kResumedRun).segment, 2);
  EXPECT_EQ(reader.node_sequence(), 447u);
  EXPECT_EQ(reader.events(1, 10'000, 100).back().node_sequence, 447u);
}

}  // namespace ringwright::history::testing
