// The worker's end of the line to its daemon. Events are numbered, kept until the daemon has committed them, and sent by a thread of the
// channel's own, so that training never waits for the daemon unless `unacknowledged_events_max` or `unacknowledged_bytes_max` is reached.
// The same thread ends an orphan: when the daemon has been gone for `orphan_grace_s`, the process and its group are killed, also while the
// main thread hangs in a collective.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringwright::worker {

struct ChannelOptions {
  std::string endpoint;  // the daemon's socket for workers
  std::string run;
  int rank = 0;
  double orphan_grace_s = 30;       // 0: at once
  std::filesystem::path directory;  // the run's folder, where rank<r>.log gets an orphan's last words; empty: nowhere
  size_t unacknowledged_events_max = 8192;
  size_t unacknowledged_bytes_max = size_t{32} << 20;
};

using MetricPoints = std::vector<std::pair<std::string, double>>;

// What a run is steered by. `checkpoint` and `settings` are to be done once, the others hold until they change.
struct Wishes {
  bool stop = false;                   // after the current step
  bool stop_after_checkpoint = false;  // after the next checkpoint that the recipe's period brings
  bool pause = false;
  bool checkpoint = false;
  std::vector<std::optional<double>> settings = {};  // new values, by wire::settable_keys()
};

class Channel {
 public:
  // Connects in the background and sends a first heartbeat at once. Ignores SIGPIPE from now on: a daemon that is gone must not kill its
  // worker through a closed pipe. The daemon's process is $RINGWRIGHT_DAEMON_PID, else the parent.
  explicit Channel(ChannelOptions options);
  // Does not wait for acknowledgements: call finish() first.
  ~Channel();

  // Each waits while too much is unacknowledged. Usable from any thread. `tokens`: trained on so far; -1 when unknown.
  void metric(int64_t step, int64_t tokens, const MetricPoints& points);
  void log(std::string_view level, std::string text);
  void event(std::string_view name, nlohmann::json fields = nlohmann::json::object());
  void span(std::string_view phase, int64_t step, int64_t begin_ns, int64_t end_ns);
  void sample(int64_t step, nlohmann::json fields);

  // The daemon asked to finish the current step, save what the recipe asks for, and exit 0.
  bool stop_requested() const;
  bool pause_requested() const;
  // What the daemon has asked for; what is to be done once is asked for no more.
  Wishes take_wishes();
  // Returns when the daemon asks for something else than before, at the latest after `timeout`.
  void wait_for_word(std::chrono::milliseconds timeout);
  // Waits until everything is acknowledged (true), or the daemon is gone (false).
  bool finish();

  struct Counters {
    uint64_t sent = 0;                // events handed to the socket
    uint64_t acknowledged = 0;        // committed by the daemon
    uint64_t waits = 0;               // how often a producer had to wait
    uint64_t heartbeats_skipped = 0;  // because too much was unacknowledged
  };
  Counters counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringwright::worker
