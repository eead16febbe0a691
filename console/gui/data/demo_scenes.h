// What the made-up runs of a demonstration are made of.
#pragma once

#include <cstdint>

#include "shared/history/records.h"

namespace ringwright::gui::demo {

// The same numbers on every machine, unlike std::normal_distribution.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 0x632BE59BD9B4E019ULL) {}
  double uniform() {
    state_ += 0x9E3779B97F4A7C15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
  }
  // Nearly normal: the sum of twelve.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  uint64_t state_;
};

struct Scene {
  const char* name;
  history::RunState state;
  const char* reason;
  int dp, cp, tp;
  int64_t steps;
  double step_s, started_hours_ago, tokens_per_s, loss_end;
  const char* algorithm = "sft";
};
const Scene& scene_of(int index);
// Where there are more runs than scenes, they begin again.
int round_of(int index);
// Each step has noise of its own, so the last values of a thousand runs are known without their series.
Noise noise_at(int index, int64_t step);

}  // namespace ringwright::gui::demo
