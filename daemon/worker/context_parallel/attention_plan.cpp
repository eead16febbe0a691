#include "daemon/worker/context_parallel/attention_plan.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace ringwright::worker {
namespace {

using Kind = AttentionTile::Kind;
using layout::MaskBlock;
using layout::Run;

// A band is cut into blocks of queries. Up to kNarrowWindow a block is one call with a bias, of kNarrowBlock queries so that few masked pairs are
// computed; a wider window gets bias at its edge only.
constexpr int64_t kNarrowWindow = 512;
constexpr int64_t kNarrowBlock = 128;
constexpr int64_t kWideBlock = 512;

constexpr int64_t kNoWindow = std::numeric_limits<int64_t>::max() / 4;

// Cuts the visible part of (query run) x (key run) x (block of the mask) into tiles. Keys are counted with the tokens that the path skips added,
// so the distance of a pair is q - k.
class Cutter {
 public:
  Cutter(const Run& query, const Run& key, const MaskBlock& block, const layout::Mask& mask, std::vector<AttentionTile>& tiles)
      : query_shift_(query.local_start - query.global_start),
        key_shift_(key.local_start - key.global_start - block.skipped),
        causal_(mask.kind == layout::Mask::Kind::causal),
        window_(mask.window > 0 ? mask.window : kNoWindow),
        tiles_(tiles) {}

  void cut(int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
    if (!causal_) return emit(Kind::full, q0, q1, k0, k1);
    k1 = std::min(k1, q1);
    q0 = std::max(q0, k0);
    k0 = std::max(k0, q0 - window_ + 1);
    q1 = std::min(q1, k1 - 1 + window_);
    if (q0 >= q1 || k0 >= k1) return;
    if (q1 - 1 - k0 < window_) return cut_causal(q0, q1, k0, k1);
    const bool narrow = window_ <= kNarrowWindow;
    const int64_t step = narrow ? kNarrowBlock : kWideBlock;
    for (int64_t begin = q0; begin < q1; begin += step) {
      const int64_t end = std::min(q1, begin + step);
      narrow ? cut_narrow(begin, end, k0, k1) : cut_wide(begin, end, k0, k1);
    }
  }

 private:
  // k <= q is the only rule: a rectangle in front of the diagonal, a square on it, a rectangle below.
  void cut_causal(int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
    k1 = std::min(k1, q1);
    q0 = std::max(q0, k0);
    emit(Kind::full, q0, q1, k0, std::min(k1, q0));
    if (k1 <= q0) return;
    emit(Kind::causal, q0, k1, q0, k1);
    emit(Kind::full, k1, q1, q0, k1);
  }

  void cut_narrow(int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
    k0 = std::max(k0, q0 - window_ + 1);
    k1 = std::min(k1, q1);
    emit(Kind::window, std::max(q0, k0), std::min(q1, k1 - 1 + window_), k0, k1);
  }

  // Keys from q1 - window on are in the window of all these queries; those before it, of some.
  void cut_wide(int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
    const int64_t edge = std::clamp(q1 - window_, k0, k1);
    const int64_t first = std::max(k0, q0 - window_ + 1);
    emit(Kind::window, q0, std::min(q1, edge - 1 + window_), first, edge);
    cut_causal(q0, q1, std::max(first, edge), k1);
  }

  void emit(Kind kind, int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
    if (q0 >= q1 || k0 >= k1) return;
    AttentionTile tile{.kind = kind, .queries = {q0 + query_shift_, q1 - q0}, .keys = {k0 + key_shift_, k1 - k0}};
    if (kind == Kind::window) {
      tile.distance = q0 - k0;
      tile.window = window_;
    }
    tiles_.push_back(tile);
  }

  int64_t query_shift_, key_shift_;
  bool causal_;
  int64_t window_;
  std::vector<AttentionTile>& tiles_;
};

std::vector<MaskBlock> blocks_by_query(const layout::Mask& mask, int64_t length) {
  std::vector<MaskBlock> blocks = layout::mask_blocks(mask, length);
  std::stable_sort(blocks.begin(), blocks.end(), [](const MaskBlock& a, const MaskBlock& b) { return a.query_start < b.query_start; });
  return blocks;
}

std::vector<Run> runs_by_position(std::vector<Run> runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.global_start < b.global_start; });
  return runs;
}

