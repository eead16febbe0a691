// One run: its worker processes from start to end, and the state that follows from them.
//
//   starting -> running -> finished              every rank ended with 0
//                       -> stopping -> stopped   asked to; "forced" where SIGKILL was needed
//                       -> stopping -> failed    a rank died; the others are ended
//              running <-> paused                as rank 0 says; a paused run stops and fails as a running one does
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/service/captured_output.h"
#include "daemon/service/ledger.h"
#include "daemon/service/listening_port.h"
#include "daemon/service/options.h"
#include "daemon/service/spawn.h"
#include "daemon/service/steering.h"
#include "daemon/service/worker_link.h"
#include "shared/history/records.h"
#include "shared/wire/worker_spec.h"

namespace ringwright::service {

// What a run needs of its daemon.
struct RunServices {
  const Options& options;
  Ledger& ledger;
  WorkerLink& link;
  std::string workers_endpoint;
  int output_poll_fd;  // an epoll descriptor: every pipe of every worker is registered there
};

class Run {
 public:
  using Clock = std::chrono::steady_clock;

  Run(RunServices& services, history::RunRecord record, wire::WorkerSpec spec);
  ~Run();  // kills what is left
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Starts all ranks. A rank that cannot be started makes the run fail; nothing is thrown.
  void start(ListeningPort port);
  // `who`: asked for it; kept in the history unless it is empty.
  void request_stop(bool force, const std::string& reason, const std::string& who);
  // The history can never again record what the run does: it is ended, and failed with this reason.
  void fail_unrecorded(const std::string& why);
  // Asks rank 0; the history keeps who asked. Throws what require_steerable() throws.
  void steer(const SteeringRequest& request);

  // A worker's event, in the order of its numbers; handed to the ledger.
  void take_event(wire::Event event);
  // Reads what the workers wrote.
  void drain_output();
  // Looks which processes have ended; returns whether one has.
  bool reap();
  // Whether the process is one of the workers that are alive, or ended and not reaped.
  bool has_worker(pid_t pid) const;
  // Grace times.
  void tick(Clock::time_point now);
  void ping();
  // One of our events, or a worker's, has been committed and published: for summary().
  void note_published(const wire::Event& event);
  // The rank that is this process.
  std::optional<int> rank_of(int64_t process) const;

  const std::string& id() const { return record_.id; }
  history::RunState state() const { return record_.state; }
  bool over() const { return history::is_final(record_.state); }
  nlohmann::json summary() const;
  uint64_t lines_cut() const;
  uint64_t log_write_failures() const;

 private:
  struct Rank;
  struct Failure {
    int rank;  // -1: none of them
    std::string how;
  };

  void start_rank(Rank& rank, int listen_fd);
  void take_connection(Rank& rank);
  void take_named(Rank& rank, const nlohmann::json& body);
  void follow_steering(const std::string& name, const nlohmann::json& body);
  void watch_output(Rank& rank, Fd& fd) const;
  void drain(Rank& rank, Fd& fd, LineSplitter& splitter, const char* level);
  void take_line(Rank& rank, const char* level, std::string line);
  bool reap_rank(Rank& rank);
  void fail(Rank& rank, std::string how);
  void end_after_failure();
  std::deque<std::string> last_lines_of_failed_rank() const;
  const Rank* cause() const;
  void blame_the_cause();
  void signal_all(int signal);
  void set_state(history::RunState state, const std::string& reason, nlohmann::json more = nlohmann::json::object());
  void finish_if_all_ended(Clock::time_point now);
  bool stop_asked() const { return stop_asked_at_.has_value(); }

  RunServices& services_;
  history::RunRecord record_;
  wire::WorkerSpec spec_;
  std::filesystem::path directory_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::optional<Clock::time_point> stop_asked_at_, failed_at_, terminated_at_, ended_at_;
  std::string stop_reason_;
  std::optional<Failure> failure_;
  bool killed_ = false;
  bool saves_checkpoints_ = false, saves_periodically_ = false, stop_after_checkpoint_ = false;

  // The latest values, as of what has been published.
  nlohmann::json latest_points_ = nlohmann::json::object();
  int64_t latest_step_ = -1, latest_tokens_ = -1;
};

}  // namespace ringwright::service
