#include "shared/history/ownership.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

namespace ringwright::history {
namespace {

constexpr int kLockTriesMax = 5;
constexpr auto kLockPause = std::chrono::milliseconds(10);

// The lock beside a history file, looked at.
struct LockSeen {
  bool exists = false, held = false;
  std::optional<pid_t> owner;
};

std::optional<pid_t> read_number(int descriptor) {
  char text[32] = {};
  const ssize_t bytes = ::pread(descriptor, text, sizeof text, 0);
  pid_t number = 0;
  if (bytes <= 0 || std::from_chars(text, text + bytes, number).ec != std::errc() || number <= 0) return std::nullopt;
  return number;
}

LockSeen look_at_lock(const std::filesystem::path& file) {
  LockSeen seen;
  const int descriptor = ::open((file.string() + ".lock").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return seen;
  seen.exists = true;
  seen.held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (seen.held) seen.owner = read_number(descriptor);
  ::close(descriptor);
  return seen;
}

ErrorParts gone(const char* code, const std::string& what, const std::filesystem::path& file, const std::string& action) {
  return {code, what, file.string(), "the file that the daemon has opened", action, ExitCode::store};
}

}  // namespace

bool is_permanent(const ErrorParts& failure) {
  constexpr std::string_view kCodes[] = {"RW-STORE-006", kFileDeleted};
  for (const std::string_view code : kCodes)
    if (failure.code == code) return true;
  return false;
}

bool lock_exclusively(int descriptor) {
  for (int tries = 1; ::flock(descriptor, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (tries == kLockTriesMax) return false;
    std::this_thread::sleep_for(kLockPause);
  }
  return true;
}

FileGuard::FileGuard(const std::filesystem::path& file)
    : file_(file), descriptor_(::open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644)) {
  if (descriptor_ < 0 || lock_exclusively(descriptor_)) return;
  ::close(descriptor_);
  throw Error({"RW-STORE-003", "another daemon writes this history, though its lock file has gone", file.string(), "one writer for each history file",
               "end that daemon (find it with: fuser " + file.string() + "), or use another file with --store FILE", ExitCode::store});
}

FileGuard::~FileGuard() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<ErrorParts> FileGuard::displaced() const {
  struct stat opened{}, found{};
  if (descriptor_ < 0 || ::fstat(descriptor_, &opened) != 0) return std::nullopt;
  const bool there = ::stat(file_.c_str(), &found) == 0;
  if (there && found.st_dev == opened.st_dev && found.st_ino == opened.st_ino) return std::nullopt;
  if (opened.st_nlink == 0)
    return gone(kFileDeleted, "the history file was deleted while it was being written", file_,
                "stop the daemon (ringwright daemon stop); the next one begins a new history");
  return gone(kFileMoved, "the history file was moved away while it was being written", file_,
              "move it back with its -wal and -shm files, or stop the daemon (ringwright daemon stop)");
}

std::optional<pid_t> writer_process(const std::filesystem::path& file) { return look_at_lock(file).owner; }

bool is_abandoned(const std::filesystem::path& file) {
  const LockSeen seen = look_at_lock(file);
  return seen.exists && !seen.held;
}

}  // namespace ringwright::history
