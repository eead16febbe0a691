// The daemon's end of the line to its workers: ROUTER, one DEALER for each rank, routing id "<run>/<rank>".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <zmq.hpp>

#include "shared/wire/message.h"

namespace ringwright::service {

class WorkerLink {
 public:
  WorkerLink(zmq::context_t& context, const std::string& endpoint);

  zmq::socket_t& socket() { return socket_; }
  // Listens: once more after the socket's file has been deleted.
  void bind() { socket_.bind(endpoint_); }
  // The next event of a worker; the run and the rank are those of the sender's routing id. Damaged messages are counted and left out. False: none
  // waits.
  bool receive(wire::Event& event);
  // To a rank that is not connected: nothing happens.
  void send(const std::string& run, int rank, const nlohmann::json& message);
  uint64_t damaged_count() const { return damaged_count_; }

 private:
  bool read(const zmq::message_t& identity, const zmq::message_t& header, const zmq::message_t& body, wire::Event& event) const;

  const std::string endpoint_;
  zmq::socket_t socket_;
  uint64_t damaged_count_ = 0;
};

}  // namespace ringwright::service
