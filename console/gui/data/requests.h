// What the draw thread asks of a source's thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>

#include "console/gui/data/orders.h"

namespace ringwright::gui {

struct Details {
  std::string run;
};
struct RunOrder {
  std::string run;
  Order order;
};
using Request = std::variant<Details, RunOrder, Edit>;

class Requests {
 public:
  void add(Request request) {
    {
      std::scoped_lock lock(mutex_);
      waiting_.push_back(std::move(request));
    }
    wake_.notify_one();
  }
  // The next one; nullopt after `timeout`, or when `stop` is asked for.
  std::optional<Request> next(const std::stop_token& stop, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, timeout, [this] { return !waiting_.empty(); });
    if (stop.stop_requested() || waiting_.empty()) return std::nullopt;
    Request request = std::move(waiting_.front());
    waiting_.pop_front();
    return request;
  }
  // Those that nobody has taken.
  std::deque<Request> rest() {
    std::scoped_lock lock(mutex_);
    return std::exchange(waiting_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Request> waiting_;
};

}  // namespace ringwright::gui
