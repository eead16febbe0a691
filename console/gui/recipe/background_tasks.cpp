#include "console/gui/recipe/background_tasks.h"

#include <utility>

#include "console/gui/data/guarded.h"

namespace ringwright::gui {

BackgroundTasks::BackgroundTasks() : thread_([this](const std::stop_token& stop) { loop(stop); }) {}

BackgroundTasks::~BackgroundTasks() = default;

void BackgroundTasks::run(Work work, OnFault on_fault) {
  {
    std::scoped_lock lock(mutex_);
    waiting_.push_back({std::move(work), std::move(on_fault)});
  }
  wake_.notify_one();
}

void BackgroundTasks::take_outcomes() {
  std::vector<Outcome> ready;
  {
    std::scoped_lock lock(mutex_);
    ready = std::exchange(outcomes_, {});
  }
  for (const Outcome& outcome : ready) {
    if (outcome) outcome();
  }
}

bool BackgroundTasks::is_idle() const {
  std::scoped_lock lock(mutex_);
  return waiting_.empty() && outcomes_.empty() && !working_;
}

void BackgroundTasks::loop(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
    if (stop.stop_requested()) return;
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    working_ = true;
    lock.unlock();
    Outcome outcome;
    guarded([&] { outcome = task.work(); }, [&](const ErrorParts& parts) { outcome = [on_fault = task.on_fault, parts] { on_fault(parts); }; });
    task = {};  // what the work holds is let go here, not while the lock is held
    lock.lock();
    outcomes_.push_back(std::move(outcome));
    working_ = false;
  }
}

}  // namespace ringwright::gui
