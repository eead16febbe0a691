// What the benchmark programs measure with.
#pragma once

#include <time.h>

#include <algorithm>
#include <vector>

namespace ringwright::bench {

// clock: CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID.
inline double now_s(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The upper one of an even number.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace ringwright::bench
