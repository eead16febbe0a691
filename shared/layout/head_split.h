// How attention heads are dealt to the ranks of an all-to-all (Ulysses, arXiv 2309.14509), and which ranks those are. Pure arithmetic.
#pragma once

#include <cstdint>
#include <string>

namespace ringwright::layout {

struct HeadCounts {
  int64_t heads = 1;
  int64_t kv_heads = 1;  // divides heads
};

struct HeadRange {
  int64_t start;
  int64_t length;

  int64_t end() const { return start + length; }
  bool operator==(const HeadRange&) const = default;
};

// Each of `ranks` ranks takes heads / ranks query heads and the key/value heads that these read: kv_heads / ranks of its own, or, where there are
// fewer than ranks, one that it shares with its neighbours. "": possible; else why not, with the numbers.
std::string head_split_refusal(const HeadCounts& counts, int ranks);

// The query heads and the key/value heads of one rank.
HeadRange query_heads_of(const HeadCounts& counts, int ranks, int rank);
HeadRange key_heads_of(const HeadCounts& counts, int ranks, int rank);

// Ranks that exchange heads when cp = that many times a ring: the largest proper divisor of cp that heads can be dealt to with no key/value head on
// two ranks, else the largest that they can be dealt to at all. 0: there is none.
int head_ranks_of_grid(const HeadCounts& counts, int cp);
// "": there is one; else why not, with the numbers.
std::string head_grid_refusal(const HeadCounts& counts, int cp);

}  // namespace ringwright::layout
