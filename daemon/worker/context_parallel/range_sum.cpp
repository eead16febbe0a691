#include "daemon/worker/context_parallel/range_sum.h"

#include <ATen/ops/empty.h>

namespace ringwright::worker {

RangeSum::RangeSum(const at::Tensor& like, int64_t slot_axis, SlotRanges slots, at::ScalarType type, std::vector<SlotRange> lanes)
    : shape_(like.sizes().vec()),
      options_(like.options().dtype(type)),
      slot_axis_(slot_axis),
      slots_(std::move(slots)),
      lanes_(std::move(lanes)),
      touched_(lanes_.size()) {
  shape_[static_cast<size_t>(slot_axis_)] = slots_.length();
}

at::Tensor RangeSum::place(const SlotRange& range, size_t lane) const {
  const at::Tensor slots = sum_.narrow(slot_axis_, slots_.packed_offset(range.start), range.length);
  return slots.narrow(3 - slot_axis_, lanes_[lane].start, lanes_[lane].length);
}

// In the memory order of LibTorch's operators: slots before heads.
void RangeSum::allocate() {
  std::vector<int64_t> shape = shape_;
  if (slot_axis_ == 2) std::swap(shape[1], shape[2]);
  sum_ = at::empty(shape, options_);
  if (slot_axis_ == 2) sum_ = sum_.transpose(1, 2);
}

void RangeSum::add(const SlotRange& range, const at::Tensor& value, size_t lane) {
  if (range.length == 0) return;
  SlotRanges& touched = touched_[lane];
  if (!sum_.defined()) {
    if (lanes_.size() == 1 && slots_ == SlotRanges({range})) {
      sum_ = value.to(options_.dtype().toScalarType());
      touched.add(range);
      return;
    }
    allocate();
  }
  if (!touched.intersects(range)) {
    place(range, lane).copy_(value);
  } else {
    for (const SlotRange& gap : touched.gaps(range)) place(gap, lane).zero_();
    place(range, lane).add_(value);
  }
  touched.add(range);
}

void RangeSum::add_all_heads(const at::Tensor& values, const SlotRanges& held) {
  for (const SlotRange& range : held.ranges()) {
    const at::Tensor piece = values.narrow(slot_axis_, held.packed_offset(range.start), range.length);
    for (size_t lane = 0; lane < lanes_.size(); ++lane) add(range, piece.narrow(3 - slot_axis_, lanes_[lane].start, lanes_[lane].length), lane);
  }
}

at::Tensor RangeSum::finish() {
  if (!sum_.defined()) {
    allocate();
    return sum_.zero_();
  }
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    for (const SlotRange& range : slots_.ranges()) {
      for (const SlotRange& gap : touched_[lane].gaps(range)) place(gap, lane).zero_();
    }
  }
  return std::move(sum_);
}

}  // namespace ringwright::worker
