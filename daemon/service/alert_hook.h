// The command that hears of alerts: one process at a time, JSON on its standard input, a time limit. It never makes the daemon wait.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/service/spawn.h"

namespace ringwright::service {

class AlertHook {
 public:
  using Clock = std::chrono::steady_clock;
  struct Result {
    uint64_t id = 0;
    std::string run;  // as it was given
    bool good = false;
    std::string what;  // "the command for alerts exited with code 3: last line that it wrote", ...
    double seconds = 0;
  };

  AlertHook(std::vector<std::string> command, double time_limit_s);
  ~AlertHook();  // ends what runs
  AlertHook(const AlertHook&) = delete;
  AlertHook& operator=(const AlertHook&) = delete;

  // Whether there is a command at all.
  bool is_set() const { return !command_.empty(); }
  // Queues a call. When too many wait, the oldest of them comes back as a Result that is not good.
  uint64_t call(const std::string& run, nlohmann::json input);
  // Starts, ends, reaps. What has come to an end since the last time.
  std::vector<Result> tick(Clock::time_point now);
  bool busy() const { return current_.has_value() || !waiting_.empty(); }
  // Whether it is the process that runs.
  bool has_process(pid_t pid) const { return current_ && current_->process.pid == pid; }

 private:
  struct Job {
    uint64_t id;
    std::string run;
    std::string input;
  };
  struct Current {
    Job job;
    Spawned process;
    Clock::time_point begun;
    std::string last_output;
    bool overdue = false;
  };

  void start(Clock::time_point now);
  void drain(Fd& fd);
  void look_at_current(Clock::time_point now);
  Result result(const Job& job, bool good, const std::string& what, double seconds) const;

  std::vector<std::string> command_;
  std::chrono::duration<double> time_limit_;
  std::deque<Job> waiting_;
  std::optional<Current> current_;
  std::vector<Result> results_;
  uint64_t last_id_ = 0;
};

}  // namespace ringwright::service
