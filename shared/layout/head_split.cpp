#include "shared/layout/head_split.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringwright::layout {

std::string head_split_refusal(const HeadCounts& counts, int ranks) {
  if (counts.heads % ranks != 0) return fmt::format("{} query heads cannot be dealt to {} ranks", counts.heads, ranks);
  if (counts.kv_heads % ranks != 0 && ranks % counts.kv_heads != 0) {
    return fmt::format("{} key/value heads can neither be dealt to {} ranks nor be shared by equal parts of them", counts.kv_heads, ranks);
  }
  return "";
}

HeadRange query_heads_of(const HeadCounts& counts, int ranks, int rank) {
  const int64_t count = counts.heads / ranks;
  return {rank * count, count};
}

HeadRange key_heads_of(const HeadCounts& counts, int ranks, int rank) {
  return {rank * counts.kv_heads / ranks, std::max<int64_t>(counts.kv_heads / ranks, 1)};
}

int head_ranks_of_grid(const HeadCounts& counts, int cp) {
  int shared = 0;
  for (int ranks = cp / 2; ranks > 1; --ranks) {
    if (cp % ranks != 0 || !head_split_refusal(counts, ranks).empty()) continue;
    if (counts.kv_heads % ranks == 0) return ranks;
    shared = std::max(shared, ranks);
  }
  return shared;
}

std::string head_grid_refusal(const HeadCounts& counts, int cp) {
  if (head_ranks_of_grid(counts, cp) > 0) return "";
  return fmt::format("cp = {} has no divisor, other than 1 and itself, to whose number {} query and {} key/value heads can be dealt", cp,
                     counts.heads, counts.kv_heads);
}

}  // namespace ringwright::layout