void cut_block(const Run& query, const std::vector<Run>& keys, const MaskBlock& block, const layout::Mask& mask, std::vector<AttentionTile>& tiles) {
  const int64_t q0 = std::max(query.global_start, block.query_start);
  const int64_t q1 = std::min(query.global_start + query.length, block.query_start + block.query_length);
  const int64_t behind = block.key_start + block.key_length;
  auto key = std::partition_point(keys.begin(), keys.end(), [&](const Run& run) { return run.global_start + run.length <= block.key_start; });
  for (; key != keys.end() && key->global_start < behind; ++key) {
    const int64_t k0 = std::max(key->global_start, block.key_start), k1 = std::min(key->global_start + key->length, behind);
    Cutter(query, *key, block, mask, tiles).cut(q0, q1, k0 + block.skipped, k1 + block.skipped);
  }
}

// All tiles, unmerged. Queries of two blocks are the same or apart, so blocks by start are blocks by end.
std::vector<AttentionTile> cut_all(const std::vector<Run>& queries, const std::vector<Run>& keys, const std::vector<MaskBlock>& blocks,
                                   const layout::Mask& mask) {
  std::vector<AttentionTile> tiles;
  for (const Run& query : queries) {
    auto block =
        std::partition_point(blocks.begin(), blocks.end(), [&](const MaskBlock& b) { return b.query_start + b.query_length <= query.global_start; });
    for (; block != blocks.end() && block->query_start < query.global_start + query.length; ++block) cut_block(query, keys, *block, mask, tiles);
  }
  return tiles;
}

// Joins tiles that follow each other in the given order where `join` can.
template <typename Join>
void join_neighbours(std::vector<AttentionTile>& tiles, Join&& join) {
  std::vector<AttentionTile> result;
  for (const AttentionTile& tile : tiles) {
    if (result.empty() || !join(result.back(), tile)) result.push_back(tile);
  }
  tiles = std::move(result);
}

bool join_keys(AttentionTile& into, const AttentionTile& tile) {
  const bool fits = into.kind == Kind::full && tile.kind == Kind::full && into.queries == tile.queries && into.keys.end() == tile.keys.start;
  if (fits) into.keys.length += tile.keys.length;
  return fits;
}

bool join_queries(AttentionTile& into, const AttentionTile& tile) {
  const bool fits = into.kind == Kind::full && tile.kind == Kind::full && into.keys == tile.keys && into.queries.end() == tile.queries.start;
  if (fits) into.queries.length += tile.queries.length;
  return fits;
}

auto query_order(const AttentionTile& tile) { return std::tuple(tile.queries.start, tile.queries.length, tile.keys.start); }
auto key_order(const AttentionTile& tile) { return std::tuple(tile.keys.start, tile.keys.length, tile.queries.start); }

// Two causal squares and the rectangle between them are one square, when their slots follow each other. Tiles are in the order of their queries.
void grow_squares(std::vector<AttentionTile>& tiles) {
  std::vector<AttentionTile> result;
  size_t square = 0;  // of `result`
  for (const AttentionTile& tile : tiles) {
    const bool grows = tile.kind == Kind::causal && result.size() >= 2 && square + 1 == result.size() - 1 && result[square].kind == Kind::causal &&
                       result.back().kind == Kind::full && result.back().queries == tile.queries && result.back().keys == result[square].keys &&
                       result[square].queries.end() == tile.queries.start && result[square].keys.end() == tile.keys.start;
    if (grows) {
      result.pop_back();
      result[square].queries.length += tile.queries.length;
      result[square].keys.length += tile.keys.length;
      continue;
    }
    if (tile.kind == Kind::causal) square = result.size();
    result.push_back(tile);
  }
  tiles = std::move(result);
}

template <typename Key>
void sort_by(std::vector<AttentionTile>& tiles, Key&& key) {
  std::sort(tiles.begin(), tiles.end(), [&](const AttentionTile& a, const AttentionTile& b) { return key(a) < key(b); });
}

