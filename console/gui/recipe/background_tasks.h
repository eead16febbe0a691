// Work that may wait for a disk, a daemon or another program, away from the draw thread, one after the other. What comes of it is taken in by
// the draw thread, between two frames.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace ringwright::gui {

class BackgroundTasks {
 public:
  using Outcome = std::function<void()>;  // runs on the draw thread
  using Work = std::function<Outcome()>;  // runs on the other one; must not throw
  BackgroundTasks();
  ~BackgroundTasks();  // lets the work that has begun end, drops the rest

  void run(Work work);
  // Runs the outcomes that are there; never waits.
  void take_outcomes();
  // Nothing waits, is worked on, or has an outcome to be taken.
  bool is_idle() const;

 private:
  void loop(const std::stop_token& stop);

  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Work> waiting_;
  std::vector<Outcome> outcomes_;
  bool working_ = false;
  std::jthread thread_;
};

}  // namespace ringwright::gui
