#include "daemon/worker/context_parallel/slot_ranges.h"

#include <algorithm>

namespace ringwright::worker {

SlotRanges::SlotRanges(std::vector<SlotRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const SlotRange& a, const SlotRange& b) { return a.start < b.start; });
  for (const SlotRange& range : ranges) {
    if (range.length <= 0) continue;
    if (!ranges_.empty() && range.start <= ranges_.back().end()) {
      ranges_.back().length = std::max(ranges_.back().end(), range.end()) - ranges_.back().start;
    } else {
      ranges_.push_back(range);
    }
  }
}

int64_t SlotRanges::length() const {
  int64_t length = 0;
  for (const SlotRange& range : ranges_) length += range.length;
  return length;
}

std::vector<SlotRange>::const_iterator SlotRanges::first_ending_behind(int64_t slot) const {
  return std::partition_point(ranges_.begin(), ranges_.end(), [&](const SlotRange& range) { return range.end() <= slot; });
}

bool SlotRanges::contains(const SlotRange& range) const {
  const auto found = first_ending_behind(range.start);
  return range.length <= 0 || (found != ranges_.end() && found->start <= range.start && range.end() <= found->end());
}

bool SlotRanges::intersects(const SlotRange& range) const {
  const auto found = first_ending_behind(range.start);
  return range.length > 0 && found != ranges_.end() && found->start < range.end();
}

int64_t SlotRanges::packed_offset(int64_t slot) const {
  int64_t offset = 0;
  for (const SlotRange& range : ranges_) {
    if (slot < range.end()) return offset + slot - range.start;
    offset += range.length;
  }
  return offset;
}

std::vector<SlotRange> SlotRanges::gaps(const SlotRange& range) const {
  std::vector<SlotRange> result;
  int64_t position = range.start;
  for (auto found = first_ending_behind(range.start); found != ranges_.end() && found->start < range.end(); ++found) {
    if (found->start > position) result.push_back({position, found->start - position});
    position = found->end();
  }
  if (position < range.end()) result.push_back({position, range.end() - position});
  return result;
}

void SlotRanges::add(const SlotRange& range) {
  if (range.length <= 0) return;
  if (ranges_.empty() || range.start > ranges_.back().end()) {
    ranges_.push_back(range);
  } else if (range.start == ranges_.back().end()) {
    ranges_.back().length += range.length;
  } else {
    std::vector<SlotRange> all = ranges_;
    all.push_back(range);
    *this = SlotRanges(std::move(all));
  }
}

SlotRanges SlotRanges::united(const SlotRanges& other) const {
  std::vector<SlotRange> all = ranges_;
  all.insert(all.end(), other.ranges_.begin(), other.ranges_.end());
  return SlotRanges(std::move(all));
}

}  // namespace ringwright::worker
