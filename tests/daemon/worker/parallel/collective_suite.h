// What every transport must do: the checks that Gloo, shared memory and in-process groups all pass.
#pragma once

#include "daemon/worker/parallel/process_groups.h"

namespace ringwright::test {

// Collectives and transfers over a group of two ranks or more. Every rank of the group must call it.
void expect_collectives(const worker::ProcessGroup& group);

}  // namespace ringwright::test
