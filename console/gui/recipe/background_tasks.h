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

#include "shared/base/error.h"

namespace ringwright::gui {

class BackgroundTasks {
 public:
  using Outcome = std::function<void()>;                   // runs on the draw thread
  using Work = std::function<Outcome()>;                   // runs on the other one
  using OnFault = std::function<void(const ErrorParts&)>;  // the outcome of work that has thrown
  BackgroundTasks();
  ~BackgroundTasks();  // lets the work that has begun end, drops the rest

  void run(Work work, OnFault on_fault);
  // Runs the outcomes that are there; never waits.
  void take_outcomes();
  // Nothing waits, is worked on, or has an outcome to be taken.
  bool is_idle() const;

 private:
  struct Task {
    Work work;
    OnFault on_fault;
  };
  void loop(const std::stop_token& stop);

  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Task> waiting_;
  std::vector<Outcome> outcomes_;
  bool working_ = false;
  std::jthread thread_;
};

}  // namespace ringwright::gui
