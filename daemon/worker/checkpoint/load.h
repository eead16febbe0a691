// Reads the weights of a Hugging Face checkpoint folder.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "shared/model/config.h"
#include "shared/model/safetensors.h"

namespace ringwright::worker {

// Parameters by the names that the checkpoint has.
using TensorMap = std::map<std::string, at::Tensor>;

struct LoadedCheckpoint {
  model::ModelConfig config;
  TensorMap parameters;                       // exactly those of model::parameter_specs(config), on the CPU
  std::map<std::string, std::string> dtypes;  // each tensor's dtype in the file, so that saving keeps it
  std::vector<std::string> notes;             // for the log: files and tensors that were left aside
};

// One tensor as the file has it. Throws Error RW-CKPT-001 when the file cannot be read or its dtype has no counterpart here.
at::Tensor read_tensor(const model::CheckpointTensor& tensor);
// All tensors of one safetensors file, as it has them.
TensorMap read_safetensors(const std::filesystem::path& file);
// config.json and the weights, as `dtype`. One tensor at a time is converted, so the peak is the result and one tensor.
// Throws the errors of model::read_model_config and model::index_checkpoint, and RW-CKPT-004 when tensors are missing, too many, or of another
// shape than the configuration asks for; also when a tied model's file holds a head that differs from the embedding.
LoadedCheckpoint load_checkpoint(const std::filesystem::path& folder, at::ScalarType dtype);

}  // namespace ringwright::worker
