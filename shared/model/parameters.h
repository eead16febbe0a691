// The parameters of a model by the names that a checkpoint has, without any tensor: for loading, initialising and sizing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "shared/model/config.h"
#include "shared/model/safetensors.h"

namespace ringwright::model {

// How a parameter starts when there is no checkpoint.
enum class Initial { normal, one, zero };  // normal: mean 0, standard deviation initializer_range

struct ParameterSpec {
  std::string name;            // "model.layers.0.self_attn.q_proj.weight"
  std::vector<int64_t> shape;  // [out, in] for matrices
  Initial initial = Initial::normal;
};

// All parameters, from the embedding to the head; a tied model has no lm_head.weight.
std::vector<ParameterSpec> parameter_specs(const ModelConfig& config);

inline constexpr const char* kHeadName = "lm_head.weight";
inline constexpr const char* kEmbeddingName = "model.embed_tokens.weight";

// Whether a checkpoint's tensors, as their headers describe them, are the model's. A tied model's file may hold a head too, and frequencies that are
// computed from the configuration are no parameters. Throws Error RW-CKPT-004 (exit code 3) for tensors that are missing, too many, of another shape
// than config.json asks for, or of a dtype that is not trained.
void check_tensors(const std::filesystem::path& folder, const ModelConfig& config, const std::map<std::string, CheckpointTensor>& tensors);

}  // namespace ringwright::model
