#include "daemon/worker/parallel/transport/shared_memory_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <stdexcept>

namespace ringwright::worker {
namespace {

// A piece is handed over as soon as it is copied, so that the reader copies it while the next one is written.
constexpr size_t kPieceBytes = size_t{256} << 10;
// How long a waiting rank sleeps before it looks whether its peers still live.
constexpr std::chrono::milliseconds kLookAround(100);

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

size_t default_ring_bytes(int size) {
  const size_t pairs = static_cast<size_t>(size) * static_cast<size_t>(std::max(size - 1, 1));
  return std::min(SharedMemoryLink::kRingBytesMax, std::bit_floor(SharedMemoryLink::kRingsBytesMax / pairs));
}

size_t counters_bytes(int size) { return static_cast<size_t>(size) * static_cast<size_t>(size) * sizeof(ByteRing::Counters); }

}  // namespace

class SharedMemoryLink::Transfer {
 public:
  int peer = 0;
  int64_t tag = 0;
  bool envelope_sent = false;
  bool finished = false;
  size_t done = 0;
  std::byte* data = nullptr;
  size_t size = 0;
  std::shared_ptr<void> owner;
};

void SharedMemoryLink::finish(Transfer& transfer) {
  transfer.finished = true;
  transfer.owner.reset();
}

void SharedMemoryLink::check_size(int64_t bytes, const Transfer& transfer) {
  if (static_cast<int64_t>(transfer.size) == bytes) return;
  throw std::runtime_error(fmt::format("a message of {} bytes was received as one of {}", bytes, transfer.size));
}

size_t SharedMemoryLink::bytes(int size, std::optional<size_t> ring_bytes) {
  const size_t pairs = static_cast<size_t>(size) * static_cast<size_t>(size - 1);
  return aligned(RankBoard::bytes(size)) + counters_bytes(size) + pairs * ring_bytes.value_or(default_ring_bytes(size));
}

SharedMemoryLink::SharedMemoryLink(std::byte* memory, int rank, int size, std::optional<size_t> ring_bytes)
    : board_(memory, rank, size), rank_(rank), size_(size), outboxes_(static_cast<size_t>(size)), inboxes_(static_cast<size_t>(size)) {
  const size_t capacity = ring_bytes.value_or(default_ring_bytes(size));
  auto* counters = reinterpret_cast<ByteRing::Counters*>(memory + aligned(RankBoard::bytes(size)));
  std::byte* buffer = reinterpret_cast<std::byte*>(counters) + counters_bytes(size);
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      rings_.emplace_back(counters++, buffer, capacity);
      if (from != to) buffer += capacity;
    }
  }
}

SharedMemoryLink::Handle SharedMemoryLink::send(std::span<const std::byte> bytes, int rank, int tag, std::shared_ptr<void> owner) {
  auto transfer = std::make_shared<Transfer>();
  transfer->peer = rank;
  transfer->tag = tag;
  transfer->data = const_cast<std::byte*>(bytes.data());  // never written to
  transfer->size = bytes.size();
  transfer->owner = std::move(owner);
  const std::lock_guard lock(mutex_);
  outboxes_[static_cast<size_t>(rank)].push_back(transfer);
  move_out(rank);
  return transfer;
}

SharedMemoryLink::Handle SharedMemoryLink::receive(std::span<std::byte> bytes, int rank, int tag, std::shared_ptr<void> owner) {
  auto transfer = std::make_shared<Transfer>();
  transfer->peer = rank;
  transfer->tag = tag;
  transfer->data = bytes.data();
  transfer->size = bytes.size();
  transfer->owner = std::move(owner);
  const std::lock_guard lock(mutex_);
  Inbox& inbox = inboxes_[static_cast<size_t>(rank)];
  if (!take_early(inbox, transfer)) inbox.wanted.push_back(transfer);
  return transfer;
}

void SharedMemoryLink::wait(const Handle& transfer, std::chrono::milliseconds timeout) {
  const std::lock_guard lock(mutex_);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  board_.begin_wait();
  const struct EndWait {
    RankBoard& board;
    ~EndWait() { board.end_wait(); }
  } end_wait{board_};
  while (true) {
    const uint32_t seen = board_.doorbell();
    if (transfer->finished) return;
    if (move_all()) continue;
    check_peers(*transfer);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      throw std::runtime_error(fmt::format("rank {} of the group did not answer within {} s", transfer->peer, timeout.count() / 1000.0));
    board_.sleep(seen, std::min(left, kLookAround));
  }
}

// Nothing moves. Is there still somebody who could change that?
void SharedMemoryLink::check_peers(const Transfer& transfer) {
  if (const auto lost = board_.find_lost()) throw *lost;
  if (!board_.has_left(transfer.peer)) return;
  // It may have written its last bytes between our look into the ring and its leaving.
  if (!move_all()) throw board_.lose_left(transfer.peer);
}

