// A bounded stream of bytes from one writer to one reader over memory that both see: two counters and a buffer.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ringwright::worker {

class ByteRing {
 public:
  // In shared memory, zero-filled at first. Each counter has its own cache line, since each has its own writer.
  struct Counters {
    alignas(64) std::atomic<uint64_t> written;
    alignas(64) std::atomic<uint64_t> read;
  };

  // capacity: of `buffer`, in bytes.
  ByteRing(Counters* counters, std::byte* buffer, size_t capacity) : counters_(counters), buffer_(buffer), capacity_(capacity) {}

  size_t capacity() const { return capacity_; }

  // Writer: how many bytes there is room for.
  size_t writable() const {
    return capacity_ - static_cast<size_t>(counters_->written.load(std::memory_order_relaxed) - counters_->read.load(std::memory_order_acquire));
  }

  // Writer: takes as many of the bytes as there is room for, and says how many.
  size_t write(std::span<const std::byte> bytes) {
    const size_t count = std::min(bytes.size(), writable());
    if (count == 0) return 0;
    const uint64_t written = counters_->written.load(std::memory_order_relaxed);
    const size_t start = written % capacity_, first = std::min(count, capacity_ - start);
    std::memcpy(buffer_ + start, bytes.data(), first);
    std::memcpy(buffer_, bytes.data() + first, count - first);
    counters_->written.store(written + count, std::memory_order_release);
    return count;
  }

  // Reader: how many bytes are there.
  size_t readable() const {
    return static_cast<size_t>(counters_->written.load(std::memory_order_acquire) - counters_->read.load(std::memory_order_relaxed));
  }

  // Reader: fills as much of `into` as there are bytes, and says how much.
  size_t read(std::span<std::byte> into) {
    const size_t count = std::min(into.size(), readable());
    if (count == 0) return 0;
    const uint64_t read = counters_->read.load(std::memory_order_relaxed);
    const size_t start = read % capacity_, first = std::min(count, capacity_ - start);
    std::memcpy(into.data(), buffer_ + start, first);
    std::memcpy(into.data() + first, buffer_, count - first);
    counters_->read.store(read + count, std::memory_order_release);
    return count;
  }

 private:
  Counters* counters_;
  std::byte* buffer_;
  size_t capacity_;
};

}  // namespace ringwright::worker
