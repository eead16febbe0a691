// What a run's events say about how far it is: arithmetic only, no terminal and no clock of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shared/history/records.h"
#include "shared/wire/message.h"

namespace ringwright::cli {

class RunProgress {
 public:
  explicit RunProgress(int64_t step_limit) : step_limit_(step_limit) {}

  // Events in order of node_sequence; those that come again change nothing. One without a number has not been recorded.
  void add(const wire::Event& event);

  uint64_t node_sequence() const { return node_sequence_; }
  int64_t step() const { return step_; }  // last step trained, 0 before the first
  int64_t step_limit() const { return step_limit_; }
  // 0 to 1; 0 when the limit is unknown.
  double fraction() const;
  std::optional<double> first_loss() const { return first_loss_; }
  std::optional<double> last_loss() const { return last_loss_; }
  std::optional<double> validation_loss() const { return validation_loss_; }
  // Now: what the trainer last said, else from the last steps.
  std::optional<double> tokens_per_s() const;
  // From the first step seen to the last.
  std::optional<double> mean_tokens_per_s() const;
  // By the mean time of the last steps; nothing before the second one.
  std::optional<double> seconds_left() const;
  // From the first event to the last.
  double elapsed_s() const;
  history::RunState state() const { return state_; }
  // The state above is known from the daemon's word alone: the history does not have it.
  bool unrecorded() const { return unrecorded_; }
  bool ended() const { return history::is_final(state_); }
  const std::string& reason() const { return reason_; }
  int failed_rank() const { return failed_rank_; }
  const std::vector<std::string>& last_lines() const { return last_lines_; }  // of the rank that failed
  const std::string& checkpoint() const { return checkpoint_; }               // the last one, "" for none

 private:
  struct StepTime {
    int64_t step, tokens, time_unix_ns;
  };
  void add_metric(const wire::Event& event);
  void add_named(const nlohmann::json& body);

  int64_t step_limit_;
  int64_t step_ = 0;
  uint64_t node_sequence_ = 0;
  int64_t first_time_unix_ns_ = 0, last_time_unix_ns_ = 0;
  std::optional<StepTime> first_step_;
  std::deque<StepTime> recent_;  // the last steps
  std::optional<double> first_loss_, last_loss_, validation_loss_, tokens_per_s_;
  history::RunState state_ = history::RunState::queued;
  std::string reason_, checkpoint_;
  bool unrecorded_ = false;
  int failed_rank_ = -1;
  std::vector<std::string> last_lines_;
};

// A bar of `columns` characters between brackets; fractions outside 0 to 1 count as the nearer end.
std::string progress_bar(double fraction, int columns);

}  // namespace ringwright::cli