bool SharedMemoryLink::move_all() {
  bool moved = false;
  for (int step = 1; step < size_; ++step) {
    const int peer = (rank_ + step) % size_;
    moved = move_out(peer) || moved;
    moved = move_in(peer) || moved;
  }
  return moved;
}

bool SharedMemoryLink::move_out(int peer) {
  ByteRing& out = ring(rank_, peer);
  auto& outbox = outboxes_[static_cast<size_t>(peer)];
  bool moved = false;
  while (!outbox.empty()) {
    Transfer& transfer = *outbox.front();
    if (!transfer.envelope_sent) {
      const Envelope envelope{.bytes = static_cast<int64_t>(transfer.size), .tag = transfer.tag};
      if (out.writable() < sizeof(envelope)) break;
      out.write(std::as_bytes(std::span(&envelope, 1)));
      transfer.envelope_sent = moved = true;
    }
    const size_t count = out.write({transfer.data + transfer.done, std::min(transfer.size - transfer.done, kPieceBytes)});
    transfer.done += count;
    if (transfer.done < transfer.size && count == 0) break;
    moved = true;
    if (transfer.done == transfer.size) {
      finish(transfer);
      outbox.pop_front();
    }
    board_.ring(peer);
  }
  return moved;
}

// Where the next bytes of the message that is being read go.
std::span<std::byte> SharedMemoryLink::place(Inbox& inbox) {
  const std::span<std::byte> all = inbox.target ? std::span(inbox.target->data, inbox.target->size) : std::span(inbox.early.back().bytes);
  return all.subspan(inbox.done);
}

// Finds out where the message behind this envelope goes.
void SharedMemoryLink::address(Inbox& inbox, const Envelope& envelope) {
  inbox.done = 0;
  inbox.target.reset();
  const auto wanted = std::find_if(inbox.wanted.begin(), inbox.wanted.end(), [&](const Handle& each) { return each->tag == envelope.tag; });
  if (wanted != inbox.wanted.end()) {
    inbox.target = *wanted;
    inbox.wanted.erase(wanted);
    check_size(envelope.bytes, *inbox.target);
  } else {
    // Others wait behind it, so it is put aside.
    early_bytes_ += static_cast<size_t>(envelope.bytes);
    if (early_bytes_ > kEarlyBytesMax) {
      throw std::runtime_error(fmt::format("messages of more than {} bytes came before anybody asked for them", kEarlyBytesMax));
    }
    inbox.early.push_back({envelope.tag, std::vector<std::byte>(static_cast<size_t>(envelope.bytes))});
  }
  inbox.envelope = envelope;
}

// Is a message being read? If not, the next one is begun; it stays in the ring while nobody waits for anything from this peer.
bool SharedMemoryLink::open_envelope(Inbox& inbox, ByteRing& in) {
  if (inbox.envelope) return true;
  if (inbox.wanted.empty() || in.readable() < sizeof(Envelope)) return false;
  Envelope envelope{};
  in.read(std::as_writable_bytes(std::span(&envelope, 1)));
  address(inbox, envelope);
  return true;
}

bool SharedMemoryLink::move_in(int peer) {
  Inbox& inbox = inboxes_[static_cast<size_t>(peer)];
  ByteRing& in = ring(peer, rank_);
  bool moved = false;
  while (open_envelope(inbox, in)) {
    const std::span<std::byte> rest = place(inbox);
    const size_t count = in.read(rest.first(std::min(rest.size(), kPieceBytes)));
    inbox.done += count;
    if (count == 0 && !rest.empty()) break;
    moved = true;
    if (count == rest.size()) {
      if (inbox.target) finish(*inbox.target);
      inbox.target.reset();
      inbox.envelope.reset();
    }
    board_.ring(peer);
  }
  return moved;
}

// A message that was put aside before anybody asked for it, and may still be coming in.
bool SharedMemoryLink::take_early(Inbox& inbox, const Handle& transfer) {
  const auto early = std::find_if(inbox.early.begin(), inbox.early.end(), [&](const Early& each) { return each.tag == transfer->tag; });
  if (early == inbox.early.end()) return false;
  check_size(static_cast<int64_t>(early->bytes.size()), *transfer);
  const bool still_coming = inbox.envelope && !inbox.target && std::next(early) == inbox.early.end();
  std::copy_n(early->bytes.begin(), still_coming ? inbox.done : early->bytes.size(), transfer->data);
  if (still_coming) {
    inbox.target = transfer;
  } else {
    finish(*transfer);
  }
  early_bytes_ -= early->bytes.size();
  inbox.early.erase(early);
  return true;
}

}  // namespace ringwright::worker
