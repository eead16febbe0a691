// Ranks as threads of this process: for properties over many shapes and sizes, where a process a rank would cost a second each.
#pragma once

#include <functional>
#include <optional>

#include "daemon/worker/parallel/process_groups.h"
#include "shared/mesh/mesh.h"

namespace ringwright::test {

// Runs `body` in one thread a rank, over a mesh of cp = world_size or of `sizes`, and waits for all. A rank that throws ends every wait of the
// others; what the first of them threw is thrown again. LibTorch's random generator is shared, so inputs are made outside of `body`. GoogleTest's
// EXPECT_ macros may be used in `body`; ASSERT_ ends it for one rank only.
void run_on_threads(int world_size, const std::function<void(const worker::ProcessGroups& ranks)>& body,
                    const std::optional<mesh::ParallelismSizes>& sizes = {});

}  // namespace ringwright::test
