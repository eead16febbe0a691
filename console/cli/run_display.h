// A run on the terminal: a bar that moves, plain lines where there is no terminal, or JSON lines.
#pragma once

#include <chrono>
#include <set>
#include <string>

#include "console/cli/run_progress.h"

namespace ringwright::cli {

class RunDisplay {
 public:
  // quiet: warnings and errors alone, on stderr; notes: also what the run is doing.
  enum class Mode { bar, lines, json, quiet, notes };
  // A bar where stdout is a terminal, unless JSON is asked for.
  static Mode mode_for(bool json);

  explicit RunDisplay(Mode mode) : mode_(mode) {}
  // One event, already added to `progress`: JSON line, or a log line of level warn or error above the bar. An error that several ranks
  // report in the same words is shown once.
  void show_event(const wire::Event& event);
  // The bar, at most ten times a second; a plain line for a new step, at most one a second, the first and last always.
  void show_progress(const RunProgress& progress);
  // A line of the program itself, on stderr.
  void show_note(const std::string& text);
  // The summary and how to see more.
  void show_summary(const RunProgress& progress, const std::string& run, const std::string& name);

 private:
  void show_probe(const wire::Event& event);
  void clear_bar();
  void draw_bar(const RunProgress& progress);

  using Clock = std::chrono::steady_clock;
  Mode mode_;
  bool bar_drawn_ = false;
  std::set<std::string> errors_shown_;  // bounded; what is beyond is shown again
  int64_t step_shown_ = 0;
  history::RunState state_shown_ = history::RunState::queued;
  Clock::time_point shown_at_{};
};

// "step 23/50  loss 3.21  12.3k tokens/s  0:42 left"
std::string progress_text(const RunProgress& progress);
nlohmann::json summary_json(const RunProgress& progress, const std::string& run, const std::string& name);

}  // namespace ringwright::cli
