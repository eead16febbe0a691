// A model's config.json, in both dialects (new: rope_parameters, dtype; old: rope_theta + rope_scaling, torch_dtype).
// Source of the defaults: Hugging Face transformers 5.24.0.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shared/model/layer_limits.h"

namespace ringwright::model {

struct RopeConfig {
  std::string type = "default";  // default, linear, dynamic, llama3, yarn
  double theta = 10000;
  double factor = 1;
  double low_freq_factor = 1, high_freq_factor = 4;  // llama3
  int64_t original_max_position_embeddings = 0;      // filled in: max_position_embeddings where the file has none
  double beta_fast = 32, beta_slow = 1;              // yarn, as are the following
  bool truncate = true;
  std::optional<double> attention_factor, mscale, mscale_all_dim;
  nlohmann::json raw;  // the section as written, for the types that a later family needs
};

struct ModelConfig {
  std::string model_type;  // one of family_names()
  int64_t vocab_size = 0;
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t num_hidden_layers = 0;
  int64_t num_attention_heads = 0;
  int64_t num_key_value_heads = 0;
  int64_t head_dim = 0;
  int64_t max_position_embeddings = 0;
  double rms_norm_eps = 1e-6;
  bool tie_word_embeddings = false;
  bool attention_bias = false;         // of queries, keys and values
  bool attention_output_bias = false;  // of the projection behind attention
  bool mlp_bias = false;
  std::string hidden_act = "silu";
  std::string dtype = "float32";
  double initializer_range = 0.02;
  RopeConfig rope;
  LayerLimits limits;                            // windows; nothing else is taken
  int64_t bos_token_id = -1, pad_token_id = -1;  // -1: none
  std::vector<int64_t> eos_token_ids;
  nlohmann::json raw;  // the whole file, written back on save

  int64_t parameter_count() const;
};

// Throws Error: RW-MODEL-001 folder or file missing, RW-MODEL-002 not JSON (file:line:column), RW-MODEL-003 key missing or out of range,
// RW-MODEL-004 family not supported (exit code 3, lists the supported). A value that would change the maths and is not supported (another
// activation, attention dropout, attention in chunks, quantised weights) is RW-MODEL-003 too. Unknown keys are ignored and kept in `raw`.
ModelConfig parse_model_config(const nlohmann::json& json, const std::string& file_name);
ModelConfig read_model_config(const std::filesystem::path& folder);
// The folder's config.json as it stands, of any family. The first two errors.
nlohmann::json read_config_json(const std::filesystem::path& folder);

}  // namespace ringwright::model
