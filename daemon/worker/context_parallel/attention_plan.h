// Which blocks of (query, key) pairs one rank computes, and whose keys it reads for them: a mask in global positions and a layout become tiles over
// local slots. Every attention method, and attention on one rank, works through such tiles. Pure arithmetic.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/worker/context_parallel/slot_ranges.h"
#include "shared/layout/layout.h"
#include "shared/layout/mask.h"

namespace ringwright::worker {

// One call of the attention operator.
struct AttentionTile {
  enum class Kind {
    full,    // every query sees every key
    causal,  // a square: query i sees keys 0..i
    window,  // query i sees key j when 0 <= distance + i - j < window
  };
  Kind kind = Kind::full;
  SlotRange queries, keys;
  int64_t distance = 0;
  int64_t window = 0;

  bool operator==(const AttentionTile&) const = default;
};

// The tiles of queries that lie in `queries` over keys that lie in `keys` (runs of one rank each, or of any part of the sequence), in the order of
// their queries. Every pair that the mask lets through is in exactly one tile; no tile has a query or a key without a pair. `length`: of the
// whole padded sequence. Errors: those of layout::check_mask.
std::vector<AttentionTile> plan_tiles(const std::vector<layout::Run>& queries, const std::vector<layout::Run>& keys, const layout::Mask& mask,
                                      int64_t length);

// The keys that these tiles read.
SlotRanges keys_read(const std::vector<AttentionTile>& tiles);

// The most queries and the most keys of one tile: what a call's results may need.
struct TileSize {
  int64_t queries = 0, keys = 0;

  void include(const std::vector<AttentionTile>& tiles);
};

// Length of the whole padded sequence of which each rank holds `local_length` tokens; a layout that keeps all tokens on every rank has no more.
int64_t padded_length(const layout::Layout& layout, int64_t local_length);

// The tiles of one rank, source by source, and what every rank reads of every other.
class AttentionPlan {
 public:
  // local_length: tokens per rank. Errors: those of layout::check_mask.
  AttentionPlan(const layout::Layout& layout, int64_t local_length, int rank, const layout::Mask& mask);

  int cp() const { return cp_; }
  int64_t local_length() const { return local_length_; }
  const std::vector<AttentionTile>& tiles(int source) const { return tiles_[static_cast<size_t>(source)]; }
  const TileSize& largest_tile() const { return largest_tile_; }
  // Slots of `source` that `reader` needs; empty for source = reader, whose keys need not travel.
  const SlotRanges& reads(int reader, int source) const { return reads_[static_cast<size_t>(reader * cp_ + source)]; }

 private:
  int cp_;
  int64_t local_length_;
  std::vector<std::vector<AttentionTile>> tiles_;
  TileSize largest_tile_;
  std::vector<SlotRanges> reads_;
};

// What travels round the ring rank 0, 1, ... for one rank. Step t works on the block of rank - t; hop h of a block is its way from its owner's
// (h - 1)-th to its h-th successor. Only what the ranks behind a hop read makes the hop.
class RingPlan {
 public:
  RingPlan(const layout::Layout& layout, int64_t local_length, int rank, const layout::Mask& mask);

  const AttentionPlan& attention() const { return attention_; }
  int source(int step) const { return (rank_ - step + attention_.cp()) % attention_.cp(); }
  // Keys of source(step) that come in for this step (step 1..cp - 1), and those of source(step - 1) that leave at the same time.
  const SlotRanges& incoming(int step) const { return incoming_[static_cast<size_t>(step)]; }
  const SlotRanges& outgoing(int step) const { return outgoing_[static_cast<size_t>(step)]; }
  // Keys of source(step) with a gradient once this rank has added its own, and those of source(step + 1), whose gradient comes in at the same time.
  const SlotRanges& outgoing_gradient(int step) const { return outgoing_gradient_[static_cast<size_t>(step)]; }
  const SlotRanges& incoming_gradient(int step) const { return incoming_gradient_[static_cast<size_t>(step)]; }

 private:
  SlotRanges read_from_hop(int source, int first_hop, int last_hop) const;

  AttentionPlan attention_;
  int rank_;
  std::vector<SlotRanges> incoming_, outgoing_, outgoing_gradient_, incoming_gradient_;
};

}  // namespace ringwright::worker
