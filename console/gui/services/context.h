// What every view gets: the state, the one selection that all views share, and the services. No view keeps a selection of its own.
#pragma once

#include <imgui.h>

#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "console/gui/data/background.h"
#include "console/gui/data/source.h"
#include "console/gui/data/state.h"
#include "console/gui/recipe/workbench.h"
#include "console/gui/services/alert_center.h"
#include "console/gui/services/confirmation.h"
#include "console/gui/services/prompt.h"

namespace ringwright::gui {

class CommandRegistry;

// What everything on the screen is about.
struct Place {
  std::string run;
  int rank = -1;
  std::optional<int64_t> step;
  int64_t time_unix_ns = 0;  // 0: none
  std::string recipe_key;    // "policy.dtensor_cfg.context_parallel_size"

  bool operator==(const Place&) const = default;
};

// The current place, and the runs that are shown in plots.
struct Selection : Place {
  std::optional<double> cursor_x;  // shared by all plots, in the x axis of the metrics view
  std::set<std::string> shown;     // run ids with a swatch, drawn in plots
  bool chosen_by_user = false;     // until then the newest runs are shown
  std::set<std::string> chosen;    // run ids that the next command acts on, when there are any; else the current run
};

// Where the selection has been, as in a browser.
class PlaceHistory {
 public:
  // To be called every frame; a place that differs from the last one is added, and those that lay ahead are forgotten.
  void note(const Place& place);
  // The place `by` steps on; nothing when there is none.
  std::optional<Place> go(int by);

 private:
  std::deque<Place> places_;
  size_t current_ = 0;
};

// A part of the window that is to be saved as a picture, after a few frames in which what asked for it goes away.
struct PictureWanted {
  std::string file;
  ImVec2 low, high;
  int in_frames = 3;
};

inline constexpr int kShownRunsMax = 10;
inline constexpr int kShownRunsAtStart = 5;

struct Toast {
  Notice notice;
  double until_s;
  int count = 1;  // of the same kind
};

struct Context {
  Context(State& state, Source& source, CommandRegistry& commands, Background& background)
      : state(state), source(source), commands(commands), background(background) {}

  State& state;
  Source& source;
  CommandRegistry& commands;
  Background& background;
  Selection selection;
  RecipeWorkbench recipe;

  std::string workspace = "watch";
  std::string cli_line;       // what the last action would be on the command line
  std::string last_command;   // the one that was asked for last, by whatever way
  bool last_refused = false;  // and it was refused
  std::deque<Toast> toasts;
  bool read_only = false;
  bool still = false;                  // no animation, no blinking: for pictures and for reduced motion
  std::function<void()> focus_filter;  // set by the focused view: what `/` does
  std::string focus_view;              // view to bring to the front in the next frame; it is opened where it is not
  std::string focused_view;            // the one that the keyboard is with
  std::string pin_toggled;             // view to pin or to let go
  PlaceHistory places;
  AlertCenter alerts;
  std::optional<Confirmation> confirmation;  // the question that is open
  std::string confirmation_typed;
  std::optional<Prompt> prompt;
  std::string prompt_typed;
  std::string requested_workspace;
  std::string query_wanted;  // a statement that Query is to show
  std::optional<PictureWanted> picture;
  nlohmann::json kept = nlohmann::json::object();  // what views remember from one start to the next, by view
  bool keep_wanted = false;                        // it has changed
  // A view in which something moves says in each frame how soon it wants the next one.
  double redraw_within_s = std::numeric_limits<double>::infinity();
  bool palette_wanted = false, open_recipe_wanted = false, quit_wanted = false, reset_layout_wanted = false, style_changed = false;
  double events_per_s = 0, frame_ms = 0;

  // The current run, or null.
  std::shared_ptr<Run> run() const { return state.find(selection.run); }
  void select(const std::string& run);
  // Reads a run's metrics, logs and all else, unless that was done.
  void want_details(const std::string& run);
  // A run and a moment in it: every view that is not pinned goes there.
  void select_moment(const std::string& run, std::optional<int64_t> step, int64_t time_unix_ns = 0);
  // What the next command acts on: the chosen runs in the order of the history, or the current one.
  std::vector<std::shared_ptr<Run>> targets() const;
  // The runs that are shown in plots, the current one first when it is among them: what Compare compares.
  std::vector<std::string> compared_runs() const;
  void step_back(int by);  // -1: back, +1: forward
  void notify(Notice::Level level, std::string text, std::string action = "");
  void notify(Notice notice);
  void notify(const ErrorParts& error);
  // The newest toast whose edit can be undone, or null.
  const Toast* undoable() const;
  void undo();
  // "" or the reason why no run can be changed from here.
  std::string why_no_orders() const;
  std::string why_no_edits() const;
  // Live numbers of a run whose daemon is silent are the past: they are dimmed.
  bool is_silent() const;
  // Age in seconds of a time stamp, never negative (T33).
  double age_s(int64_t time_unix_ns) const;
};

}  // namespace ringwright::gui
