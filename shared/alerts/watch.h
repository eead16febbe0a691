// Looks at one run's events, and says what its rules find. No clock of its own, no files, no processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "shared/alerts/rules.h"
#include "shared/wire/message.h"

namespace ringwright::alerts {

struct Alert {
  std::string kind;
  std::string topic;  // what tells two of one kind apart: a metric's name, "rank 3", a path
  std::string text;   // one sentence
  nlohmann::json detail = nlohmann::json::object();
};

class RunWatch {
 public:
  using Clock = std::chrono::steady_clock;

  RunWatch(std::vector<Rule> rules, int world_size);

  // The events of the run as they were committed. What holds at once: trouble that goes on is found again with each event.
  std::vector<Alert> note(const wire::Event& event, Clock::time_point now);
  // What comes with time alone.
  std::vector<Alert> tick(Clock::time_point now) const;
  const std::vector<Rule>& rules() const { return rules_; }

 private:
  struct StepTimes {
    std::map<int, double> seconds;  // by rank
  };

  void note_state(const wire::Event& event, Clock::time_point now, std::vector<Alert>& found);
  void note_points(const wire::Event& event, std::vector<Alert>& found);
  void note_guard(const wire::Event& event, std::vector<Alert>& found) const;
  void note_point(const std::string& name, double value, const wire::Event& event, std::vector<Alert>& found);
  void note_span(const wire::Event& event, std::vector<Alert>& found);
  void compare_ranks(int64_t step, const StepTimes& times, std::vector<Alert>& found);
  void note_progress(const wire::Event& event, Clock::time_point now);

  std::vector<Rule> rules_;
  int world_size_;
  bool running_ = false;
  int64_t last_step_ = -1;
  Clock::time_point progress_at_{};
  std::map<std::pair<size_t, std::string>, int64_t> beyond_;  // (rule, metric and rank): steps in a row
  std::map<int64_t, StepTimes> step_times_;
  std::map<int, int64_t> span_step_;                // of each rank, the newest
  std::map<std::pair<size_t, int>, int64_t> slow_;  // (rule, rank): steps in a row
};

}  // namespace ringwright::alerts
