// What a recipe's mesh costs each rank, in the few numbers by which meshes are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shared/support_matrix/examination.h"

namespace ringwright::gui {

struct Price {
  int64_t tokens_per_rank = 0;                 // of the largest microbatch, as the memory counts them
  std::optional<int64_t> memory_bytes;         // of a rank; nullopt: the model is not at hand
  double slowest_percent = 100;                // causal work of the slowest rank, the mean being 100
  std::optional<int64_t> row_attention_bytes;  // that the slowest rank receives for one row (or pack) in one layer, forward and backward, by the
                                               // method that is chosen; nullopt: the model is not at hand
};

// nullopt where there is no step, or the layout does not take its lengths.
std::optional<Price> price_of(const support_matrix::Examination& examination);

}  // namespace ringwright::gui