std::vector<AttentionTile> plan_blocks(const std::vector<Run>& queries, const std::vector<Run>& keys_by_position,
                                       const std::vector<MaskBlock>& blocks, const layout::Mask& mask) {
  std::vector<AttentionTile> tiles = cut_all(queries, keys_by_position, blocks, mask);
  sort_by(tiles, query_order);
  join_neighbours(tiles, join_keys);
  grow_squares(tiles);
  sort_by(tiles, key_order);
  join_neighbours(tiles, join_queries);
  sort_by(tiles, query_order);
  return tiles;
}

}  // namespace

std::vector<AttentionTile> plan_tiles(const std::vector<Run>& queries, const std::vector<Run>& keys, const layout::Mask& mask, int64_t length) {
  return plan_blocks(queries, runs_by_position(keys), blocks_by_query(mask, length), mask);
}

SlotRanges keys_read(const std::vector<AttentionTile>& tiles) {
  std::vector<SlotRange> ranges;
  for (const AttentionTile& tile : tiles) ranges.push_back(tile.keys);
  return SlotRanges(std::move(ranges));
}

void TileSize::include(const std::vector<AttentionTile>& tiles) {
  for (const AttentionTile& tile : tiles) {
    queries = std::max(queries, tile.queries.length);
    keys = std::max(keys, tile.keys.length);
  }
}

int64_t padded_length(const layout::Layout& layout, int64_t local_length) { return layout.replicates() ? local_length : local_length * layout.cp(); }

AttentionPlan::AttentionPlan(const layout::Layout& layout, int64_t local_length, int rank, const layout::Mask& mask)
    : cp_(layout.cp()), local_length_(local_length), tiles_(static_cast<size_t>(cp_)), reads_(static_cast<size_t>(cp_) * static_cast<size_t>(cp_)) {
  const int64_t length = padded_length(layout, local_length);
  if (length == local_length) {
    tiles_[static_cast<size_t>(rank)] = plan_tiles(layout.runs(length, rank), layout.runs(length, rank), mask, length);
    largest_tile_.include(tiles_[static_cast<size_t>(rank)]);
    return;
  }
  std::vector<std::vector<Run>> runs, keys;
  for (int r = 0; r < cp_; ++r) {
    runs.push_back(layout.runs(length, r));
    keys.push_back(runs_by_position(runs.back()));
  }
  const std::vector<MaskBlock> blocks = blocks_by_query(mask, length);
  for (int reader = 0; reader < cp_; ++reader) {
    for (int source = 0; source < cp_; ++source) {
      std::vector<AttentionTile> tiles = plan_blocks(runs[static_cast<size_t>(reader)], keys[static_cast<size_t>(source)], blocks, mask);
      if (source != reader) reads_[static_cast<size_t>(reader * cp_ + source)] = keys_read(tiles);
      if (reader != rank) continue;
      largest_tile_.include(tiles);
      tiles_[static_cast<size_t>(source)] = std::move(tiles);
    }
  }
}

RingPlan::RingPlan(const layout::Layout& layout, int64_t local_length, int rank, const layout::Mask& mask)
    : attention_(layout, local_length, rank, mask), rank_(rank) {
  const int cp = attention_.cp();
  incoming_.emplace_back();
  outgoing_.emplace_back();
  incoming_gradient_.emplace_back();
  outgoing_gradient_.emplace_back();
  for (int step = 1; step < cp; ++step) {
    incoming_.push_back(read_from_hop(source(step), step, cp - 1));
    outgoing_.push_back(read_from_hop(source(step - 1), step, cp - 1));
    outgoing_gradient_.push_back(read_from_hop(source(step), 1, step));
    incoming_gradient_.push_back(read_from_hop(source(step + 1), 1, step));
  }
}

SlotRanges RingPlan::read_from_hop(int source, int first_hop, int last_hop) const {
  SlotRanges read;
  for (int hop = first_hop; hop <= last_hop; ++hop) read = read.united(attention_.reads((source + hop) % attention_.cp(), source));
  return read;
}

}  // namespace ringwright::worker
