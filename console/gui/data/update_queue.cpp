#include "console/gui/data/source.h"

namespace ringwright::gui {

bool UpdateQueue::push(Update update) {
  std::unique_lock lock(mutex_);
  if (updates_.size() >= kUpdatesMax && !closed_) {
    ++full_count_;
    room_.wait(lock, [this] { return closed_ || updates_.size() < kUpdatesMax; });
  }
  if (closed_) return false;
  const bool first = updates_.empty();
  updates_.push_back(std::move(update));
  lock.unlock();
  if (first && wake_) wake_();
  return true;
}

std::vector<Update> UpdateQueue::take(size_t limit) {
  std::vector<Update> taken;
  {
    std::scoped_lock lock(mutex_);
    while (!updates_.empty() && taken.size() < limit) {
      taken.push_back(std::move(updates_.front()));
      updates_.pop_front();
    }
  }
  if (!taken.empty()) room_.notify_all();
  return taken;
}

bool UpdateQueue::empty() const {
  std::scoped_lock lock(mutex_);
  return updates_.empty();
}

void UpdateQueue::close() {
  {
    std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  room_.notify_all();
}

uint64_t UpdateQueue::full_count() const {
  std::scoped_lock lock(mutex_);
  return full_count_;
}

}  // namespace ringwright::gui
