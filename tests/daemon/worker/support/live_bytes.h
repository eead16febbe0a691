// Tensor memory of this thread, as LibTorch's CPU allocator reports it.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace ringwright::test {

// Counts while it lives; allocations from before it are not known to it, so tensors that it is to count are made after it.
class LiveBytes {
 public:
  LiveBytes() : counter_(std::make_shared<Counter>()), guard_(c10::DebugInfoKind::PROFILER_STATE, counter_) {}

  int64_t live() const { return counter_->live; }
  int64_t peak() const { return counter_->peak; }
  // From here on the peak is looked for again.
  void forget_peak() { counter_->peak = counter_->live; }

 private:
  struct Counter final : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device) override {
      live += bytes;
      peak = std::max(peak, live);
    }
    bool memoryProfilingEnabled() const override { return true; }

    int64_t live = 0, peak = 0;
  };

  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace ringwright::test
