// Consoles that are opened before a run, in the middle of it and after it show the same: all of them have one reducer.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <memory>
#include <set>

#include "console/gui/data/source.h"
#include "shared/base/paths.h"
#include "shared/history/activity.h"
#include "tests/support/daemon_process.h"

namespace ringwright::gui {
namespace {

using test::eventually;

// A console without a window.
class Opened {
 public:
  Opened() : source_(make_daemon_source(queue_)) {}
  ~Opened() {
    queue_.close();  // before the source, which may wait for room
    source_.reset();
  }
  const State& state() {
    for (Update& update : queue_.take(UpdateQueue::kUpdatesMax)) state_.apply(std::move(update));
    return state_;
  }
  std::shared_ptr<Run> run(const std::string& id) { return state().find(id); }
  void want(const std::string& id) {
    state_.mark_reading(id);
    source_->want_details(id);
  }

 private:
  UpdateQueue queue_;
  State state_;
  std::unique_ptr<Source> source_;
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void expect_same_series(const std::string& name, const Series& a, const Series& b) {
  ASSERT_EQ(a.size(), b.size()) << name;
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a.step(i), b.step(i)) << name;
    ASSERT_EQ(a.tokens(i), b.tokens(i)) << name;
    ASSERT_EQ(a.time_unix_ns(i), b.time_unix_ns(i)) << name;
    ASSERT_TRUE(same(a.value(i), b.value(i))) << name << " " << a.value(i) << " " << b.value(i);
  }
}

void expect_same_record(const history::RunRecord& a, const history::RunRecord& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.mesh, b.mesh);
  EXPECT_EQ(a.last_step, b.last_step);
  EXPECT_EQ(a.created_unix_ns, b.created_unix_ns);
  EXPECT_EQ(a.started_unix_ns, b.started_unix_ns) << "of the event and of the record";
  EXPECT_EQ(a.ended_unix_ns, b.ended_unix_ns);
}

void expect_same(const Run& a, const Run& b) {
  expect_same_record(a.record, b.record);
  ASSERT_EQ(a.metrics.size(), b.metrics.size());
  for (const auto& [name, series] : a.metrics) {
    ASSERT_TRUE(b.metrics.contains(name)) << name;
    expect_same_series(name, *series, *b.metrics.at(name));
    EXPECT_TRUE(same(a.latest.at(name).value, b.latest.at(name).value)) << name;
    EXPECT_EQ(a.latest.at(name).step, b.latest.at(name).step) << name;
  }
  ASSERT_EQ(a.logs.size(), b.logs.size());
  for (size_t i = 0; i < a.logs.size(); ++i) {
    EXPECT_EQ(a.logs[i].node_sequence, b.logs[i].node_sequence);
    EXPECT_EQ(a.logs[i].text, b.logs[i].text);
    EXPECT_EQ(a.logs[i].rank, b.logs[i].rank);
  }
}

