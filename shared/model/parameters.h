// The parameters of a model by the names that a checkpoint has, without any tensor: for loading, initialising and sizing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/model/config.h"

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

}  // namespace ringwright::model
