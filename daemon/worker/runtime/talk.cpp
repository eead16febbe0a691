#include "daemon/worker/runtime/talk.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace ringwright::worker {

uint64_t talk(Channel& channel, uint64_t points) {
  const auto start = std::chrono::steady_clock::now();
  uint64_t sent = 0;
  MetricPoints values;
  for (int64_t step = 1; sent < points && !channel.stop_requested(); ++step) {
    values.clear();
    const uint64_t count = std::min(kTalkPointsPerMessage, points - sent);
    for (uint64_t i = 0; i < count; ++i)
      values.emplace_back("talk/" + std::to_string(i), std::exp(-1e-3 * static_cast<double>(step)) + static_cast<double>(i));
    channel.metric(step, step * 1024, values);
    sent += count;
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  char text[96];
  std::snprintf(text, sizeof text, "talked: %llu points in %.3f s", static_cast<unsigned long long>(sent), elapsed.count());
  channel.log("info", text);
  channel.finish();
  return sent;
}

}  // namespace ringwright::worker
