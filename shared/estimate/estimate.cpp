#include "shared/estimate/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>

#include "shared/base/rounding.h"
#include "shared/base/text.h"
#include "shared/estimate/logits_chunk.h"

namespace ringwright::estimate {
namespace {

// Sizes that a file may claim multiply to more than 64 bits.
__extension__ using Wide = __int128;
int64_t saturated(Wide value) { return static_cast<int64_t>(std::min<Wide>(value, INT64_MAX)); }

struct Widths {
  int64_t d, Q, P, F, V, N, heads;
};

Widths widths_of(const model::ModelConfig& model) {
  return {model.hidden_size,
          model.num_attention_heads * model.head_dim,
          model.num_key_value_heads * model.head_dim,
          model.intermediate_size,
          model.vocab_size,
          model.num_hidden_layers,
          model.num_attention_heads};
}

Term make_term(std::string name, Wide count, int64_t value_bytes, const std::string& what) {
  return {std::move(name), saturated(count * value_bytes), fmt::format("{} x {}: {}", value_bytes, text::format_count(saturated(count)), what)};
}

// What a layer keeps between forward and backward: its two inputs (d each), queries and the attended output twice (Q each), keys and values (P each),
// gate and up (F each), the log-sum-exp of each head and two norms. One layer's backward works beside it on three rows of F and two of d.
Term activations(const Widths& w, const StepShape& shape) {
  const int64_t kept = 2 * w.d + 3 * w.Q + 2 * w.P + 2 * w.F + w.heads + 2, beside = 3 * w.F + 2 * w.d, ends = 3 * w.d;
  return make_term("activations", Wide{shape.tokens} * (w.N * kept + beside + ends), shape.value_bytes,
                   fmt::format("{} tokens x ({} layers x {} + {} in one layer's backward + {} at the ends)", text::format_count(shape.tokens), w.N,
                               text::format_count(kept), text::format_count(beside), text::format_count(ends)));
}

Term logits(const Widths& w, const StepShape& shape) {
  const int64_t rows = std::min(logits_chunk_rows(w.V), shape.tokens);
  return make_term("logits", Wide{rows} * w.V + w.V * w.d + Wide{shape.tokens} * w.d, shape.value_bytes,
                   fmt::format("a chunk of {} tokens, the head's gradient and the hidden states'", rows));
}

struct MethodBlocks {
  std::string_view method;
  Wide (*values)(const Widths&, const StepShape&);
  std::string_view words;
};

// Keys and values of other ranks, in one layer at a time.
constexpr MethodBlocks kMethods[] = {
    {"ring", [](const Widths& w, const StepShape& s) { return Wide{8} * s.tokens * w.P; },
     "two blocks of keys and values, and two of their gradients"},
    {"all_gather", [](const Widths& w, const StepShape& s) { return Wide{4} * s.cp * s.tokens * w.P; },
     "keys and values of the whole sequence, and their gradients"},
    {"ranged", [](const Widths& w, const StepShape& s) { return Wide{4} * s.cp * s.tokens * w.P; },
     "at most the keys and values of the whole sequence, and their gradients"},
    {"all_to_all", [](const Widths& w, const StepShape& s) { return Wide{2} * s.tokens * (2 * w.Q + 2 * w.P); },
     "queries, keys, values and outputs by heads, and their gradients"},
    {"all_to_all+ring", [](const Widths& w, const StepShape& s) { return Wide{s.tokens} * (4 * w.Q + 12 * w.P); },
     "queries, keys, values and outputs by heads, their gradients, and two blocks of keys and values"},
};

Term blocks(const Widths& w, const StepShape& shape) {
  if (shape.cp == 1) return {"KV blocks", 0, "0: one rank has all tokens"};
  const auto found = std::find_if(std::begin(kMethods), std::end(kMethods), [&](const MethodBlocks& each) { return each.method == shape.method; });
  const MethodBlocks& method = found == std::end(kMethods) ? kMethods[0] : *found;
  return make_term("KV blocks", method.values(w, shape), shape.value_bytes, std::string(method.words));
}

int64_t file_bytes(const std::string& dtype) { return dtype == "bfloat16" || dtype == "float16" ? 2 : 4; }

}  // namespace

int64_t Estimate::memory_bytes() const {
  return saturated(std::accumulate(terms.begin(), terms.end(), Wide{0}, [](Wide sum, const Term& term) { return sum + term.bytes; }));
}

const Term& Estimate::term(const std::string& name) const {
  for (const Term& term : terms)
    if (term.name == name) return term;
  throw std::out_of_range("no term " + name);
}

int64_t tokens_per_rank(const BatchShape& batch) {
  const int64_t row = round_up(batch.length, batch.divisor);
  int64_t tokens = row * batch.micro_batch;
  if (batch.pack_tokens > 0) tokens = round_up(batch.pack_tokens, batch.divisor);
  if (batch.microbatch_tokens > 0) tokens = std::max(row, round_up(batch.microbatch_tokens, batch.divisor));
  return tokens / batch.cp;
}

Estimate estimate_step(const model::ModelConfig& model, const StepShape& shape) {
  const Widths w = widths_of(model);
  const int64_t parameters = model.parameter_count();
  Estimate estimate;
  estimate.terms = {make_term("parameters", parameters, shape.value_bytes, "whole on each rank"),
                    make_term("gradients", parameters, shape.value_bytes, "whole on each rank"),
                    make_term("optimizer", 2 * parameters, shape.value_bytes, "two moments, whole on each rank"),
                    activations(w, shape),
                    logits(w, shape),
                    blocks(w, shape)};
  estimate.checkpoint_bytes = parameters * file_bytes(model.dtype);
  return estimate;
}

double training_flops_min(const model::ModelConfig& model, int64_t tokens) {
  // An embedding is looked up; where it is tied, it is the head as well.
  const int64_t looked_up = model.tie_word_embeddings ? 0 : model.vocab_size * model.hidden_size;
  return 6.0 * static_cast<double>(model.parameter_count() - looked_up) * static_cast<double>(tokens);
}

}  // namespace ringwright::estimate
