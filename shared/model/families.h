// The model families that can be trained, and what each is made of: one entry a family.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/model/config.h"

namespace ringwright::model {

const std::vector<std::string>& family_names();

// Blocks with self-attention over the text, each of which must hold the CP group when a sequence is sharded. config.model_type: a known family.
int64_t attention_block_count(const ModelConfig& config);

}  // namespace ringwright::model
