// The daemon itself: one loop over all sockets, pipes and signals.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <zmq.hpp>

#include "daemon/service/alert_center.h"
#include "daemon/service/control_server.h"
#include "daemon/service/device_watch.h"
#include "daemon/service/event_hub.h"
#include "daemon/service/instance_lock.h"
#include "daemon/service/ledger.h"
#include "daemon/service/options.h"
#include "daemon/service/supervisor.h"
#include "daemon/service/worker_link.h"

namespace ringwright::service {

class Server {
 public:
  // Opens store and sockets; signals have to be blocked already (block_signals). Throws Error when something of it cannot be had. The lock is that of
  // the runtime directory, and is taken again when somebody deletes that.
  Server(const Options& options, InstanceLock& lock);
  // Until it is asked to end and all runs are over.
  void run();

  // SIGCHLD, SIGTERM, SIGINT, SIGHUP are taken by the loop; SIGPIPE and SIGXFSZ become errors of the call concerned. Before any thread is started.
  static void block_signals();

 private:
  using Clock = std::chrono::steady_clock;

  // Removes the sockets' files, unless another daemon has the folder by then; also when not all of them could be opened.
  struct SocketFiles {
    ~SocketFiles();
    const std::filesystem::path& directory;
    const InstanceLock& lock;
  };

  void mark_lost_runs();
  void keep_reachable();
  void take_signals();
  void take_worker_events();
  void take_committed();
  void each_second();
  bool is_over();
  void begin_to_end(bool force);

  const Options& options_;
  InstanceLock& lock_;
  const SocketFiles socket_files_;  // outlives the sockets
  const int64_t started_unix_ns_;
  zmq::context_t context_;
  Ledger ledger_;
  WorkerLink link_;
  EventHub hub_;
  AlertCenter alerts_;
  Supervisor supervisor_;
  DeviceWatch devices_;
  ControlServer control_;
  Fd signals_;
  bool ending_ = false, unreachable_ = false;
  Clock::time_point second_at_{}, tick_at_{}, last_active_at_ = Clock::now();
};

}  // namespace ringwright::service
