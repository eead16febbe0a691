// How a recipe asks for its ranks to be arranged: the one place that reads these keys.
#pragma once

#include "shared/mesh/setup.h"
#include "shared/recipe/typed.h"

namespace ringwright::recipe {

inline constexpr int kRanksMax = 1 << 16;  // more than one job has
// Rows of a batch. With as many tokens in each as a sequence can have (layout::kSequenceLengthMax), they are counted in 64 bits.
inline constexpr int64_t kBatchRowsMax = (int64_t{1} << 31) - 1;

// What policy.dtensor_cfg says, as Automodel's section of the same meaning: sizes, sequence parallelism, activation checkpointing, expert layers.
// Throws Error RW-RECIPE-021 or -022 for values of the wrong kind, and those of mesh::read_section.
mesh::Section parallelism(const Typed& typed);

// policy.make_sequence_length_divisible_by, 1 where it is absent. NeMo RL's recipes make it of the sizes of parallelism: where it is 0 because one of
// them is, RW-RECIPE-022 names that size.
int64_t sequence_length_divisor(const Typed& typed);

// cluster.num_nodes * cluster.gpus_per_node. RW-RECIPE-022: above kRanksMax.
int world_size(const Typed& typed);

}  // namespace ringwright::recipe
