// Metrics that nobody measured: the same at each start, of any number and length, with the oddities that a chart must show.
#pragma once

#include <cstdint>
#include <string>

#include "shared/wire/talk_plan.h"

namespace ringwright::worker {

class MadeUpSeries {
 public:
  MadeUpSeries(const wire::TalkPlan& plan, int rank);

  // "talk/0", "talk/1", ...
  static std::string name(uint64_t metric);
  // Falls, wanders, swings, climbs in steps or stays, by the metric's number; noise by seed, rank, metric and step. Once in plan.spike_every steps a
  // thousandfold, once in plan.nan_every steps NaN, +infinity or -infinity, in turn.
  double value(uint64_t metric, int64_t step) const;

 private:
  double noise(uint64_t metric, int64_t step) const;

  uint64_t seed_, nan_every_, spike_every_;
};

}  // namespace ringwright::worker
