#include "daemon/worker/algorithms/agreement.h"

#include <ATen/ops/zeros.h>

#include "daemon/worker/parallel/collectives.h"

namespace ringwright::worker {
namespace {

enum Slot : size_t { kStop, kStopAfterCheckpoint, kPause, kCheckpoint, kSettings };  // then two slots for each setting: is it there, and its value

}  // namespace

// A sum over ranks of which only one brings anything is what that one brought.
Wishes agree(const Wishes& own, const ProcessGroup& group) {
  const size_t count = own.settings.size();
  const at::Tensor slots = at::zeros({static_cast<int64_t>(kSettings + 2 * count)}, at::kDouble);
  double* const values = slots.mutable_data_ptr<double>();
  values[kStop] = own.stop;
  if (group.rank == 0) {
    values[kStopAfterCheckpoint] = own.stop_after_checkpoint;
    values[kPause] = own.pause;
    values[kCheckpoint] = own.checkpoint;
    for (size_t i = 0; i < count; ++i)
      if (own.settings[i]) values[kSettings + 2 * i] = 1, values[kSettings + 2 * i + 1] = *own.settings[i];
  }
  all_reduce_sum(slots, group);
  Wishes agreed{values[kStop] > 0, values[kStopAfterCheckpoint] > 0, values[kPause] > 0, values[kCheckpoint] > 0, {}};
  agreed.settings.resize(count);
  for (size_t i = 0; i < count; ++i)
    if (values[kSettings + 2 * i] > 0) agreed.settings[i] = values[kSettings + 2 * i + 1];
  return agreed;
}

}  // namespace ringwright::worker
