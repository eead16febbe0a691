// A disk that fails at the k-th call while a history is changed by hand, cleaned up or migrated: the change is made whole or not at all, and can be
// made afterwards.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "shared/history/database.h"
#include "shared/history/edits.h"
#include "shared/history/maintenance.h"
#include "tests/deep_tier.h"
#include "tests/shared/history/faulty_vfs.h"
#include "tests/shared/history/sample_history.h"

namespace ringwright::history {
namespace {

using namespace testing;
namespace fs = std::filesystem;

constexpr const char* kImported = "r_0000000a";

struct Work {
  const char* name;
  void (*prepare)(const fs::path&);
  void (*act)(const fs::path&);
  bool (*is_done)(const fs::path&);  // false: all is as it was before; anything between fails the test
};

const fs::path& sample() {
  static const TemporaryFolder folder;
  static const fs::path file = [] {
    write_sample_history(folder.store());
    SQLite::Database(folder.store(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return folder.store();
  }();
  return file;
}
void take_sample(const fs::path& file) { fs::copy_file(sample(), file); }

bool has_run(const fs::path& file, const std::string& id) {
  const std::vector<RunRecord> runs = Reader(file).runs();
  return std::any_of(runs.begin(), runs.end(), [&](const RunRecord& run) { return run.id == id; });
}

void import_run(const fs::path& file) {
  RunRecord run = make_run(kImported, "imported");
  run.state = RunState::finished;
  std::vector<MetricPoint> points;
  for (int64_t step = 1; step <= 500; ++step) points.push_back({step, 1.0 / static_cast<double>(step), -1, step, 0});
  Editor(file).import_run(run, [&](RunImport& into) {
    into.add_segment({1, std::nullopt, 0});
    into.add_points("train/loss", 0, 1, points);
    into.add_tag("from elsewhere");
  });
}
bool is_imported(const fs::path& file) {
  if (!has_run(file, kImported)) return false;
  const Reader reader(file);
  EXPECT_EQ(reader.metric(kImported, "train/loss").size(), 500U);
  EXPECT_EQ(reader.run(kImported).tags, std::vector<std::string>{"from elsewhere"});
  return true;
}

void remove_run(const fs::path& file) { Editor(file).delete_run(kFinishedRun); }
bool is_removed(const fs::path& file) {
  if (!has_run(file, kFinishedRun)) return true;
  expect_finished_run(Reader(file));
  return false;
}

void tag(const fs::path& file) { Editor(file).add_tag(kFinishedRun, "good"); }
bool is_tagged(const fs::path& file) { return Reader(file).run(kFinishedRun).tags == std::vector<std::string>{"good"}; }

void take_sample_with_room(const fs::path& file) {
  take_sample(file);
  remove_run(file);
}
void clean_up(const fs::path& file) { vacuum(file); }
bool is_clean(const fs::path& file) {
  EXPECT_EQ(Reader(file).metric(kResumedRun, "train/loss").size(), 220U);
  return SQLite::Database(file.string()).execAndGet("PRAGMA freelist_count").getInt() == 0;
}

void take_released(const fs::path& file) {
  fs::copy_file(RINGWRIGHT_SOURCE_DIR "/tests/data/history/schema_001.db", file);
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
}
void migrate(const fs::path& file) { Writer writer(file, {}); }
bool is_migrated(const fs::path& file) {
  const int version = SQLite::Database(file.string()).execAndGet("PRAGMA user_version").getInt();
  EXPECT_TRUE(version == 1 || version == newest_schema()) << version;
  if (version == newest_schema()) expect_sample_history(Reader(file));
  return version == newest_schema();
}

constexpr Work kWorks[] = {{"Import", take_sample, import_run, is_imported},
                           {"Delete", take_sample, remove_run, is_removed},
                           {"Tag", take_sample, tag, is_tagged},
                           {"Vacuum", take_sample_with_room, clean_up, is_clean},
                           {"Migration", take_released, migrate, is_migrated}};

// Whether it was done without an error.
bool succeeded(const Work& work, const fs::path& file) {
  try {
    work.act(file);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::store) << error.what();
    return false;
  }
}

// False when the work was over before the k-th call.
bool work_with_fault(const Work& work, int64_t k, FaultyVfs::Kind kind, bool lasting) {
  const TemporaryFolder folder("/dev/shm");  // nothing here waits for a disk
  work.prepare(folder.store());
  bool reached, told_done;
  {
    FaultyVfs disk;
    disk.fail_at(k, kind, lasting);
    told_done = succeeded(work, folder.store());
    reached = disk.has_failed();
  }
  const bool is_done = work.is_done(folder.store());
  EXPECT_TRUE(is_done || !told_done) << "it was said to be done";
  if (!is_done) {
    EXPECT_TRUE(succeeded(work, folder.store())) << "it cannot be done any more";
  }
  EXPECT_TRUE(work.is_done(folder.store()));
  EXPECT_EQ(SQLite::Database(folder.store().string()).execAndGet("PRAGMA integrity_check").getString(), "ok");
  const CheckReport report = check(folder.store(), false);
  EXPECT_TRUE(report.problems.empty()) << report.problems.front();
  return reached;
}

class EditsDisk : public ::testing::TestWithParam<std::tuple<Work, FaultyVfs::Kind, bool>> {};

TEST_P(EditsDisk, AFaultAtEveryCallLeavesAllOrNothing) {
  const auto& [work, kind, lasting] = GetParam();
  int64_t k = 1;
  for (; !::testing::Test::HasFailure(); k += test::by_tier<int64_t>(k < 4 ? 1 : 1 + k / 2, 1)) {
    SCOPED_TRACE(::testing::Message() << "call " << k);
    if (!work_with_fault(work, k, kind, lasting)) break;
  }
  EXPECT_GT(k, 4);
}

INSTANTIATE_TEST_SUITE_P(Works, EditsDisk, ::testing::Combine(::testing::ValuesIn(kWorks), ::testing::ValuesIn(kFaultKinds), ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + name_of(std::get<1>(info.param)) +
                                  (std::get<2>(info.param) ? "Lasting" : "Once");
                         });

}  // namespace
}  // namespace ringwright::history
