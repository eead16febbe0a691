// What every view gets: the state, the one selection that all views share, and the services. No view keeps a selection of its own.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "console/gui/data/source.h"
#include "console/gui/data/state.h"

namespace ringwright::gui {

class CommandRegistry;

// The current run, rank and step, and the runs that are shown in plots.
struct Selection {
  std::string run;
  int rank = -1;
  std::optional<double> cursor_x;  // shared by all plots, in the x axis of the metrics view
  std::set<std::string> shown;     // run ids with a swatch, drawn in plots
  bool chosen_by_user = false;     // until then the newest runs are shown
};

inline constexpr int kShownRunsMax = 10;
inline constexpr int kShownRunsAtStart = 5;

struct Toast {
  Notice notice;
  double until_s;
};

struct Context {
  Context(State& state, Source& source, CommandRegistry& commands) : state(state), source(source), commands(commands) {}

  State& state;
  Source& source;
  CommandRegistry& commands;
  Selection selection;

  std::string workspace = "watch";
  std::string cli_line;  // what the last action would be on the command line
  std::deque<Toast> toasts;
  bool read_only = false;
  bool still = false;                  // no animation, no blinking: for pictures and for reduced motion
  std::string stop_asked;              // run whose Kill dialog is open
  std::function<void()> focus_filter;  // set by the focused view: what `/` does
  std::string focus_view;              // view to bring to the front in the next frame
  std::string requested_workspace;
  bool palette_wanted = false, quit_wanted = false, reset_layout_wanted = false, style_changed = false;
  double events_per_s = 0, frame_ms = 0;

  // The current run, or null.
  std::shared_ptr<Run> run() const { return state.find(selection.run); }
  void select(const std::string& run);
  void notify(Notice::Level level, std::string text, std::string action = "");
  // Age in seconds of a time stamp, never negative (T33).
  double age_s(int64_t time_unix_ns) const;
};

}  // namespace ringwright::gui
