// Runs tiles of an attention plan and adds up what they give. Sums are in float32 (float64 for float64 queries), in the order of the calls.
//
// Shape letters: B rows, L local queries, M held keys, H query heads, K key/value heads, D head size. Keys and values are held slot-major
// ([B, M, K, D]), so that a range of slots is one piece of memory (for one row) and travels without a copy.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "daemon/worker/context_parallel/attention_plan.h"
#include "daemon/worker/context_parallel/range_sum.h"
#include "daemon/worker/kernels/attention_block.h"

namespace ringwright::worker {

// The keys and values of some slots of one source (or their gradients), packed.
struct KeyBlock {
  at::Tensor k_BMKD, v_BMKD;
  SlotRanges slots;

  // All slots of a rank's own keys.
  static KeyBlock whole(const at::Tensor& k_BKLD, const at::Tensor& v_BKLD);
  // Uninitialised, of the rows, heads and device of `like_BKLD`.
  static KeyBlock empty(const at::Tensor& like_BKLD, const SlotRanges& slots, at::ScalarType type);
  // The block of these slots, all of which it holds; a view where they are neighbours.
  KeyBlock part(const SlotRanges& wanted) const;
  // Both as [B, K, L, D] of the given slots.
  at::Tensor k_BKMD(const SlotRange& range) const;
  at::Tensor v_BKMD(const SlotRange& range) const;
};

at::ScalarType accumulation_type(const at::Tensor& tensor);

// Key/value heads that are worked on together, and their query heads. In the backward pass long blocks go a few heads at a time, so that the
// operator's results are short-lived and small; heads do not depend on each other, so no value changes.
struct HeadLane {
  size_t index;
  SlotRange kv_heads, heads;
};
std::vector<HeadLane> head_lanes(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const TileSize& largest_tile);

// The gradient of one source's keys and values.
class KeyGradientSum {
 public:
  KeyGradientSum(const at::Tensor& k_BKLD, const SlotRanges& slots, at::ScalarType type, const std::vector<HeadLane>& lanes);

  void add(const SlotRange& range, const AttentionBlockGradients& share, const HeadLane& lane);
  // What another rank gave for some of the slots; nobody else uses it afterwards.
  void add(const KeyBlock& given);
  KeyBlock finish();

 private:
  RangeSum k_, v_;
};

// The forward pass of one rank's queries over key blocks that come one after the other.
class AttentionSum {
 public:
  AttentionSum(const at::Tensor& q_BHLD, double scale) : q_BHLD_(q_BHLD), scale_(scale) {}

  void add(const std::vector<AttentionTile>& tiles, const KeyBlock& keys);
  // The output in the type of the queries. Rows that saw no key have 0 and -inf.
  AttentionBlock finish();

 private:
  void add_block(const SlotRange& range, const AttentionBlock& block);
  void allocate();
  void fill_gaps(const SlotRange& range);
  AttentionBlock narrowed(const SlotRange& range) const;

  at::Tensor q_BHLD_;
  double scale_;
  AttentionBlock merged_;
  SlotRanges touched_;
};

// The backward pass, given the merged output and log-sum-exp.
class AttentionGradientSum {
 public:
  // adds_parts: gradients come in several parts. On a CPU parts of half precision are then made in float32, since its operator would round each.
  AttentionGradientSum(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const AttentionBlock& merged,
                       double scale, const TileSize& largest_tile, bool adds_parts);

  const std::vector<HeadLane>& lanes() const { return lanes_; }
  // Adds the share of these tiles to the gradient of the queries, and to `into` (which holds the slots that the tiles read) that of the keys.
  void add(const std::vector<AttentionTile>& tiles, const KeyBlock& keys, KeyGradientSum& into);
  void add(const std::vector<AttentionTile>& tiles, const KeyBlock& keys, const HeadLane& lane, KeyGradientSum& into);
  KeyGradientSum key_sum(const SlotRanges& slots) const;
  at::Tensor finish_queries();

 private:
  at::Tensor grad_out_BHLD_, q_BHLD_, k_BKLD_;
  AttentionBlock merged_;
  double scale_;
  at::ScalarType type_;  // of the calls' tensors
  std::vector<HeadLane> lanes_;
  RangeSum grad_q_;
};

// The gradients of a rank's own tokens, with those of keys and values in their type.
AttentionBlockGradients block_gradients(const at::Tensor& grad_q_BHLD, const KeyBlock& grad, at::ScalarType type);

}  // namespace ringwright::worker
