// A set of numbers that mostly grows without gaps, kept as ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace ringwright::history {

class SequenceRanges {
 public:
  // False when the number is in the set already.
  bool add(uint64_t number);
  void add_range(uint64_t first, uint64_t last) { ranges_[first] = last; }
  // first -> last, both included, in order, never touching each other.
  const std::map<uint64_t, uint64_t>& ranges() const { return ranges_; }

 private:
  std::map<uint64_t, uint64_t> ranges_;
};

inline bool SequenceRanges::add(uint64_t number) {
  auto after = ranges_.upper_bound(number);
  if (after != ranges_.begin()) {
    auto before = std::prev(after);
    if (number <= before->second) return false;
    if (number == before->second + 1) {
      before->second = number;
      if (after != ranges_.end() && after->first == number + 1) {
        before->second = after->second;
        ranges_.erase(after);
      }
      return true;
    }
  }
  if (after != ranges_.end() && after->first == number + 1) {
    const uint64_t last = after->second;
    ranges_.erase(after);
    ranges_[number] = last;
    return true;
  }
  ranges_[number] = number;
  return true;
}

}  // namespace ringwright::history
