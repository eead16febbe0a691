// Messages between the ranks of one host over shared memory: a bounded ring of bytes for each ordered pair of ranks.
//
// There is no thread behind it. A send copies at once what its ring has room for; the rest, and what comes in, moves while a rank waits, and a
// rank that waits moves everything it has under way. So a message that fits its ring travels while the receiver computes, at two copies, and
// waiting costs no processor time. One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "daemon/worker/parallel/transport/byte_ring.h"
#include "daemon/worker/parallel/transport/rank_board.h"

namespace ringwright::worker {

class SharedMemoryLink {
 public:
  // Bounds: one ring, all rings of a group, and messages that came before anybody asked for them, which this rank keeps.
  static constexpr size_t kRingBytesMax = size_t{32} << 20;
  static constexpr size_t kRingsBytesMax = size_t{256} << 20;
  static constexpr size_t kEarlyBytesMax = size_t{1} << 30;

  // Of the memory that `size` ranks share.
  static size_t bytes(int size, std::optional<size_t> ring_bytes = {});

  // memory: bytes(size, ring_bytes) of it, zero-filled at first, aligned to 64. ring_bytes: by default what the bounds allow.
  SharedMemoryLink(std::byte* memory, int rank, int size, std::optional<size_t> ring_bytes = {});

  RankBoard& board() { return board_; }

  class Transfer;
  using Handle = std::shared_ptr<Transfer>;
  // The bytes must stay as they are (send) or unread (receive) until wait() has returned; `owner` keeps them alive. Messages of one (source, tag)
  // arrive in the order in which they were sent. To or from this rank itself is not possible.
  Handle send(std::span<const std::byte> bytes, int rank, int tag, std::shared_ptr<void> owner = {});
  Handle receive(std::span<std::byte> bytes, int rank, int tag, std::shared_ptr<void> owner = {});
  // Throws LostRank, or std::runtime_error when nothing came within `timeout`, the two sides disagree on the size, or too much came too early.
  void wait(const Handle& transfer, std::chrono::milliseconds timeout);

 private:
  struct Envelope {
    int64_t bytes;
    int64_t tag;
  };
  struct Early {
    int64_t tag;
    std::vector<std::byte> bytes;
  };
  // What comes from one rank. The message that is being read goes to `target`, or, when nobody has asked for it, to `early.back()`.
  struct Inbox {
    std::deque<Handle> wanted;
    std::deque<Early> early;
    std::optional<Envelope> envelope;
    Handle target;
    size_t done = 0;
  };

  ByteRing& ring(int from, int to) { return rings_[static_cast<size_t>(from) * static_cast<size_t>(size_) + static_cast<size_t>(to)]; }
  bool move_all();
  bool move_out(int peer);
  bool move_in(int peer);
  bool open_envelope(Inbox& inbox, ByteRing& in);
  void address(Inbox& inbox, const Envelope& envelope);
  static std::span<std::byte> place(Inbox& inbox);
  bool take_early(Inbox& inbox, const Handle& transfer);
  static void finish(Transfer& transfer);
  static void check_size(int64_t bytes, const Transfer& transfer);
  void check_peers(const Transfer& transfer);

  RankBoard board_;
  const int rank_, size_;
  std::vector<ByteRing> rings_;
  std::mutex mutex_;
  std::vector<std::deque<Handle>> outboxes_;  // by rank
  std::vector<Inbox> inboxes_;
  size_t early_bytes_ = 0;
};

}  // namespace ringwright::worker
