#include "daemon/worker/parallel/transport/rank_board.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <system_error>

namespace ringwright::worker {
namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<int32_t>::is_always_lock_free);

constexpr int kLossShift = 16;

// Not FUTEX_PRIVATE_FLAG: the word is shared between processes.
void futex_wait(std::atomic<uint32_t>& word, uint32_t seen, std::chrono::milliseconds timeout) {
  const timespec limit{.tv_sec = timeout.count() / 1000, .tv_nsec = timeout.count() % 1000 * 1000000};
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word) { syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

int open_process(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

}  // namespace

size_t RankBoard::bytes(int size) { return sizeof(Head) + static_cast<size_t>(size) * sizeof(Slot); }

RankBoard::RankBoard(std::byte* memory, int rank, int size)
    : head_(reinterpret_cast<Head*>(memory)), slots_(reinterpret_cast<Slot*>(memory + sizeof(Head))), rank_(rank), size_(size) {
  slot(rank).pid.store(getpid(), std::memory_order_release);
}

RankBoard::~RankBoard() {
  leave();
  for (const int fd : process_fds_) {
    if (fd >= 0) close(fd);
  }
}

void RankBoard::watch_peers() {
  process_fds_.assign(static_cast<size_t>(size_), -1);
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    const int fd = open_process(slot(peer).pid.load(std::memory_order_acquire));
    if (fd < 0 && errno == ESRCH) throw lose(peer, Loss::ended);
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "pidfd_open");
    process_fds_[static_cast<size_t>(peer)] = fd;
  }
}

void RankBoard::leave() {
  if (slot(rank_).left.exchange(1) == 0) ring_all();
}

bool RankBoard::has_left(int rank) const { return slot(rank).left.load() != 0; }

LostRank RankBoard::describe(int32_t lost) {
  const auto loss = static_cast<Loss>(lost >> kLossShift);
  return LostRank((lost & ((1 << kLossShift) - 1)) - 1, loss == Loss::ended ? "has ended without a word" : "has left the group");
}

std::optional<LostRank> RankBoard::lost() const {
  const int32_t lost = head_->lost.load();
  return lost == 0 ? std::nullopt : std::optional(describe(lost));
}

std::optional<LostRank> RankBoard::find_lost() {
  if (auto known = lost()) return known;
  std::vector<pollfd> polls;
  for (const int fd : process_fds_) polls.push_back({.fd = fd, .events = POLLIN, .revents = 0});  // poll() passes over -1
  if (poll(polls.data(), polls.size(), 0) <= 0) return std::nullopt;
  for (int peer = 0; peer < static_cast<int>(polls.size()); ++peer) {
    if (polls[static_cast<size_t>(peer)].revents != 0 && !has_left(peer)) return lose(peer, Loss::ended);
  }
  return std::nullopt;
}

std::optional<LostRank> RankBoard::await_lost(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const uint32_t seen = doorbell();
    if (auto lost = find_lost()) return lost;
    for (int peer = 0; peer < size_; ++peer) {
      if (peer != rank_ && has_left(peer)) return lose_left(peer);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    begin_wait();
    sleep(seen, std::min(left, std::chrono::milliseconds(20)));
    end_wait();
  }
}

LostRank RankBoard::lose_left(int rank) { return lose(rank, Loss::left); }

LostRank RankBoard::lose(int rank, Loss loss) {
  int32_t none = 0;
  head_->lost.compare_exchange_strong(none, (rank + 1) | static_cast<int32_t>(loss) << kLossShift);
  ring_all();
  return describe(head_->lost.load());
}

uint32_t RankBoard::doorbell() const { return slot(rank_).doorbell.load(); }
void RankBoard::begin_wait() { slot(rank_).waiting.store(1); }
void RankBoard::end_wait() { slot(rank_).waiting.store(0); }
void RankBoard::sleep(uint32_t seen, std::chrono::milliseconds timeout) { futex_wait(slot(rank_).doorbell, seen, timeout); }

// All of these are sequentially consistent: either the ringer sees that somebody waits, or the waiter sees the new count before it sleeps.
void RankBoard::ring(int rank) {
  slot(rank).doorbell.fetch_add(1);
  if (slot(rank).waiting.load() != 0) futex_wake(slot(rank).doorbell);
}

void RankBoard::ring_all() {
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_) ring(peer);
  }
}

}  // namespace ringwright::worker
