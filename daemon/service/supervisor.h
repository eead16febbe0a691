// All runs of this daemon.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/service/alert_center.h"
#include "daemon/service/run.h"
#include "shared/wire/device_report.h"

namespace ringwright::service {

inline constexpr size_t kActiveRunsMax = 64;

class Supervisor {
 public:
  Supervisor(const Options& options, Ledger& ledger, WorkerLink& link, AlertCenter& alerts, std::string workers_endpoint);
  ~Supervisor();

  // Checks, records, starts. Returns the run's id. Throws what stands in the way; nothing is started or recorded then.
  std::string launch(const nlohmann::json& arguments);
  // Of a run that is over: its state, nothing is done. `who` asked for it, for the run's history. Throws Error RW-STORE-011 (exit code 2) for a run
  // that the history does not know.
  history::RunState stop(const std::string& run, bool force, const std::string& reason, const std::string& who);
  // Returns the run's state. Throws Error RW-STEER-010 (exit code 3) where the run cannot take it, RW-STORE-011 as above.
  history::RunState steer(const std::string& run, const SteeringRequest& request);
  void stop_all(bool force, const std::string& reason);
  // See Run::fail_unrecorded.
  void fail_all_unrecorded(const std::string& why);
  void refuse_launches(const std::string& why) { refusal_ = why; }

  void take_event(wire::Event event);
  // Readable when a worker has written something.
  int output_fd() const { return services_.output_poll_fd; }
  void drain_output();
  void reap();
  void tick();
  void ping();
  void note_published(const wire::Event& event);

  size_t active() const { return runs_.size(); }
  uint64_t launched() const { return launched_; }
  nlohmann::json summaries() const;
  // Those of these processes that are ranks of runs that go on.
  std::vector<wire::DeviceRank> ranks_among(const std::vector<int64_t>& processes) const;
  nlohmann::json counters() const;

 private:
  Run* find_active(const std::string& run);
  history::RunState state_of_ended(const std::string& run);
  std::string new_id() const;
  int next_color();
  void note_relaunch(const std::string& before, const std::string& now, const std::string& who);
  void record_and_start(history::RunRecord record, wire::WorkerSpec spec, ListeningPort port);
  void forget_ended();
  void end_strays();

  Fd output_poll_;
  RunServices services_;
  AlertCenter& alerts_;
  std::map<std::string, std::unique_ptr<Run>> runs_;  // those that are not over
  std::string refusal_;
  uint64_t launched_ = 0, unknown_events_ = 0, lines_cut_ = 0, log_write_failures_ = 0;
  int color_index_ = -1;
  bool strays_possible_ = false;  // since a worker has ended
};

}  // namespace ringwright::service
