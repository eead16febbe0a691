#include "daemon/worker/context_parallel/attention_tiles.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include "daemon/worker/kernels/attention_pack.h"

namespace ringwright::worker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Blocks of one window have few shapes, so their masks are made once a call.
class TileMasks {
 public:
  explicit TileMasks(const at::Device& device) : device_(device) {}

  BlockMask of(const AttentionTile& tile) {
    if (tile.kind != AttentionTile::Kind::window) return {.causal = tile.kind == AttentionTile::Kind::causal, .allowed_LM = {}};
    at::Tensor& allowed_LM = made_[{tile.queries.length, tile.keys.length, tile.distance, tile.window}];
    if (!allowed_LM.defined()) {
      const auto positions = [&](int64_t length) { return at::arange(length, at::TensorOptions(device_).dtype(at::kLong)); };
      const at::Tensor distance_LM = positions(tile.queries.length).unsqueeze(1).add(tile.distance) - positions(tile.keys.length);
      allowed_LM = distance_LM.ge(0).logical_and_(distance_LM.lt(tile.window));
    }
    return {.causal = false, .allowed_LM = allowed_LM};
  }

 private:
  at::Device device_;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, at::Tensor> made_;
};

at::Tensor queries_of(const at::Tensor& x, const AttentionTile& tile) { return x.narrow(2, tile.queries.start, tile.queries.length); }

bool is_causal(const AttentionTile& tile) { return tile.kind == AttentionTile::Kind::causal; }

// Tiles that make one call of the operator: neighbours of one kind where the device packs them, else each alone.
using TileGroup = std::span<const AttentionTile>;
std::vector<TileGroup> groups_of(const std::vector<AttentionTile>& tiles, bool pack) {
  std::vector<TileGroup> groups;
  for (size_t begin = 0; begin < tiles.size();) {
    size_t end = begin + 1;
    while (pack && tiles[begin].kind != AttentionTile::Kind::window && end < tiles.size() && tiles[end].kind == tiles[begin].kind) ++end;
    groups.push_back(TileGroup(tiles).subspan(begin, end - begin));
    begin = end;
  }
  return groups;
}

std::vector<BlockRange> block_ranges(const TileGroup& group, const KeyBlock& keys) {
  std::vector<BlockRange> ranges;
  for (const AttentionTile& tile : group) {
    ranges.push_back({tile.queries.start, tile.queries.length, keys.slots.packed_offset(tile.keys.start), tile.keys.length});
  }
  return ranges;
}

// The slots `wanted` of a tensor that holds the slots `held`.
at::Tensor repacked(const at::Tensor& x_BMKD, const SlotRanges& held, const SlotRanges& wanted) {
  if (held == wanted) return x_BMKD;
  std::vector<at::Tensor> pieces;
  SlotRange packed{0, 0};
  for (const SlotRange& range : wanted.ranges()) {
    const int64_t offset = held.packed_offset(range.start);
    if (packed.length > 0 && offset == packed.end()) {
      packed.length += range.length;
      continue;
    }
    if (packed.length > 0) pieces.push_back(x_BMKD.narrow(1, packed.start, packed.length));
    packed = {offset, range.length};
  }
  const at::Tensor last = x_BMKD.narrow(1, packed.start, packed.length);
  if (pieces.empty()) return last;
  pieces.push_back(last);
  return at::cat(pieces, 1);
}

// Below this size of one call's results lanes save nothing worth another call.
constexpr int64_t kLaneBytes = int64_t{4} << 20;

std::vector<SlotRange> ranges_of(const std::vector<HeadLane>& lanes, SlotRange HeadLane::* heads) {
  std::vector<SlotRange> ranges;
  for (const HeadLane& lane : lanes) ranges.push_back(lane.*heads);
  return ranges;
}

}  // namespace

KeyBlock KeyBlock::whole(const at::Tensor& k_BKLD, const at::Tensor& v_BKLD) {
  return {k_BKLD.transpose(1, 2), v_BKLD.transpose(1, 2), SlotRanges({{0, k_BKLD.size(2)}})};
}

KeyBlock KeyBlock::empty(const at::Tensor& like_BKLD, const SlotRanges& slots, at::ScalarType type) {
  const auto make = [&] {
    return at::empty({like_BKLD.size(0), slots.length(), like_BKLD.size(1), like_BKLD.size(3)}, like_BKLD.options().dtype(type));
  };
  return {make(), make(), slots};
}

KeyBlock KeyBlock::part(const SlotRanges& wanted) const { return {repacked(k_BMKD, slots, wanted), repacked(v_BMKD, slots, wanted), wanted}; }

