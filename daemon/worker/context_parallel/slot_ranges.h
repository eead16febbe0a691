// Sets of local slots: which keys of a rank its readers need. Pure arithmetic.
#pragma once

#include <cstdint>
#include <vector>

namespace ringwright::worker {

struct SlotRange {
  int64_t start;
  int64_t length;

  int64_t end() const { return start + length; }
  bool operator==(const SlotRange&) const = default;
};

// Ascending ranges that neither overlap nor touch. Slots that are kept one after the other in this order are called packed.
class SlotRanges {
 public:
  SlotRanges() = default;
  // In any order; they may overlap, and empty ones are left out.
  explicit SlotRanges(std::vector<SlotRange> ranges);

  const std::vector<SlotRange>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  int64_t length() const;
  bool contains(const SlotRange& range) const;
  bool intersects(const SlotRange& range) const;
  // Where the slot stands in the packed order. It must be one of the set.
  int64_t packed_offset(int64_t slot) const;
  // What is missing of `range`.
  std::vector<SlotRange> gaps(const SlotRange& range) const;
  void add(const SlotRange& range);
  SlotRanges united(const SlotRanges& other) const;

  bool operator==(const SlotRanges&) const = default;

 private:
  std::vector<SlotRange>::const_iterator first_ending_behind(int64_t slot) const;

  std::vector<SlotRange> ranges_;
};

}  // namespace ringwright::worker
