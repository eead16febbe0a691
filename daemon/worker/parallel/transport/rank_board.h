// Who of a group's ranks on one host is there, has left or was lost, and how they wake each other: a page of shared memory.
//
// A rank's death is seen through its pidfd, so it is noticed however the process ends. The first rank that was lost is written down once, so
// that ranks which fail later, because of those that failed because of it, name the same one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/worker/parallel/transport/lost_rank.h"

namespace ringwright::worker {

class RankBoard {
 public:
  static size_t bytes(int size);
  // memory: zero-filled at first, aligned to 64, shared by all ranks. Writes this process down.
  RankBoard(std::byte* memory, int rank, int size);
  ~RankBoard();  // leaves
  RankBoard(const RankBoard&) = delete;
  RankBoard& operator=(const RankBoard&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  // Once all ranks are written down. Throws std::system_error; LostRank for one that has ended already.
  void watch_peers();
  void leave();
  bool has_left(int rank) const;

  // The first rank that was lost, if any was; find_lost() looks at the processes as well, and writes down what it finds.
  std::optional<LostRank> lost() const;
  std::optional<LostRank> find_lost();
  // For a transport that sees a broken connection before it knows why: gives the process of the lost rank up to `timeout` to end or to leave.
  std::optional<LostRank> await_lost(std::chrono::milliseconds timeout);
  // The rank is waited for, but has left: it counts as lost from now on.
  LostRank lose_left(int rank);

  // A counter that others raise when they have done something that this rank may wait for.
  uint32_t doorbell() const;
  // Call before doorbell(), so that ring() knows that somebody sleeps or will.
  void begin_wait();
  // Sleeps until the doorbell differs from `seen`, at most `timeout`.
  void sleep(uint32_t seen, std::chrono::milliseconds timeout);
  void end_wait();
  void ring(int rank);
  void ring_all();

 private:
  enum class Loss : int32_t { ended = 1, left = 2 };
  struct Slot {
    alignas(64) std::atomic<uint32_t> doorbell;
    std::atomic<uint32_t> waiting;
    std::atomic<int32_t> pid;
    std::atomic<uint32_t> left;
  };
  struct Head {
    alignas(64) std::atomic<int32_t> lost;  // 0: none; else rank + 1, with Loss in the upper half
  };

  LostRank lose(int rank, Loss loss);
  static LostRank describe(int32_t lost);
  Slot& slot(int rank) const { return slots_[rank]; }

  Head* head_;
  Slot* slots_;
  const int rank_, size_;
  std::vector<int> process_fds_;  // by rank; -1: own
};

}  // namespace ringwright::worker