at::Tensor KeyBlock::k_BKMD(const SlotRange& range) const { return k_BMKD.narrow(1, slots.packed_offset(range.start), range.length).transpose(1, 2); }

at::Tensor KeyBlock::v_BKMD(const SlotRange& range) const { return v_BMKD.narrow(1, slots.packed_offset(range.start), range.length).transpose(1, 2); }

at::ScalarType accumulation_type(const at::Tensor& tensor) { return tensor.scalar_type() == at::kDouble ? at::kDouble : at::kFloat; }

std::vector<HeadLane> head_lanes(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const TileSize& largest_tile) {
  const int64_t kv_heads = k_BKLD.size(1), group = q_BHLD.size(1) / std::max<int64_t>(kv_heads, 1);
  const int64_t values = (largest_tile.queries * q_BHLD.size(1) + 2 * largest_tile.keys * kv_heads) * q_BHLD.size(0) * q_BHLD.size(3);
  const int64_t bytes = values * static_cast<int64_t>(q_BHLD.element_size());
  const int64_t count = std::clamp<int64_t>(bytes / kLaneBytes, 1, std::max<int64_t>(kv_heads, 1));
  std::vector<HeadLane> lanes;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = i * kv_heads / count, end = (i + 1) * kv_heads / count;
    lanes.push_back({static_cast<size_t>(i), {begin, end - begin}, {begin * group, (end - begin) * group}});
  }
  return lanes;
}

KeyGradientSum::KeyGradientSum(const at::Tensor& k_BKLD, const SlotRanges& slots, at::ScalarType type, const std::vector<HeadLane>& lanes)
    : k_(k_BKLD.transpose(1, 2), 1, slots, type, ranges_of(lanes, &HeadLane::kv_heads)), v_(k_) {}

void KeyGradientSum::add(const SlotRange& range, const AttentionBlockGradients& share, const HeadLane& lane) {
  k_.add(range, share.k_BKMD.transpose(1, 2), lane.index);
  v_.add(range, share.v_BKMD.transpose(1, 2), lane.index);
}

void KeyGradientSum::add(const KeyBlock& given) {
  k_.add_all_heads(given.k_BMKD, given.slots);
  v_.add_all_heads(given.v_BMKD, given.slots);
}

KeyBlock KeyGradientSum::finish() {
  const SlotRanges slots = k_.slots();
  return {k_.finish(), v_.finish(), slots};
}

void AttentionSum::add(const std::vector<AttentionTile>& tiles, const KeyBlock& keys) {
  TileMasks masks(q_BHLD_.device());
  for (const TileGroup& group : groups_of(tiles, packs_blocks(q_BHLD_))) {
    const AttentionTile& first = group.front();
    if (group.size() == 1) {
      add_block(first.queries,
                attention_block_forward(queries_of(q_BHLD_, first), keys.k_BKMD(first.keys), keys.v_BKMD(first.keys), masks.of(first), scale_));
      continue;
    }
    const std::vector<AttentionBlock> blocks = attention_blocks_forward(q_BHLD_, keys.k_BMKD.transpose(1, 2), keys.v_BMKD.transpose(1, 2),
                                                                        block_ranges(group, keys), is_causal(first), scale_);
    for (size_t i = 0; i < group.size(); ++i) add_block(group[i].queries, blocks[i]);
  }
}

AttentionBlock AttentionSum::narrowed(const SlotRange& range) const {
  return {merged_.out_BHLD.narrow(2, range.start, range.length), merged_.lse_BHL.narrow(2, range.start, range.length)};
}

void AttentionSum::allocate() {
  const auto options = q_BHLD_.options().dtype(accumulation_type(q_BHLD_));
  merged_.out_BHLD = at::empty({q_BHLD_.size(0), q_BHLD_.size(2), q_BHLD_.size(1), q_BHLD_.size(3)}, options).transpose(1, 2);
  merged_.lse_BHL = at::empty({q_BHLD_.size(0), q_BHLD_.size(1), q_BHLD_.size(2)}, options);
}

void AttentionSum::fill_gaps(const SlotRange& range) {
  for (const SlotRange& gap : touched_.gaps(range)) {
    const AttentionBlock rows = narrowed(gap);
    rows.out_BHLD.zero_();
    rows.lse_BHL.fill_(-kInfinity);
  }
}

