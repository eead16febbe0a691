// Messages between ranks that are threads of one process. Nothing is buffered: whichever side comes second copies straight from the sender's
// memory into the receiver's, so a message costs one copy and a mailbox holds no bytes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/worker/parallel/transport/lost_rank.h"

namespace ringwright::worker {

// Payload: a handle that keeps its memory alive. Copy: void(const Payload& from, const Payload& to), which may throw; both sides then see it.
template <class Payload, class Copy>
class Mailbox {
 public:
  class Transfer {
   public:
    Transfer(Payload payload, int peer) : payload_(std::move(payload)), peer_(peer) {}

   private:
    friend class Mailbox;
    Payload payload_;
    const int peer_;
    bool matched_ = false;  // the rest is guarded by the mailbox's mutex
    bool done_ = false;
    std::exception_ptr failure_;
  };
  using Handle = std::shared_ptr<Transfer>;

  Mailbox(int size, Copy copy) : copy_(std::move(copy)), left_(static_cast<size_t>(size)) {}

  // Both may copy, if the other side is already there. Messages of one (from, to, tag) are received in the order in which they were sent. The
  // memory must stay unchanged (send) or unread (receive) until wait() has returned.
  Handle send(int from, int to, int tag, Payload payload) { return post({from, to, tag}, std::move(payload), to, /*is_send=*/true); }
  Handle receive(int to, int from, int tag, Payload payload) { return post({from, to, tag}, std::move(payload), from, /*is_send=*/false); }

  // Throws LostRank when the peer has gone or any rank was lost, std::runtime_error after `timeout`, or what Copy threw.
  void wait(const Handle& transfer, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    const auto peer_is_gone = [&] { return !transfer->matched_ && left_[static_cast<size_t>(transfer->peer_)]; };
    const bool in_time = changed_.wait_for(lock, timeout, [&] { return transfer->done_ || lost_rank_ >= 0 || peer_is_gone(); });
    if (transfer->done_) {
      if (transfer->failure_) std::rethrow_exception(transfer->failure_);
      return;
    }
    if (lost_rank_ >= 0) throw LostRank(lost_rank_, lost_how_);
    if (!in_time) throw std::runtime_error("rank " + std::to_string(transfer->peer_) + " did not answer in time");
    throw LostRank(transfer->peer_, "has left the group");
  }

  // The rank has failed: every wait that is not over ends, and names the first rank that was lost.
  void lose(int rank, const std::string& how) {
    const std::lock_guard lock(mutex_);
    if (lost_rank_ < 0) {
      lost_rank_ = rank;
      lost_how_ = how;
    }
    changed_.notify_all();
  }

  // The rank takes part no more; only those that still wait for it fail.
  void leave(int rank) {
    const std::lock_guard lock(mutex_);
    left_[static_cast<size_t>(rank)] = true;
    changed_.notify_all();
  }

 private:
  using Key = std::tuple<int, int, int>;  // from, to, tag
  struct Queue {
    std::deque<Handle> sends, receives;
  };

  Handle post(const Key& key, Payload payload, int peer, bool is_send) {
    auto mine = std::make_shared<Transfer>(std::move(payload), peer);
    Handle other;
    {
      const std::lock_guard lock(mutex_);
      Queue& queue = queues_[key];
      auto& waiting = is_send ? queue.receives : queue.sends;
      if (waiting.empty()) {
        (is_send ? queue.sends : queue.receives).push_back(mine);
        return mine;
      }
      other = waiting.front();
      waiting.pop_front();
      mine->matched_ = other->matched_ = true;
    }
    std::exception_ptr failure;
    try {
      copy_(is_send ? mine->payload_ : other->payload_, is_send ? other->payload_ : mine->payload_);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    mine->failure_ = other->failure_ = failure;
    mine->done_ = other->done_ = true;
    changed_.notify_all();
    return mine;
  }

  const Copy copy_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Queue> queues_;
  std::vector<bool> left_;
  int lost_rank_ = -1;
  std::string lost_how_;
};

}  // namespace ringwright::worker
