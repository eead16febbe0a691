// Where the state comes from: a daemon, a history file, or a demonstration made in memory. A source works on threads of its own and never
// blocks the draw thread; all it has to say goes through the queue.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "console/gui/data/orders.h"
#include "console/gui/data/state.h"

namespace ringwright::gui {

// Bounded; the producer waits while it is full, the draw thread never waits.
class UpdateQueue {
 public:
  static constexpr size_t kUpdatesMax = 65'536;

  // `wake` is called on the producer's thread when the queue is empty no longer.
  explicit UpdateQueue(std::function<void()> wake = {}) : wake_(std::move(wake)) {}

  // False once the queue is closed.
  bool push(Update update);
  // At most `limit` updates, in order.
  std::vector<Update> take(size_t limit);
  bool empty() const;
  void close();
  uint64_t full_count() const;

 private:
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Update> updates_;
  bool closed_ = false;
  uint64_t full_count_ = 0;
};

class Source {
 public:
  virtual ~Source() = default;
  // Asks for a run's metrics and log lines; they come as DetailsRead or DetailsFailed.
  virtual void want_details(const std::string& run) = 0;
  // Why no run can be steered from here now; "" when it can.
  virtual std::string why_no_orders() const = 0;
  // Passes an order to the daemon; the outcome comes as a Notice and as events.
  virtual void order(const std::string& run, Order order) = 0;
  // Why no run can be started from here; "" when one can.
  virtual std::string why_no_launch() const { return ""; }
  // Why what is recorded cannot be changed from here; "" when it can.
  virtual std::string why_no_edits() const = 0;
  // Changes the history file; the outcome comes as a Notice and as RunsRead or RunsGone.
  virtual void edit(Edit edit) = 0;
  // The file that questions go to; empty when there is none. Throws Error where it is out of reach. May wait for the file to be made: not for the
  // draw thread.
  virtual std::filesystem::path history_file() = 0;
  // The clock that ages and elapsed times are measured by.
  virtual int64_t now_unix_ns() const = 0;
  // What `ringwright` needs to see the same data: "" or "--store FILE".
  virtual std::string cli_arguments() const = 0;
  // A command line of `ringwright` as it has to be typed on this machine.
  virtual std::string command_here(const std::string& line) const { return line; }
};

// The daemon of this user; while none runs, the history file, and a look for the daemon every 3 s.
std::unique_ptr<Source> make_daemon_source(UpdateQueue& queue);
// The daemon of another node, through a forwarded connection that is made anew whenever it ends. `address` as ssh_place() takes it; throws what that
// throws, and Error RW-SSH-007, RW-SSH-008 where no folder can be had for the sockets.
std::unique_ptr<Source> make_ssh_source(UpdateQueue& queue, const std::string& address);
// A history file, read-only; what another process adds to it is followed.
std::unique_ptr<Source> make_history_source(UpdateQueue& queue, const std::filesystem::path& file);
// `runs` synthetic runs, the same at each start. With `live` the running ones go on; otherwise the clock stands still.
std::unique_ptr<Source> make_demo_source(UpdateQueue& queue, int runs, bool live);

}  // namespace ringwright::gui
