// What a recipe and a model make of context parallelism: which flavour spreads a batch, what it is padded to, which attention method goes over the
// ranks, and why. The worker trains by this plan and `ringwright check` shows it, so that both say the same before and after a launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/layout/mask.h"
#include "shared/model/context_parallel.h"
#include "shared/recipe/recipe.h"

namespace ringwright::shard_plan {

struct ShardPlan {
  std::string flavour;         // one of layout::flavour_names(); "none" at one rank
  std::string flavour_reason;  // for people, as is the next reason
  int64_t pad_multiple = 1;    // the family's; flavours contiguous and deepseek_v4 look at it
  layout::Mask mask;           // what every layer keeps to, without documents: a window that all layers have
  std::string method;          // one of layout::method_names()
  std::string method_reason;
};

// A microbatch whose sequences are as long as the recipe lets them be.
struct Microbatch {
  int64_t rows = 1, row_length = 0;
  std::vector<int64_t> document_offsets;  // of each row; empty: a row is one sequence
  std::string text;                       // "2 rows of 512 tokens"
};
// What a plan is made for. Where the flavour makes one stream of the rows, each of them is a document of it.
Microbatch longest_microbatch(const recipe::SftConfig& config, const std::string& flavour);

// The method is what the recipe names; under `auto` the cheapest by the cost model (layout/method_cost.h) over a microbatch of the recipe's own
// lengths: its rows, or the documents of a pack, are taken to be as long as the recipe lets them be. The same on every rank, without asking another.
// Throws Error RW-CP-005 (refused) where the family has no flavour for such batches and the recipe names none, and what make_layout throws.
ShardPlan plan_shards(const recipe::SftConfig& config, const model::ContextParallelConfig& model);

}  // namespace ringwright::shard_plan
