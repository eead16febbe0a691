#include "daemon/worker/runtime/orphan_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "shared/base/process_tree.h"

namespace ringwright::worker {
namespace {

constexpr auto kSilenceMax = std::chrono::seconds(3);
constexpr auto kKillingMax = std::chrono::seconds(2);

pid_t daemon_process(pid_t parent) {
  const char* value = std::getenv("RINGWRIGHT_DAEMON_PID");
  const long pid = value ? std::strtol(value, nullptr, 10) : 0;
  return pid > 0 ? static_cast<pid_t>(pid) : parent;
}

// Also those that have a session of their own. What one of them starts while it is killed is found in the next round.
void kill_descendants() {
  const auto deadline = std::chrono::steady_clock::now() + kKillingMax;
  while (std::chrono::steady_clock::now() < deadline) {
    const std::vector<pid_t> left = running_descendants(list_processes(), ::getpid());
    if (left.empty()) return;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

OrphanWatch::OrphanWatch(double grace_s, std::filesystem::path last_words_file)
    : grace_(grace_s), last_words_file_(std::move(last_words_file)), parent_(::getppid()), daemon_(daemon_process(parent_)) {
  adopt_orphans_below();
}

void OrphanWatch::check() {
  if (!gone_at_ && looks_gone()) gone_at_ = std::chrono::steady_clock::now();
  if (gone_at_ && std::chrono::steady_clock::now() - *gone_at_ >= grace_) end_process();
}

bool OrphanWatch::looks_gone() const {
  if (::getppid() != parent_) return true;
  // Also where the daemon died before this object was made, or is no parent of ours. A stopped daemon is silent, but alive.
  const bool silent = std::chrono::steady_clock::now() - pinged_at_ >= kSilenceMax;
  return silent && ::kill(daemon_, 0) != 0 && errno == ESRCH;
}

void OrphanWatch::end_process() const {
  char words[128];
  const int length = std::snprintf(words, sizeof words, "the daemon has been gone for %g s: this worker (process %d) ends itself\n", grace_.count(),
                                   static_cast<int>(::getpid()));
  const int fd = ::open(last_words_file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(fd, words, static_cast<size_t>(length));
    ::close(fd);
  }
  kill_descendants();
  if (::getpgrp() == ::getpid()) ::kill(0, SIGKILL);  // this process too
  ::_exit(1);
}

}  // namespace ringwright::worker
