// Rotary position embeddings of all types that a configuration may name. Formulas: transformers 5.24.0, modeling_rope_utils.py; YaRN arXiv
// 2309.00071.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "shared/model/config.h"

namespace ringwright::worker {

struct RopeTable {
  at::Tensor cos_Th, sin_Th;  // float32 [T, D/2], the attention factor included; both halves of a head share them
};

// Angles per position: D/2 numbers. `longest_length` (longest document or row, in tokens, over all ranks) matters to type "dynamic" only.
std::vector<double> rope_frequencies(const model::ModelConfig& config, int64_t longest_length);
// What cos and sin are multiplied by: 1 except for yarn.
double rope_attention_factor(const model::ModelConfig& config);
// For positions of any shape, int64, flattened to T.
RopeTable make_rope_table(const model::ModelConfig& config, const at::Tensor& positions, int64_t longest_length);

}  // namespace ringwright::worker
