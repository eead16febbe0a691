// A disk that fails at the k-th call, for every k of a short script: nothing that was acknowledged is lost, nothing is there twice.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "tests/deep_tier.h"
#include "tests/shared/history/faulty_vfs.h"
#include "tests/shared/history/temporary_store.h"
#include "tests/support/eventually.h"

namespace ringwright::history {
namespace {

using namespace testing;

constexpr const char* kRun = "r_00000001";
constexpr int kSteps = 12;
constexpr int kFailuresBeforeHealing = 3;

Limits quick_limits() {
  Limits limits;
  limits.retry_ms = 1;
  limits.lock_wait_ms_max = 1;
  limits.journal_events_max = 10;
  return limits;
}

// Opening, or recording a run, may be refused; the caller tries again as an operator would.
template <class Act>
bool refused(Act act) {
  try {
    act();
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::store) << error.what();
    EXPECT_TRUE(error.parts().code == "RW-STORE-001" || error.parts().code == "RW-STORE-004" || error.parts().code == "RW-STORE-007")
        << error.parts().code << " " << error.what();
    return true;
  }
}

// Everything that a run's life writes, through a disk that fails now and then.
void run_script(const std::filesystem::path& file, FaultyVfs& disk, std::vector<uint64_t>& acknowledged) {
  std::atomic<int> failures{0};
  const Writer::Hooks hooks{[&](std::vector<wire::Event>& events) {
                              for (const wire::Event& event : events) acknowledged.push_back(event.node_sequence);
                            },
                            [&](const ErrorParts&) {
                              if (++failures >= kFailuresBeforeHealing) disk.heal();
                            }};
  std::optional<Writer> writer;
  if (refused([&] { writer.emplace(file, hooks, quick_limits()); })) {
    disk.heal();
    writer.emplace(file, hooks, quick_limits());
  }
  if (refused([&] { writer->create_run(make_run(kRun)); })) {
    disk.heal();  // which the writer finds out by itself
    ASSERT_TRUE(test::eventually([&] { return !refused([&] { writer->create_run(make_run(kRun)); }); }, 10));
  }
  uint64_t sequence = 0;
  for (int64_t step = 1; step <= kSteps; ++step) {
    writer->append(metric(kRun, 0, ++sequence, step, "train/loss", static_cast<double>(step)));
    writer->append(log_line(kRun, 0, ++sequence, std::string(3000, 'x')));
    writer->append(make_event(kRun, wire::Kind::event, -1, 0, {{"name", "own"}, {"step", step}}));
    if (step % 4 == 0) writer->flush();
  }
  refused([&] { writer->set_state(kRun, RunState::finished, ""); });  // is tried again by itself
  writer->flush();
}

void expect_all_once(const std::filesystem::path& file, const std::vector<uint64_t>& acknowledged) {
  ASSERT_EQ(acknowledged.size(), static_cast<size_t>(3 * kSteps));
  for (size_t i = 0; i < acknowledged.size(); ++i) ASSERT_EQ(acknowledged[i], i + 1);
  const Reader reader(file);
  EXPECT_EQ(reader.run(kRun).state, RunState::finished);
  EXPECT_EQ(reader.metric(kRun, "train/loss").size(), static_cast<size_t>(kSteps));
  EXPECT_EQ(reader.logs(kRun, 0, 1000, false).size(), static_cast<size_t>(kSteps));
  EXPECT_EQ(reader.run_events(kRun, 1000).size(), static_cast<size_t>(kSteps));
  EXPECT_EQ(reader.metric_summaries(kRun).at(0).finite, kSteps);
  EXPECT_EQ(reader.counters(kRun).duplicates, 0);
  EXPECT_EQ(SQLite::Database(file.string()).execAndGet("PRAGMA integrity_check").getString(), "ok");
}

// False when the script was over before the k-th call.
bool script_with_fault(int64_t k, FaultyVfs::Kind kind, bool lasting) {
  const TemporaryFolder folder;
  std::vector<uint64_t> acknowledged;
  bool reached;
  {
    FaultyVfs disk;
    disk.fail_at(k, kind, lasting);
    run_script(folder.store(), disk, acknowledged);
    reached = disk.has_failed();
  }
  expect_all_once(folder.store(), acknowledged);
  return reached;
}

class StoreDisk : public ::testing::TestWithParam<std::tuple<FaultyVfs::Kind, bool>> {};

TEST_P(StoreDisk, AFaultAtEveryCallLosesNothing) {
  const auto [kind, lasting] = GetParam();
  int64_t k = 1;
  for (; !::testing::Test::HasFailure(); k += test::by_tier(k < 60 ? 1 : 3, 1)) {
    SCOPED_TRACE(::testing::Message() << "call " << k);
    if (!script_with_fault(k, kind, lasting)) break;
  }
  EXPECT_GT(k, kind == FaultyVfs::Kind::read_error ? 10 : 60);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StoreDisk, ::testing::Combine(::testing::ValuesIn(kFaultKinds), ::testing::Bool()),
                         [](const auto& info) { return name_of(std::get<0>(info.param)) + (std::get<1>(info.param) ? "Lasting" : "Once"); });

}  // namespace
}  // namespace ringwright::history