class Replay : public ::testing::Test {
 protected:
  Replay() {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
    for (const char* name : {"XDG_RUNTIME_DIR", "XDG_STATE_HOME"}) ::setenv(name, folder_.path().c_str(), 1);
    test::DaemonOptions options;
    options.worker = "test_talk_worker";
    options.runtime_directory = paths::runtime_directory();
    options.store = paths::default_store();
    daemon_ = std::make_unique<test::DaemonProcess>(folder_, options);
  }
  static bool connected(Opened& console) {
    return eventually([&] { return console.state().link().state == LinkState::connected; });
  }
  // As far as the store, and with the run read.
  bool current(Opened& console, const std::string& run) {
    return eventually(
        [&] {
          const auto shown = console.run(run);
          return shown && shown->details == Loading::ready &&
                 console.state().link().node_sequence >= history::Reader(daemon_->store()).node_sequence();
        },
        60);
  }
  // The link's number comes with the next look at the stream; what it stands for has been applied by then.
  void expect_all_the_same(const std::string& run, std::vector<Opened*> consoles) {
    for (Opened* console : consoles) ASSERT_TRUE(current(*console, run));
    for (size_t i = 1; i < consoles.size(); ++i) expect_same(*consoles.front()->run(run), *consoles[i]->run(run));
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<test::DaemonProcess> daemon_;
};

TEST_F(Replay, EarlyMiddleAndLateConsolesShowTheSame) {
  Opened early;
  ASSERT_TRUE(connected(early));
  const nlohmann::json plan = {{"workers", 2},    {"points", 40'000}, {"names", 40},        {"nan_every", 50},      {"spike_every", 70},
                               {"log_every", 20}, {"spans", true},    {"sample_every", 30}, {"steps_per_s", 1000.0}};
  const std::string run = daemon_->request("run.launch", {{"talk", plan}}).at("run");
  ASSERT_TRUE(eventually([&] { return early.run(run) != nullptr; }));
  early.want(run);
  ASSERT_TRUE(eventually([&] { return early.run(run)->record.last_step > 100; }));
  Opened middle;
  ASSERT_TRUE(eventually([&] { return middle.run(run) != nullptr; }));
  middle.want(run);
  daemon_->request("run.pause", {{"run", run}});
  ASSERT_TRUE(eventually([&] { return early.run(run)->record.state == history::RunState::paused; }));
  EXPECT_TRUE(eventually([&] { return middle.run(run)->record.state == history::RunState::paused; }));
  daemon_->request("run.resume", {{"run", run}});
  ASSERT_EQ(daemon_->wait_for_end(run).state, history::RunState::finished);
  Opened late;
  ASSERT_TRUE(eventually([&] { return late.run(run) != nullptr; }));
  late.want(run);
  expect_all_the_same(run, {&early, &middle, &late});
  EXPECT_EQ(early.run(run)->metrics.size(), 40u);
  EXPECT_EQ(early.run(run)->metrics.at("talk/0")->size(), 1000u);
}

// What views of samples and spans show of a run, they show of the same run when a talk-only worker sends it again.
TEST_F(Replay, ARecordedRunThatIsSentAgainShowsTheSameSamplesAndSpans) {
  Opened console;
  ASSERT_TRUE(connected(console));
  const auto read_of = [&](const nlohmann::json& plan) {
    const std::string id = daemon_->request("run.launch", {{"talk", plan}}).at("run");
    EXPECT_EQ(daemon_->wait_for_end(id).state, history::RunState::finished);
    EXPECT_TRUE(eventually([&] { return console.run(id) != nullptr; }));
    console.want(id);
    EXPECT_TRUE(current(console, id));
    return console.run(id);
  };
  const auto first = read_of({{"workers", 2}, {"points", 12}, {"names", 1}, {"spans", true}, {"sample_every", 4}});
  const auto again = read_of({{"workers", 2}, {"from", daemon_->store().string()}, {"from_run", first->record.id}});
  ASSERT_EQ(first->parts.samples.size(), 2u * 3 * history::kActivities.size());
  ASSERT_EQ(again->parts.samples.size(), first->parts.samples.size());
  for (const history::Activity& activity : history::kActivities) {
    const auto bodies_of = [&](const gui::Run& run) {
      std::multiset<std::string> bodies;
      for (const size_t i : history::samples_at(run.parts.samples, std::nullopt, &activity)) bodies.insert(run.parts.samples[i].body.dump());
      return bodies;
    };
    EXPECT_EQ(bodies_of(*first).size(), 2u) << activity.name;
    EXPECT_EQ(bodies_of(*first), bodies_of(*again)) << activity.name;
    const auto before = history::phases_at(first->parts.spans, std::nullopt, &activity),
               after = history::phases_at(again->parts.spans, std::nullopt, &activity);
    ASSERT_TRUE(before && after) << activity.name;
    EXPECT_EQ(before->step, after->step);
    EXPECT_EQ(before->phases.front().longest_ns, after->phases.front().longest_ns);
    EXPECT_EQ(before->phases.front().mean_ns, after->phases.front().mean_ns);
  }
}

// T35: a console that takes nothing while a run passes has the same in the end, and the run is not held up.
TEST_F(Replay, T35AStalledConsoleShowsTheSameInTheEnd) {
  Opened stalled, watching;
  ASSERT_TRUE(connected(stalled));
  ASSERT_TRUE(connected(watching));
  const nlohmann::json plan = {{"workers", 1}, {"points", 80'000}, {"names", 1}, {"nan_every", 1000}};
  const std::string run = daemon_->request("run.launch", {{"talk", plan}}).at("run");
  ASSERT_TRUE(eventually([&] { return watching.run(run) != nullptr; }));
  watching.want(run);
  ASSERT_TRUE(eventually(
      [&] {
        watching.state();  // stalled.state() is not called
        return history::is_final(daemon_->record(run).state);
      },
      60));
  ASSERT_TRUE(eventually([&] { return stalled.run(run) != nullptr; }, 30));
  stalled.want(run);
  expect_all_the_same(run, {&watching, &stalled});
  EXPECT_EQ(stalled.run(run)->metrics.at("talk/0")->size(), 80'000u);
}

}  // namespace
}  // namespace ringwright::gui
