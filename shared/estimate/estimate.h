// What a training step needs before it runs: bytes of memory on each rank, term by term, and of a checkpoint. Sums of sizes and nothing else; `runs
// show` puts what was measured beside them.
//
// Shape letters: T tokens of one rank's microbatch, d hidden size, Q = heads x head size, P = key/value heads x head size, F width of the MLP,
// V vocabulary, N layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/model/config.h"

namespace ringwright::estimate {

// Of one rank.
struct StepShape {
  int64_t tokens = 0;  // T
  int cp = 1;
  std::string method = "ring";  // of attention over the CP group
  int64_t value_bytes = 4;      // of parameters, gradients, moments and activations: float32
};

struct Term {
  std::string name;     // "parameters"
  int64_t bytes = 0;    // 2^63 - 1 for more than that
  std::string formula;  // with its numbers: "4 x 1,234,567"
};

struct Estimate {
  std::vector<Term> terms;       // in the order of the issue of memory: what stays, then what a step adds
  int64_t checkpoint_bytes = 0;  // on disk, of one save

  int64_t memory_bytes() const;
  const Term& term(const std::string& name) const;  // throws std::out_of_range
};

// What a recipe says of a microbatch, in whole sequences.
struct BatchShape {
  int64_t length = 0, micro_batch = 1;
  int64_t pack_tokens = 0, microbatch_tokens = 0;  // of sequence packing, of dynamic batching; 0: it is off
  int cp = 1;
  int64_t divisor = 1;  // what a row or document is padded to a multiple of
};

// Tokens of the largest microbatch on one rank: rows or a pack, padded as the layout asks for.
int64_t tokens_per_rank(const BatchShape& batch);

// `shape.method`: a name that is none of the attention methods' counts as ring.
Estimate estimate_step(const model::ModelConfig& model, const StepShape& shape);

// Operations that training on `tokens` tokens takes at least, over all ranks: 2 forward and 4 backward for each weight that a token is multiplied
// with. Attention is left out.
double training_flops_min(const model::ModelConfig& model, int64_t tokens);

}  // namespace ringwright::estimate