void AttentionSum::add_block(const SlotRange& range, const AttentionBlock& block) {
  if (!merged_.out_BHLD.defined() && range == SlotRange{0, q_BHLD_.size(2)}) {
    merged_ = block;
    touched_.add(range);
    return;
  }
  if (!merged_.out_BHLD.defined()) allocate();
  if (!touched_.intersects(range)) {
    const AttentionBlock rows = narrowed(range);
    rows.out_BHLD.copy_(block.out_BHLD);
    rows.lse_BHL.copy_(block.lse_BHL);
  } else {
    merged_.out_BHLD = merged_.out_BHLD.to(accumulation_type(q_BHLD_));
    fill_gaps(range);
    merge_attention_block(narrowed(range), block);
  }
  touched_.add(range);
}

AttentionBlock AttentionSum::finish() {
  if (!merged_.out_BHLD.defined()) allocate();
  fill_gaps({0, q_BHLD_.size(2)});
  return {merged_.out_BHLD.to(q_BHLD_.scalar_type()), merged_.lse_BHL};
}

AttentionGradientSum::AttentionGradientSum(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKLD,
                                           const AttentionBlock& merged, double scale, const TileSize& largest_tile, bool adds_parts)
    : q_BHLD_(q_BHLD),
      k_BKLD_(k_BKLD),
      scale_(scale),
      type_(adds_parts && q_BHLD.is_cpu() ? accumulation_type(q_BHLD) : q_BHLD.scalar_type()),
      lanes_(head_lanes(q_BHLD, k_BKLD, largest_tile)),
      grad_q_(q_BHLD, 2, SlotRanges({{0, q_BHLD.size(2)}}), accumulation_type(q_BHLD), ranges_of(lanes_, &HeadLane::heads)) {
  grad_out_BHLD_ = grad_out_BHLD.to(type_);
  merged_ = {merged.out_BHLD.to(type_), merged.lse_BHL};
}

void AttentionGradientSum::add(const std::vector<AttentionTile>& tiles, const KeyBlock& keys, KeyGradientSum& into) {
  for (const HeadLane& lane : lanes_) add(tiles, keys, lane, into);
}

void AttentionGradientSum::add(const std::vector<AttentionTile>& tiles, const KeyBlock& keys, const HeadLane& lane, KeyGradientSum& into) {
  TileMasks masks(q_BHLD_.device());
  const auto of_heads = [&](const at::Tensor& x) { return x.narrow(1, lane.heads.start, lane.heads.length); };
  const auto of_lane = [&](const at::Tensor& x_BKMD) { return x_BKMD.narrow(1, lane.kv_heads.start, lane.kv_heads.length).to(type_); };
  const auto take = [&](const AttentionTile& tile, const AttentionBlockGradients& share) {
    grad_q_.add(tile.queries, share.q_BHLD, lane.index);
    into.add(tile.keys, share, lane);
  };
  for (const TileGroup& group : groups_of(tiles, packs_blocks(q_BHLD_))) {
    const AttentionTile& first = group.front();
    if (group.size() == 1) {
      const auto queries = [&](const at::Tensor& x) { return of_heads(queries_of(x, first)); };
      take(first, attention_block_backward(queries(grad_out_BHLD_), queries(q_BHLD_).to(type_), of_lane(keys.k_BKMD(first.keys)),
                                           of_lane(keys.v_BKMD(first.keys)), {queries(merged_.out_BHLD), queries(merged_.lse_BHL)}, masks.of(first),
                                           scale_));
      continue;
    }
    const std::vector<AttentionBlockGradients> shares = attention_blocks_backward(
        of_heads(grad_out_BHLD_), of_heads(q_BHLD_).to(type_), of_lane(keys.k_BMKD.transpose(1, 2)), of_lane(keys.v_BMKD.transpose(1, 2)),
        {of_heads(merged_.out_BHLD), of_heads(merged_.lse_BHL)}, block_ranges(group, keys), is_causal(first), scale_);
    for (size_t i = 0; i < group.size(); ++i) take(group[i], shares[i]);
  }
}

KeyGradientSum AttentionGradientSum::key_sum(const SlotRanges& slots) const {
  return KeyGradientSum(k_BKLD_, slots, accumulation_type(q_BHLD_), lanes_);
}

at::Tensor AttentionGradientSum::finish_queries() { return grad_q_.finish().to(q_BHLD_.scalar_type()); }

AttentionBlockGradients block_gradients(const at::Tensor& grad_q_BHLD, const KeyBlock& grad, at::ScalarType type) {
  return {grad_q_BHLD, grad.k_BMKD.transpose(1, 2).to(type), grad.v_BMKD.transpose(1, 2).to(type)};
}

}  // namespace ringwright::worker
