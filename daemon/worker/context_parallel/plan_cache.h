// The plans of one method: made at the first call with a length and a mask, kept for the layers and steps that follow.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "shared/layout/mask.h"

namespace ringwright::worker {

template <typename Plan>
class PlanCache {
 public:
  template <typename Make>
  std::shared_ptr<const Plan> get(int64_t local_length, const layout::Mask& mask, Make&& make) {
    for (const Entry& entry : entries_) {
      if (entry.local_length == local_length && entry.mask == mask) return entry.plan;
    }
    // A step has few masks (kinds of layers, training and validation); those of packed batches do not come again.
    if (entries_.size() >= kEntriesMax) entries_.erase(entries_.begin());
    entries_.push_back({local_length, mask, std::make_shared<const Plan>(make())});
    return entries_.back().plan;
  }

 private:
  static constexpr size_t kEntriesMax = 16;
  struct Entry {
    int64_t local_length;
    layout::Mask mask;
    std::shared_ptr<const Plan> plan;
  };
  std::vector<Entry> entries_;
};

}  // namespace ringwright::worker
