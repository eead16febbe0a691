// A run's checkpoints as NeMo RL lays them out: <directory>/step_N/policy/weights (a Hugging Face folder with the tokenizer's files),
// training_info.json, config.yaml.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "daemon/worker/checkpoint/save.h"

namespace ringwright::worker {

struct RunCheckpoint {
  std::filesystem::path directory;
  int64_t step = 0;
  int64_t tokens_trained = 0;
  nlohmann::json recipe;  // resolved; written to config.yaml (JSON is YAML)
};

struct SavedCheckpoint {
  std::filesystem::path path;  // <directory>/step_N/policy/weights
  uint64_t bytes = 0;          // of all files below step_N
};

// Written below <directory>/tmp_step_N and renamed when complete; what killed processes have left of that kind is removed. Errors: those of
// save_checkpoint.
SavedCheckpoint save_run_checkpoint(const RunCheckpoint& checkpoint, const model::ModelConfig& config, const TensorMap& parameters,
                                    const SaveOptions& options);

}  // namespace ringwright::worker
