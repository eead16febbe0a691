// Waiting for something that another thread or process does.
#pragma once

#include <chrono>
#include <thread>

namespace ringwright::test {

// Whether `condition` holds within `seconds`. `between` is called after each look that failed.
template <class Condition, class Between>
bool eventually(Condition condition, double seconds, Between between) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    between();
  }
  return true;
}

template <class Condition>
bool eventually(Condition condition, double seconds = 20) {
  return eventually(condition, seconds, [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
}

}  // namespace ringwright::test
