// The model families that can be trained, and what each is made of: one entry a family. All are stacks of the same layer (daemon/worker/models).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/model/config.h"

namespace ringwright::model {

// Which projections of attention have a bias.
enum class AttentionBias { by_config, queries_keys_values, none };

struct Family {
  std::string_view name;          // model_type
  std::string_view class_prefix;  // of transformers' classes: Llama in LlamaForCausalLM
  AttentionBias attention_bias;
  bool mlp_bias_by_config;
  // Of transformers' configuration class, for keys that a file leaves out. 0 key/value heads: as many as query heads.
  int64_t max_position_embeddings, kv_heads;
  // Blocks with self-attention over the text.
  int64_t (*attention_blocks)(const ModelConfig& config);
};

// nullptr: no family of this name can be trained.
const Family* find_family(std::string_view name);
const std::vector<std::string>& family_names();

// Blocks with self-attention over the text, each of which must hold the CP group when a sequence is sharded. config.model_type: a known family.
int64_t attention_block_count(const ModelConfig& config);

}  // namespace ringwright::model
