// A writer that is killed at each failpoint: nothing that was acknowledged is lost, nothing is there twice, and the file fits together.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "shared/base/failpoint.h"
#include "shared/history/maintenance.h"
#include "tests/deep_tier.h"
#include "tests/shared/history/sample_history.h"
#include "tests/support/error_of.h"

namespace ringwright::history {
namespace {

using namespace testing;

constexpr const char* kRun = "r_00000001";
constexpr uint64_t kEvents = 400;

// As a worker numbers them: the same event for the same number, however often it is sent.
wire::Event event_of(uint64_t sequence) {
  if (sequence % 5 == 0) return log_line(kRun, 0, sequence, "line " + std::to_string(sequence));
  return metric(kRun, 0, sequence, static_cast<int64_t>(sequence), "train/loss", static_cast<double>(sequence));
}

void send_all(Writer& writer) {
  for (uint64_t sequence = 1; sequence <= kEvents; ++sequence) {
    writer.append(event_of(sequence));
    if (sequence % 16 == 0) writer.flush();
  }
  writer.flush();
}

// Runs `act` in a process of its own that the failpoint ends. False when it came to its end.
template <class Act>
bool killed_at(const std::string& place, Act act) {
  const pid_t child = ::fork();
  if (child == 0) {
    failpoints::arm(place);
    act();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0) << status;
  return WIFSIGNALED(status);
}

// The highest number that the child's hook was told, as it said on the pipe.
uint64_t last_acknowledged(int pipe_end) {
  uint64_t sequence = 0, acknowledged = 0;
  while (::read(pipe_end, &sequence, sizeof sequence) == sizeof sequence) acknowledged = std::max(acknowledged, sequence);
  return acknowledged;
}

bool kill_and_resume(const std::string& place) {
  const TemporaryFolder folder;
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const bool killed = killed_at(place, [&] {
    Writer writer(folder.store(), {[&](std::vector<wire::Event>& events) {
                                     for (const wire::Event& event : events)
                                       if (::write(ends[1], &event.worker_sequence, sizeof event.worker_sequence) < 0) ::_exit(1);
                                   },
                                   nullptr});
    writer.create_run(make_run(kRun));
    send_all(writer);
  });
  ::close(ends[1]);
  const uint64_t acknowledged = last_acknowledged(ends[0]);
  ::close(ends[0]);
  Writer writer(folder.store(), {});
  const auto rows = [&] {
    const Reader reader(folder.store());
    return reader.metric(kRun, "train/loss").size() + reader.logs(kRun, 0, 10 * kEvents, false).size();
  };
  if (acknowledged > 0) {
    EXPECT_GE(rows(), acknowledged);
    send_all(writer);  // as a worker would, that heard of no acknowledgement
    EXPECT_EQ(rows(), kEvents);
    const Reader reader(folder.store());
    const std::vector<MetricPoint> points = reader.metric(kRun, "train/loss");
    for (const MetricPoint& point : points) EXPECT_EQ(point.value, static_cast<double>(point.step));
    EXPECT_EQ(reader.node_sequence(), kEvents);
    EXPECT_EQ(reader.counters(kRun).metrics_replaced, 0);
  }
  const CheckReport report = check(folder.store(), false);
  EXPECT_TRUE(report.problems.empty()) << report.problems.front();
  return killed;
}

TEST(Failpoints, AKilledWriterLosesNothingThatItAcknowledged) {
  for (const char* place : {"history.in_batch", "history.before_commit", "history.after_commit"})
    for (int count = 1; count <= test::by_tier(12, 40); count += test::by_tier(count < 4 ? 1 : 4, 1)) {
      SCOPED_TRACE(::testing::Message() << place << ":" << count);
      kill_and_resume(std::string(place) + ":" + std::to_string(count));
    }
  EXPECT_TRUE(kill_and_resume("history.before_commit:9"));  // some of them are reached
  EXPECT_FALSE(kill_and_resume("history.before_commit:999"));
}

TEST(Failpoints, AKilledMigrationIsBegunAgain) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(RINGWRIGHT_SOURCE_DIR "/tests/data/history/schema_001.db", folder.store());
  EXPECT_TRUE(killed_at("history.migrate", [&] { Writer writer(folder.store(), {}); }));
  {
    Writer writer(folder.store(), {});
  }
  expect_sample_history(Reader(folder.store()));
  EXPECT_TRUE(check(folder.store(), false).problems.empty());
}

TEST(Failpoints, AreKnownByName) {
  for (const char* wrong : {"history.nowhere", "history.in_batch:", "history.in_batch:0", "history.in_batch:x", ":1"})
    EXPECT_EQ(test::error_of([&] { failpoints::arm(wrong); }).code, "RW-BASE-010") << wrong;
  failpoints::arm("history.in_batch:1000000");
  EXPECT_TRUE(failpoints::armed);
  failpoints::arm("");
  EXPECT_FALSE(failpoints::armed);
}

}  // namespace
}  // namespace ringwright::history
