#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>

#include "shared/history/ownership.h"
#include "tests/shared/history/temporary_store.h"
#include "tests/support/error_of.h"
#include "tests/support/eventually.h"

namespace ringwright::history {
namespace {

using namespace testing;
using ::testing::HasSubstr;

// What the writer's hook was told.
class Failures {
 public:
  Writer::Hooks hooks() {
    Writer::Hooks hooks;
    hooks.failed = [this](const ErrorParts& parts) {
      const std::lock_guard guard(mutex_);
      last_ = parts;
    };
    return hooks;
  }
  ErrorParts last() const {
    const std::lock_guard guard(mutex_);
    return last_;
  }

 private:
  mutable std::mutex mutex_;
  ErrorParts last_;
};

TEST(Ownership, ADeletedHistoryIsReportedAndNotWrittenSilently) {
  TemporaryFolder folder;
  Failures failures;
  Writer writer(folder.store(), failures.hooks());
  writer.create_run(make_run("r_00000001"));
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(folder.store().string() + end);
  const ErrorParts state = test::error_of([&] { writer.set_state("r_00000001", RunState::finished, ""); });
  EXPECT_EQ(state.code, kFileDeleted);
  EXPECT_EQ(state.exit_code, ExitCode::store);
  EXPECT_TRUE(is_permanent(state));
  EXPECT_TRUE(test::eventually([&] { return failures.last().code == kFileDeleted; })) << failures.last().code;
  EXPECT_EQ(test::error_of([&] { writer.create_run(make_run("r_00000002")); }).code, kFileDeleted);
}

TEST(Ownership, AHistoryThatIsMovedBackIsWrittenAgain) {
  TemporaryFolder folder;
  Failures failures;
  Writer writer(folder.store(), failures.hooks());
  writer.create_run(make_run("r_00000001"));
  const std::filesystem::path elsewhere = folder.path() / "elsewhere.db";
  std::filesystem::rename(folder.store(), elsewhere);
  writer.append(log_line("r_00000001", 0, 1, "kept"));
  ASSERT_TRUE(test::eventually([&] { return failures.last().code == kFileMoved; })) << failures.last().code;
  EXPECT_FALSE(is_permanent(failures.last()));
  std::filesystem::rename(elsewhere, folder.store());
  writer.flush();
  EXPECT_EQ(Reader(folder.store()).logs("r_00000001", 0, 10, false).size(), 1u);
}

// In a process of its own, as another daemon would be.
TEST(Ownership, ASecondWriterIsRefusedAlsoWhenTheLockFileIsGone) {
  TemporaryFolder folder;
  const Writer writer(folder.store(), {});
  std::filesystem::remove(folder.store().string() + ".lock");
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const Writer second(folder.store(), {});
    } catch (const Error& error) {
      ::_exit(error.parts().code == "RW-STORE-003" ? 0 : 2);
    }
    ::_exit(1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Ownership, TellsTheWriterAndWhetherItHasGone) {
  TemporaryFolder folder;
  EXPECT_FALSE(is_abandoned(folder.store()));
  {
    const Writer writer(folder.store(), {});
    EXPECT_EQ(writer_process(folder.store()), ::getpid());
    EXPECT_FALSE(is_abandoned(folder.store()));
  }
  EXPECT_FALSE(writer_process(folder.store()));
  EXPECT_TRUE(is_abandoned(folder.store()));
}

TEST(Ownership, DamageIsPermanentAndAFullDiskIsNot) {
  EXPECT_TRUE(is_permanent({"RW-STORE-006", "", "", "", "", ExitCode::store}));
  EXPECT_FALSE(is_permanent({"RW-STORE-004", "", "", "", "", ExitCode::store}));
}

}  // namespace
}  // namespace ringwright::history
