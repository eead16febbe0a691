#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include "tests/shared/history/temporary_store.h"
#include "tests/support/eventually.h"

namespace ringwright::history {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr auto kDeadline = std::chrono::seconds(60);

template <class Act>
ErrorParts error_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.parts();
  }
  ADD_FAILURE() << "no error";
  return {};
}

// Waits for something that another thread says.
class Signal {
 public:
  void set() {
    const std::lock_guard guard(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  bool wait() {
    std::unique_lock guard(mutex_);
    return changed_.wait_for(guard, kDeadline, [&] { return set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

TEST(StoreFaults, APipeIsNotWaitedFor) {
  TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const ErrorParts read = error_of([&] { Reader reader(pipe); });
  EXPECT_EQ(read.code, "RW-STORE-001");
  EXPECT_EQ(read.what, "the history file is a pipe");
}

TEST(StoreFaults, RefusesWhatIsNoHistory) {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "text") << std::string(5000, 'x');
  SQLite::Database(folder.path() / "other.db", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE mine (a)");
  std::filesystem::create_directory(folder.path() / "folder");
  for (const char* name : {"text", "other.db", "folder"}) {
    const std::filesystem::path file = folder.path() / name;
    const ErrorParts write = error_of([&] { Writer writer(file, {}); }), read = error_of([&] { Reader reader(file); });
    EXPECT_EQ(write.code, "RW-STORE-001") << name;
    EXPECT_EQ(read.code, "RW-STORE-001") << name;
    EXPECT_EQ(write.exit_code, ExitCode::store);
    EXPECT_THAT(write.where, HasSubstr(name));
    EXPECT_FALSE(write.action.empty());
  }
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "text"), 5000u);
  EXPECT_EQ(error_of([&] { Reader reader(folder.path() / "missing.db"); }).code, "RW-STORE-001");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "missing.db"));
}

TEST(StoreFaults, RefusesToWriteANewerSchemaAndLeavesItAlone) {
  TemporaryFolder folder;
  {
    Writer writer(folder.store(), {});
  }
  SQLite::Database(folder.store(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 4711");
  const ErrorParts error = error_of([&] { Writer writer(folder.store(), {}); });
  EXPECT_EQ(error.code, "RW-STORE-002");
  EXPECT_EQ(error.exit_code, ExitCode::store);
  EXPECT_THAT(error.what, HasSubstr("schema 4711, newer"));
  EXPECT_THAT(error.what, HasSubstr("knows (2)"));
  EXPECT_THAT(error.action, HasSubstr("update Ringwright"));
  EXPECT_EQ(SQLite::Database(folder.store(), SQLite::OPEN_READONLY).execAndGet("PRAGMA user_version").getInt(), 4711);
}

TEST(StoreFaults, ADamagedPageIsOneClearError) {
  TemporaryFolder folder;
  {
    Writer writer(folder.store(), {});
    writer.create_run(make_run("r_00000001"));
    for (uint64_t i = 1; i <= 2000; ++i) writer.append(log_line("r_00000001", 0, i, "a line that takes some room on its page " + std::to_string(i)));
  }
  const auto bytes = std::filesystem::file_size(folder.store());
  {
    std::fstream file(folder.store(), std::ios::in | std::ios::out | std::ios::binary);
    const std::string rubbish(4096, '\x5a');
    for (uint64_t at = 8 * 4096; at + 4096 <= bytes; at += 4096) file.seekp(static_cast<std::streamoff>(at)), file.write(rubbish.data(), 4096);
  }
  const ErrorParts error = error_of([&] {
    const Reader reader(folder.store());
    reader.run("r_00000001");
    reader.logs("r_00000001", 0, 5000, false);
  });
  EXPECT_EQ(error.code, "RW-STORE-006");
  EXPECT_EQ(error.exit_code, ExitCode::store);
  EXPECT_THAT(error.action, HasSubstr(".recover"));
}

TEST(StoreFaults, AMissingTableIsDamageWithAWayOut) {
  TemporaryFolder folder;
  {
    Writer(folder.store(), {}).create_run(make_run("r_00000001"));
  }
  SQLite::Database(folder.store(), SQLite::OPEN_READWRITE).exec("DROP TABLE log");
  const Reader reader(folder.store());
  EXPECT_EQ(reader.run("r_00000001").id, "r_00000001");  // what is left can be read
  for (const ErrorParts& error : {error_of([&] { reader.logs("r_00000001", 0, 10, false); }), error_of([&] { Writer writer(folder.store(), {}); })}) {
    EXPECT_EQ(error.code, "RW-STORE-006");
    EXPECT_EQ(error.exit_code, ExitCode::store);
    EXPECT_THAT(error.what, HasSubstr("no such table: log"));
    EXPECT_THAT(error.action, HasSubstr("--store FILE"));
  }
}

TEST(StoreFaults, OneWriterAtATime) {
  TemporaryFolder folder;
  {
    Writer writer(folder.store(), {});
    const ErrorParts error = error_of([&] { Writer second(folder.store(), {}); });
    EXPECT_EQ(error.code, "RW-STORE-003");
    EXPECT_EQ(error.exit_code, ExitCode::store);
    EXPECT_THAT(error.what, HasSubstr("process " + std::to_string(::getpid())));
    EXPECT_THAT(error.action, HasSubstr("ringwright daemon stop"));
  }
  Writer next(folder.store(), {});  // the lock goes with its writer
}

TEST(StoreFaults, ALockedFileIsReportedAndNothingIsLost) {
  TemporaryFolder folder;
  Signal failed;
  ErrorParts failure;
  Limits limits;
  limits.lock_wait_ms_max = 50;
  Writer writer(folder.store(),
                {nullptr,
                 [&](const ErrorParts& parts) {
                   failure = parts;
                   failed.set();
                 }},
                limits);
  writer.create_run(make_run("r_00000001"));
  SQLite::Database other(folder.store(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  writer.append(log_line("r_00000001", 0, 1, "kept"));
  ASSERT_TRUE(failed.wait());
  EXPECT_EQ(failure.code, "RW-STORE-005");
  EXPECT_EQ(failure.exit_code, ExitCode::store);
  other.exec("COMMIT");
  writer.flush();
  EXPECT_EQ(Reader(folder.store()).logs("r_00000001", 0, 10, false).size(), 1u);
}

TEST(StoreFaults, ReadersWorkWhileTheWriterWrites) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  writer.create_run(make_run("r_00000001"));
  std::atomic<bool> done{false};
  std::thread reading([&] {
    const Reader reader(folder.store());
    size_t last = 0;
    while (!done) {
      const std::vector<MetricPoint> points = reader.metric("r_00000001", "train/loss");
      ASSERT_GE(points.size(), last);
      for (size_t i = last; i < points.size(); ++i) ASSERT_EQ(points[i].step, static_cast<int64_t>(i + 1));
      last = points.size();
    }
  });
  for (uint64_t i = 1; i <= 5000; ++i) writer.append(metric("r_00000001", 0, i, static_cast<int64_t>(i), "train/loss", 1.0));
  writer.flush();
  done = true;
  reading.join();
  EXPECT_EQ(Reader(folder.store()).metric("r_00000001", "train/loss").size(), 5000u);
}

// Runs `act` in a process of its own and returns its exit code, or 128 + the signal that ended it.
template <class Act>
int in_child(Act act) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = act();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    std::fflush(nullptr);
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Without what lets root pass over a file's mode; for good, so in a child.
bool give_up_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return ::syscall(SYS_capset, &header, none) == 0;
}

// In a process to which the folder's mode applies, whoever runs the test.
TEST(StoreFaults, AReadOnlyFolderCanBeRead) {
  TemporaryFolder folder;
  const std::filesystem::path sub = folder.path() / "with ? and % and #";
  std::filesystem::create_directory(sub);
  {
    Writer(sub / "history.db", {}).create_run(make_run("r_00000001"));
  }
  for (const char* beside : {"history.db-wal", "history.db-shm"}) std::filesystem::remove(sub / beside);
  std::filesystem::permissions(sub, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const int code = in_child([&] {
    if (!give_up_capabilities()) return 2;
    if (::open((sub / "other").c_str(), O_CREAT | O_WRONLY, 0600) >= 0) return 3;
    return Reader(sub / "history.db").runs().size() == 1 ? 0 : 4;
  });
  std::filesystem::permissions(sub, std::filesystem::perms::owner_all);
  EXPECT_EQ(code, 0) << "2: capabilities are kept, 3: the folder can be written after all, 4: the run is not there";
  EXPECT_FALSE(std::filesystem::exists(sub / "history.db-shm"));
}

void limit_file_bytes(rlim_t bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(StoreFaults, AFullDiskLosesNothing) {
  TemporaryFolder folder;
  const int code = in_child([&] {
    Signal failed;
    std::string failure;
    uint64_t committed = 0;
    Writer writer(folder.store(), {[&](std::vector<wire::Event>& events) { committed += events.size(); },
                                   [&](const ErrorParts& parts) {
                                     if (failure.empty()) failure = parts.code;
                                     failed.set();
                                   }});
    writer.create_run(make_run("r_00000001"));
    limit_file_bytes(1 << 20);
    uint64_t sequence = 0;
    for (; sequence < 1000; ++sequence) writer.append(log_line("r_00000001", 0, sequence + 1, std::string(4000, 'x')));
    if (!failed.wait()) return 1;
    if (failure != "RW-STORE-004") return 2;
    limit_file_bytes(RLIM_INFINITY);
    writer.flush();
    return committed == sequence ? 0 : 3;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(Reader(folder.store()).logs("r_00000001", 0, 10'000, false).size(), 1000u);
}

TEST(StoreFaults, AStateThatMeetsAFullDiskIsStoredLater) {
  TemporaryFolder folder;
  const int code = in_child([&] {
    Writer writer(folder.store(), {});
    writer.create_run(make_run("r_00000001"));
    const auto bytes = std::filesystem::file_size(folder.store().string() + "-wal");
    limit_file_bytes(bytes);
    try {
      writer.create_run(make_run("r_00000002"));
      return 1;
    } catch (const Error& error) {
      if (error.parts().code != "RW-STORE-004") return 2;
    }
    try {
      writer.set_state("r_00000001", RunState::finished, "");
      return 3;
    } catch (const Error& error) {
      if (error.parts().action.find("tried again every second") == std::string::npos) return 4;
    }
    limit_file_bytes(RLIM_INFINITY);
    writer.flush();
    return 0;
  });
  EXPECT_EQ(code, 0);
  const Reader reader(folder.store());
  ASSERT_EQ(reader.runs().size(), 1u);
  EXPECT_EQ(reader.runs()[0].state, RunState::finished);
}

TEST(StoreFaults, AFullDiskAtTheStartIsRefused) {
  TemporaryFolder folder;
  const int code = in_child([&] {
    limit_file_bytes(4096);
    try {
      Writer writer(folder.store(), {});
    } catch (const Error& error) {
      return error.parts().code == "RW-STORE-004" ? 0 : 2;
    }
    return 1;
  });
  EXPECT_EQ(code, 0);
}

// The child says on a pipe what its hook was told to be committed, until it is killed in the midst of writing.
TEST(StoreFaults, KillNineLosesNothingThatWasAcknowledged) {
  TemporaryFolder folder;
  int channel[2];
  ASSERT_EQ(::pipe(channel), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Writer writer(folder.store(), {[&](std::vector<wire::Event>& events) {
                                     const uint64_t last = events.back().node_sequence;
                                     if (::write(channel[1], &last, sizeof last) < 0) ::_exit(1);
                                   },
                                   nullptr});
    writer.create_run(make_run("r_00000001"));
    for (uint64_t i = 1;; ++i) writer.append(metric("r_00000001", 0, i, static_cast<int64_t>(i), "train/loss", static_cast<double>(i)));
  }
  ::close(channel[1]);
  uint64_t acknowledged = 0;
  while (acknowledged < 5000 && ::read(channel[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) continue;
  ::kill(child, SIGKILL);
  while (::read(channel[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) continue;
  ::close(channel[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_GE(acknowledged, 5000u);

  {
    const Reader reader(folder.store());  // with nobody to tidy up first
    const std::vector<MetricPoint> points = reader.metric("r_00000001", "train/loss");
    ASSERT_GE(points.size(), acknowledged);
    for (size_t i = 0; i < points.size(); ++i) ASSERT_EQ(points[i].value, static_cast<double>(i + 1));
  }
  Writer writer(folder.store(), {});
  EXPECT_GE(writer.node_sequence(), acknowledged);
  EXPECT_EQ(writer.mark_unfinished_as_lost("the daemon ended").size(), 1u);
  writer.append(metric("r_00000001", 0, acknowledged, static_cast<int64_t>(acknowledged), "train/loss", 0.0));
  writer.flush();
  EXPECT_EQ(Reader(folder.store()).counters("r_00000001").duplicates, 1);
}

TEST(StoreFaults, WaitsWhenTheQueueIsFull) {
  TemporaryFolder folder;
  Limits limits;
  limits.lock_wait_ms_max = 10;
  Signal failed;
  Writer writer(folder.store(), {nullptr, [&](const ErrorParts&) { failed.set(); }}, limits);
  writer.create_run(make_run("r_00000001"));
  SQLite::Database other(folder.store(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  std::thread sending([&] {
    for (uint64_t i = 1; i <= 75'000; ++i) writer.append(log_line("r_00000001", 0, i, "x"));
  });
  ASSERT_TRUE(failed.wait());
  EXPECT_TRUE(test::eventually([&] { return writer.queue_full_count() > 0; }, 60));
  other.exec("COMMIT");
  sending.join();
  writer.flush();
  EXPECT_EQ(writer.node_sequence(), 75'000u);
}

}  // namespace
}  // namespace ringwright::history
