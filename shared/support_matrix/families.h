// Model families and context parallelism in the two Automodel targets: one entry a row of the public table. Upstream has two answers for a model: a
// declared one, which stops nothing, and a live one that every load with a mesh asks; a guard follows the live one and warns of the declared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

struct FamilyAnswer {
  Verdict verdict;             // where nothing is known of the recipe's attention backend
  std::string_view attention;  // backends that the live check takes, separated by blanks; "": it does not depend on them
  bool plain_class;            // force_hf: true, the plain transformers class with sdpa, is a way too
  std::string_view note;
};

struct Family {
  std::string_view model_types;  // separated by blanks
  std::string_view style;        // how Automodel 0.6 shards it
  std::string_view layout, formats;
  FamilyAnswer automodel_0_4, automodel_0_6;
  bool declared_no;  // the class itself says that it does not support context parallelism
  std::string_view source;
};

const std::vector<Family>& families();
// The entry that stands for every other model without a class of Automodel's own.
const Family& other_families();
// nullptr where the table has no such model type.
const Family* find_family(std::string_view model_type);

// What a recipe says of the attention that NeMo RL would load.
struct AttentionRequest {
  std::string backend;  // policy.dtensor_cfg.automodel_kwargs.backend.attn; "": te where Transformer Engine and CUDA are, else sdpa
  bool force_hf = false;
};

struct FamilyVerdict {
  Verdict verdict;
  std::string words;
  bool refuses_backend = false;  // because of the attention that the recipe asks for, and of nothing else
};
FamilyVerdict judge(const Family& family, Target target, const AttentionRequest& request);
// What a target that refuses the recipe's attention would take in its place, if there is one the other takes it too; "": none refuses it.
std::string attention_way_out(const Family& family, const AttentionRequest& request);

// Families that this engine is to train; those that it does are in the capability table.
inline constexpr std::string_view kOwnFamilies[] = {"llama", "mistral", "qwen2", "qwen3", "qwen3_moe", "nemotron_h"};

}  // namespace ringwright::support_matrix
