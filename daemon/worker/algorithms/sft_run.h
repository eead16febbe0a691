// A supervised fine-tuning run, as one rank sees it: from the specification to the last checkpoint.
#pragma once

#include <optional>

#include "daemon/worker/runtime/channel.h"
#include "shared/wire/worker_spec.h"

namespace ringwright::worker {

// Returns when the recipe's steps are done, or after the step in which the daemon asked to stop; between steps it does what else the daemon asks for
// (worker_spec.h), on all ranks between the same two; with spec.probe, after one batch that is compared
// and not trained on. Rank 0 reports the metrics, with NeMo RL's names; every rank reports spans. Throws Error; RW-TRAIN-001: a loss or gradient
// that is not finite, found before the weights were changed; RW-CP-004: an attention block without its group; RW-PROBE-001: the first batch is not
// the same with and without context parallelism (ringwright.probe_first).
void run_sft(const wire::WorkerSpec& spec, int rank, std::optional<int> listen_fd, Channel& channel);

}  // namespace ringwright::worker
