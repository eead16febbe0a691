// One DEALER on the daemon's control socket: what ControlClient and EventStream share. Not for use from outside this folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <zmq.hpp>

namespace ringwright::wire {

// Whether somebody listens at an ipc:// endpoint (other transports: true, only a request can tell).
bool somebody_listens(const std::string& endpoint);

class ControlSocket {
 public:
  ControlSocket(zmq::context_t& context, std::string endpoint);

  // As ControlClient::request. Gives up early, with the same error, once `cancel_fd` is readable.
  nlohmann::json request(const std::string& op, nlohmann::json arguments, std::chrono::milliseconds timeout, int cancel_fd = -1);

 private:
  void send(const nlohmann::json& request, const std::string& op, std::chrono::milliseconds timeout);

  std::string endpoint_;
  zmq::socket_t socket_;
  uint64_t last_id_ = 0;
};

}  // namespace ringwright::wire
