// A daemon of a hundred lines for tests of the client side: publishes numbered events, keeps them, answers events.range.
#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "shared/wire/control.h"
#include "tests/support/eventually.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::wire {

using test::eventually;
using test::TemporaryFolder;

class SmallDaemon {
 public:
  explicit SmallDaemon(const Endpoints& endpoints);
  ~SmallDaemon();

  // Numbered from 1; body {number, padding}.
  void publish(size_t count, size_t padding_bytes = 0, const std::string& run = "r_00000001");
  // Numbered and stored, but never sent: what a full queue does to a slow subscriber.
  void lose(size_t count);
  // What its heartbeats say of devices; null: nothing, as those of an older daemon.
  void set_devices(nlohmann::json devices) {
    const std::lock_guard lock(mutex_);
    devices_ = std::move(devices);
  }
  void set_answering(bool answering) { answering_ = answering; }
  size_t requests() const { return requests_; }

 private:
  struct Command {
    size_t count, padding_bytes;
    std::string run;
    bool send;
  };
  void loop();
  void take_commands();
  void welcome();
  void answer();
  nlohmann::json range(const nlohmann::json& request) const;

  zmq::context_t context_;
  zmq::socket_t control_, events_;
  std::vector<Event> stored_;
  std::mutex mutex_;  // guards what follows
  std::vector<Command> commands_;
  nlohmann::json devices_;
  std::atomic<bool> stop_{false}, answering_{true};
  std::atomic<size_t> requests_{0};
  std::deque<std::pair<zmq::message_t, zmq::message_t>> waiting_;  // identity and request
  std::thread thread_;
};

}  // namespace ringwright::wire
