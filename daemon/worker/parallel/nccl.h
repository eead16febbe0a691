// NCCL below process groups, through the CUDA plug-in: one rank, one GPU, CUDA tensors only.
#pragma once

#include <string>

#include "daemon/worker/parallel/process_groups.h"

namespace ringwright::worker {

// Takes the GPU world rank % GPUs of this host, for each group the same one. Throws Error RW-CUDA-001 (refused) where there is no GPU or no plug-in,
// before anything is connected; the factory throws what require_own_device throws.
BackendFactory nccl_backend_factory(const ProcessGroupOptions& options);

// Every rank of the group says by the group's own store which device it takes ("node:1"). Throws Error RW-GROUP-010 (refused), on all ranks alike,
// when two name the same one, on which NCCL could form no group of two.
void require_own_device(const c10::intrusive_ptr<c10d::Store>& store, const ProcessGroup& group, const std::string& device);

}  // namespace ringwright::worker
