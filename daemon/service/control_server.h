// Answers the control protocol (shared/wire/control.h). One table of operations.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <zmq.hpp>

#include "daemon/service/alert_center.h"
#include "daemon/service/device_watch.h"
#include "daemon/service/event_hub.h"
#include "daemon/service/ledger.h"
#include "daemon/service/options.h"
#include "daemon/service/supervisor.h"

namespace ringwright::service {

// How the daemon was asked to end.
enum class EndWish { none, after_runs, stop_runs };

class ControlServer {
 public:
  ControlServer(zmq::context_t& context, const Options& options, Ledger& ledger, EventHub& hub, Supervisor& supervisor, AlertCenter& alerts,
                const DeviceWatch& devices, int64_t started_unix_ns);

  zmq::socket_t& socket() { return socket_; }
  // Listens at the runtime directory's socket: once more after that has been deleted.
  void bind();
  // Answers what waits, at most `kRequestsMax` of them.
  void answer_requests();
  // This node's devices as they were read last, with the ranks that are on them.
  nlohmann::json devices() const;
  EndWish end_wish() const { return end_wish_; }

  void set_damaged_worker_messages(uint64_t count) { damaged_worker_messages_ = count; }

 private:
  using json = nlohmann::json;
  struct Operation {
    const char* name;
    json (ControlServer::*answer)(const json& request);
  };
  static const Operation kOperations[];

  json reply_to(std::string_view frame);
  json dispatch(const json& request);
  json hello(const json& request);
  json status(const json& request);
  json run_launch(const json& request);
  json run_stop(const json& request);
  json run_steer(const json& request);
  json run_list(const json& request);
  json snapshot(const json& request);
  json events_range(const json& request);
  json daemon_stop(const json& request);
  json alert_test(const json& request);
  json alert_result(const json& request);

  const Options& options_;
  Ledger& ledger_;
  EventHub& hub_;
  Supervisor& supervisor_;
  AlertCenter& alerts_;
  const DeviceWatch& devices_;
  int64_t started_unix_ns_;
  zmq::socket_t socket_;
  EndWish end_wish_ = EndWish::none;
  uint64_t requests_ = 0, refused_ = 0, damaged_worker_messages_ = 0;
};

}  // namespace ringwright::service
