// Sums over ranges of slots: gradients that come in piece by piece, some from other ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "daemon/worker/context_parallel/slot_ranges.h"

namespace ringwright::worker {

// Tensors [B, heads, slots, D] (slot_axis 2) or [B, slots, heads, D] (slot_axis 1). What is added first to a range is copied, so no zeros are
// written and the order of the additions alone decides each value.
class RangeSum {
 public:
  // `like`: rows, heads, head size and device, in the same order of axes. The result has the slots packed, and 0 where nothing was added.
  // lanes: the ranges of heads that are added to, each apart from the others and together all.
  RangeSum(const at::Tensor& like, int64_t slot_axis, SlotRanges slots, at::ScalarType type, std::vector<SlotRange> lanes);

  const SlotRanges& slots() const { return slots_; }
  // `value` holds `range` and the lane's heads; nobody else uses it afterwards: where it covers everything it becomes the sum.
  void add(const SlotRange& range, const at::Tensor& value, size_t lane);
  // `values` hold packed slots of all heads.
  void add_all_heads(const at::Tensor& values, const SlotRanges& held);
  at::Tensor finish();

 private:
  at::Tensor place(const SlotRange& range, size_t lane) const;
  void allocate();

  std::vector<int64_t> shape_;
  at::TensorOptions options_;
  int64_t slot_axis_;
  SlotRanges slots_;
  std::vector<SlotRange> lanes_;
  std::vector<SlotRanges> touched_;  // by lane
  at::Tensor sum_;
};

}  // namespace ringwright::worker
