#include "shared/layout/dispatch.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace ringwright::layout {
namespace {

// Chunks of one rank, lightest first.
struct Hand {
  int rank = 0;
  int64_t load = 0;
  std::vector<size_t> chunks;
};

class Dealer {
 public:
  Dealer(const std::vector<int64_t>& areas, int cp) : areas_(areas), hands_(static_cast<size_t>(cp)) {
    for (int rank = 0; rank < cp; ++rank) hands_[static_cast<size_t>(rank)].rank = rank;
  }

  // Rounds of cp chunks, heaviest first: in each round the rank with the least so far gets the heaviest chunk. A round can widen the spread at most
  // to the difference of its own chunks.
  void deal() {
    std::vector<size_t> order(areas_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return areas_[a] > areas_[b]; });
    for (size_t next = 0; next < order.size();) {
      std::sort(hands_.begin(), hands_.end(), [](const Hand& a, const Hand& b) { return a.load != b.load ? a.load < b.load : a.rank < b.rank; });
      for (Hand& hand : hands_) {
        hand.chunks.push_back(order[next]);
        hand.load += areas_[order[next++]];
      }
    }
    for (Hand& hand : hands_) std::sort(hand.chunks.begin(), hand.chunks.end(), [&](size_t a, size_t b) { return lighter(a, b); });
  }

  // Swaps a chunk of the heaviest rank for a lighter one of another, the lightest rank first, while the heaviest is above the mean by more than a
  // thousandth and some swap helps.
  void even_out() {
    const int64_t total = std::accumulate(areas_.begin(), areas_.end(), int64_t{0});
    const int64_t mean = total / static_cast<int64_t>(hands_.size());
    for (size_t swaps = 0; swaps < 64 + 8 * hands_.size(); ++swaps) {
      std::sort(hands_.begin(), hands_.end(), [](const Hand& a, const Hand& b) { return a.load != b.load ? a.load < b.load : a.rank < b.rank; });
      if (hands_.back().load - mean <= mean / 1000) return;
      const bool helped = std::any_of(hands_.begin(), hands_.end() - 1, [&](Hand& partner) { return swap_towards_even(hands_.back(), partner); });
      if (!helped) return;
    }
  }

  std::vector<int> rank_of_chunk() const {
    std::vector<int> ranks(areas_.size());
    for (const Hand& hand : hands_) {
      for (size_t chunk : hand.chunks) ranks[chunk] = hand.rank;
    }
    return ranks;
  }

 private:
  bool lighter(size_t a, size_t b) const { return areas_[a] != areas_[b] ? areas_[a] < areas_[b] : a < b; }

  // Makes the one swap that leaves the two loads nearest to each other; false when none makes the heavier of them lighter.
  bool swap_towards_even(Hand& heavy, Hand& light) {
    const int64_t gap = heavy.load - light.load;
    int64_t best_moved = 0;
    size_t best_heavy = 0, best_light = 0;
    for (size_t h = 0; h < heavy.chunks.size(); ++h) {
      const int64_t wanted = areas_[heavy.chunks[h]] - gap / 2;
      const auto at = std::partition_point(light.chunks.begin(), light.chunks.end(), [&](size_t chunk) { return areas_[chunk] < wanted; });
      for (const auto candidate : {at, at == light.chunks.begin() ? at : at - 1}) {
        if (candidate == light.chunks.end()) continue;
        const int64_t moved = areas_[heavy.chunks[h]] - areas_[*candidate];
        if (moved <= 0 || moved >= gap || std::abs(2 * moved - gap) >= std::abs(2 * best_moved - gap)) continue;
        best_moved = moved;
        best_heavy = h;
        best_light = static_cast<size_t>(candidate - light.chunks.begin());
      }
    }
    if (best_moved == 0) return false;
    const size_t down = heavy.chunks[best_heavy], up = light.chunks[best_light];
    replace(heavy, best_heavy, up);
    replace(light, best_light, down);
    heavy.load -= best_moved;
    light.load += best_moved;
    return true;
  }

  void replace(Hand& hand, size_t position, size_t chunk) {
    hand.chunks.erase(hand.chunks.begin() + static_cast<std::ptrdiff_t>(position));
    const auto at = std::partition_point(hand.chunks.begin(), hand.chunks.end(), [&](size_t other) { return lighter(other, chunk); });
    hand.chunks.insert(at, chunk);
  }

  const std::vector<int64_t>& areas_;
  std::vector<Hand> hands_;
};

}  // namespace

std::vector<int64_t> chunk_areas(const MaskArea& area, int64_t stream_length, int64_t chunk) {
  std::vector<int64_t> areas(static_cast<size_t>(stream_length / chunk));
  for (size_t i = 0; i < areas.size(); ++i) areas[i] = area.pairs(static_cast<int64_t>(i) * chunk, chunk);
  return areas;
}

std::vector<int> deal_chunks(const std::vector<int64_t>& areas, int cp) {
  Dealer dealer(areas, cp);
  dealer.deal();
  dealer.even_out();
  return dealer.rank_of_chunk();
}

}  // namespace ringwright::layout
