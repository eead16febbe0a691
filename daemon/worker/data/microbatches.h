// How the rows of a global batch become microbatches: so many rows each, packs of documents, or as many rows of like length as fit. The arithmetic is
// shared/layout/packing.h's. No tensors here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "shared/layout/packing.h"
#include "shared/recipe/recipe.h"

namespace ringwright::worker {

struct Microbatch {
  std::vector<size_t> rows;           // numbers of rows of the global batch
  std::vector<int64_t> slot_lengths;  // a pack: the rows are documents of one stream, in slots of these lengths. Empty: rows
  int64_t row_length = 0;             // rows: what each is padded to
};

// At most one of packing and dynamic batching.
struct MicrobatchRules {
  int64_t row_count = 1;    // rows of a microbatch, where there is neither
  int64_t row_divisor = 1;  // and what their length is a multiple of
  std::optional<layout::PackingOptions> packing;
  bool largest_first = false;  // packs by their documents' tokens instead of in the packer's order
  std::optional<layout::DynamicBatchingOptions> dynamic_batching;
};

// Those of training, and of validation, which differs in the number of rows only.
MicrobatchRules training_rules(const recipe::SftConfig& config);
MicrobatchRules validation_rules(const recipe::SftConfig& config);

// Every row is in one microbatch. The same for the same lengths, whatever the mesh. Errors: those of packing.h.
std::vector<Microbatch> split_into_microbatches(const std::vector<int64_t>& row_lengths, const MicrobatchRules& rules);

}  // namespace ringwright::worker
