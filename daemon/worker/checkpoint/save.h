// Writes checkpoint folders that transformers loads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "daemon/worker/checkpoint/load.h"
#include "shared/model/config.h"

namespace ringwright::worker {

struct SaveOptions {
  uint64_t shard_bytes_max = 5'000'000'000;  // above it: several files and an index
  std::map<std::string, std::string>
      dtypes;                    // tensor -> dtype of the file ("BF16"); others get config.dtype. LoadedCheckpoint::dtypes keeps the source's
  std::filesystem::path source;  // generation_config.json and the tokenizer's files are copied from here; empty: none
};

// Writes config.json, the weights and the copied files to a folder beside `folder`, syncs them, and renames it into place; an earlier
// checkpoint there is replaced as a whole and only then. On any failure (disk full, no permission) it throws Error RW-CKPT-005, and what was at
// `folder` is untouched. RW-CKPT-007: `folder` holds something other than a checkpoint.
void save_checkpoint(const std::filesystem::path& folder, const model::ModelConfig& config, const TensorMap& parameters,
                     const SaveOptions& options = {});

// Writes random weights (model.safetensors, config.dtype) beside the config.json in `folder`: matrices normal with standard deviation
// initializer_range, norms one, biases zero; the same for the same seed. Throws RW-CKPT-007 when there are weights already.
void initialize_checkpoint(const std::filesystem::path& folder, uint64_t seed);

}  // namespace ringwright::worker
