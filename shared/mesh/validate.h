// Private to the folder: the rules that turn what was asked for into sizes that multiply.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/base/error.h"
#include "shared/mesh/mesh.h"

namespace ringwright::mesh {

// All sizes at least 1, and dp known.
struct CheckedSizes {
  int pp = 1, dp_replicate = 1, dp_shard = 1, cp = 1, tp = 1, ep = 1;
};

// What is wrong with the sizes, without the offers.
struct Fault {
  std::string code;
  std::string what;
  std::string expected;
};

std::optional<Fault> find_fault(int world_size, const ParallelismSizes& sizes, Strategy strategy);
// Throws Error with the fault and the values that would do.
CheckedSizes checked(int world_size, const ParallelismSizes& sizes, Strategy strategy);
// RW-MESH-006: a rank is negative or there twice.
void check_rank_list(const std::vector<int>& ranks);

}  // namespace ringwright::mesh
