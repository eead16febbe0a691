// zmq::poll that outlives signals.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <zmq.hpp>

namespace ringwright::wire {

// Waits until one of the items is ready or the time is over. A signal that arrives meanwhile ends the wait early, with no item ready. Throws
// zmq::error_t for everything else.
inline void poll(zmq::pollitem_t* items, size_t count, std::chrono::milliseconds timeout) {
  try {
    zmq::poll(items, count, timeout);
  } catch (const zmq::error_t& error) {
    if (error.num() != EINTR) throw;
    for (size_t i = 0; i < count; ++i) items[i].revents = 0;
  }
}

}  // namespace ringwright::wire
