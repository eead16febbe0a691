// Publishes committed events to whoever listens: XPUB, bounded for each subscriber. What a slow one misses it fetches from the history.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <zmq.hpp>

#include "shared/wire/message.h"

namespace ringwright::service {

class EventHub {
 public:
  EventHub(zmq::context_t& context, const std::string& endpoint, uint64_t node_sequence, int64_t started_unix_ns);

  zmq::socket_t& socket() { return socket_; }
  // Listens: once more after the socket's file has been deleted.
  void bind() { socket_.bind(endpoint_); }
  void publish(const wire::Event& event);
  // Greets new subscribers.
  void take_subscriptions();
  // What the next welcome says of this node's devices.
  void set_devices(nlohmann::json devices) { devices_ = std::move(devices); }
  // Tells every subscriber how far we are; sent every second.
  void welcome();
  uint64_t node_sequence() const { return node_sequence_; }  // last published

 private:
  const std::string endpoint_;
  zmq::socket_t socket_;
  uint64_t node_sequence_;
  int64_t started_unix_ns_;
  nlohmann::json devices_;
};

}  // namespace ringwright::service
