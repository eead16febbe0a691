// Metrics: a grid of plots with one cursor. The Runs table is the legend.
#pragma once

#include <imgui.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "console/gui/data/background.h"
#include "console/gui/data/decimate.h"
#include "console/gui/data/metric_band.h"
#include "console/gui/data/metric_cards.h"
#include "console/gui/data/metric_csv.h"
#include "console/gui/data/run_groups.h"
#include "console/gui/plot/line_drawing.h"
#include "console/gui/services/style.h"
#include "console/gui/views/view.h"

namespace ringwright::gui {

class ViewMetrics : public View {
 public:
  enum class Bands { off, runs, ranks };  // of the runs that are drawn (by group where there are groups); of the current run's ranks

  void add_commands(CommandRegistry& registry) override;
  void draw(Context& context) override;
  void focus_filter() override { focus_filter_ = true; }

  void set_smoothing(double weight);
  void step_smoothing(int direction);  // to the next of the usual weights: 1 up, -1 down
  void set_x_axis(XAxis axis) { axis_ = axis, range_ = Range::all; }
  void set_bands(Bands bands) { bands_ = bands; }
  void group_by(const std::string& key) { group_key_ = key; }
  double smoothing() const { return smoothing_; }
  std::pair<double, double> x_range() const { return {x_min_, x_max_}; }
  const CardList& cards() const { return list_; }
  const std::string& selected() const { return selected_; }
  const std::string& large() const { return large_; }
  const std::vector<RunGroup>& groups() const { return groups_; }

 private:
  enum class Range { all, last, follow, zoomed };

  // What is drawn of one series, kept until the series, the range or the width changes.
  struct Trace {
    SmoothedSeries smoothed;
    Decimated raw, smooth;
    uint64_t version = 0, drawn = 0;  // of the series; counts how often it was made anew
    PlotRange key;
    double weight = -1;
    // Of a series that is too long to be read whole: the file's pyramid at the width of the plot.
    Question<history::Reduction> reduced;
    PlotRange asked;
  };
  // Of the current run's ranks.
  struct RankBand {
    Question<std::vector<Decimated>> ranks;
    PlotRange asked;
    std::string run;
    uint64_t version = 0;
  };
  // A run of this frame, as all plots draw it.
  struct Drawn {
    std::shared_ptr<Run> run;
    std::vector<int64_t> resumed_at;  // steps
    int64_t origin = 0;               // of the x axis
    Color ink;
    Dash dash = Dash::solid;
    bool current = false, hidden = false;  // hidden: current, and without a swatch
    size_t group = 0;
  };
  struct Line {
    const Drawn* drawn;
    const Series* series;  // null: drawn from the pyramid
    Trace* trace;
    bool current() const { return drawn->current; }
    const history::RunRecord& record() const { return drawn->run->record; }
  };
  struct Plot {
    MetricCard card;
    bool pinned = false;
    std::map<std::string, Trace> traces;  // by run
    std::vector<Line> lines;              // of this frame, the current run's last
    std::vector<MetricBand> bands;        // by group
    uint64_t bands_of = 0;                // what they were made of
    RankBand rank_band;
    std::optional<std::pair<double, double>> y_range;  // chosen with Shift and a drag
    ImVec2 low, high;                                  // where the card is on the screen
    bool hovered = false;                              // the pointer is among its lines
  };
  // What the list of plots is made of.
  struct ListKey {
    struct Names {
      const Run* run;
      size_t metrics, unread, latest;
      bool operator==(const Names&) const = default;
    };
    std::vector<Names> runs;
    std::string filter;
    nlohmann::json pins, order;
  };

  // view_metrics.cpp: what is shown, and the grid.
  void take_runs(const Context& context);
  void color_groups();
  bool list_is_stale(const Context& context);
  void refresh_list(const Context& context);
  void take_lines(Plot& plot);
  void draw_nothing(Context& context);
  void draw_grid(Context& context);
  void draw_head(const std::string& section, size_t count, float width);
  void draw_card(Context& context, Plot& plot, float width, float height);
  void take_drop(Context& context, const Plot& plot);
  void draw_card_title(Context& context, Plot& plot, float width);
  float draw_last_value(const Context& context, const Plot& plot, float right, float middle) const;
  struct Warning {
    std::string words;
    Token ink;
  };
  std::optional<Warning> warning_of(const Plot& plot) const;
  void fit_x();
  void move_selected(Context& context, int by);
  void toggle_large(const std::string& metric);
  void leave_zoom();

  // view_metrics_controls.cpp
  void draw_controls(Context& context);
  void draw_axis_choices();
  void draw_smoothing();
  void draw_band_choices(Context& context);
  void draw_group_choice(Context& context);
  void draw_group_legend();

  // view_metrics_plot.cpp: one plot.
  void draw_plot(Context& context, Plot& plot, float width, float height);
  std::pair<double, double> y_limits(const Plot& plot) const;
  void draw_bands(Plot& plot);
  void draw_means(ImDrawList* list, const Plot& plot, const PlotScale& scale) const;
  Color band_ink(size_t band) const;
  void draw_rank_band(ImDrawList* list, const Plot& plot, const PlotScale& scale);
  void draw_lines(ImDrawList* list, const Plot& plot, const PlotScale& scale) const;
  void draw_line_ends(ImDrawList* list, const Plot& plot, const PlotScale& scale) const;
  void draw_segments(const Plot& plot) const;
  void draw_marks(const Plot& plot);
  void draw_pins(const Plot& plot) const;
  void draw_cursor(const Context& context, const Plot& plot);
  void draw_cursor_card(const Plot& plot, double x);
  void draw_selection() const;
  std::optional<double> value_at(const Line& line, double x) const;
  // Of an x, or of the last point before it.
  std::optional<size_t> index_at(const Line& line, double x) const;

  // view_metrics_mouse.cpp: what the pointer does in a plot, and the menu.
  void take_mouse(Context& context, Plot& plot, const PlotScale& scale);
  void take_wheel();
  bool take_drag(Plot& plot, const PlotScale& scale);
  void take_click(Context& context, const Plot& plot, double x);
  void find_near_run(const Plot& plot, const PlotScale& scale);
  void draw_menu(Context& context, const Plot& plot);
  void add_menu_commands(CommandRegistry& registry);
  const Plot* selected_plot() const;
  std::optional<std::string> no_plot_selected() const;
  void copy_value(Context& context) const;
  void ask_for_csv(Context& context);
  void save_csv(Context& context, const std::string& metric, std::vector<MetricCurve> curves, const std::vector<std::string>& unread,
                const std::string& file);
  void take_saved(Context& context);
  void ask_for_picture(Context& context);
  void ask_for_alert(Context& context) const;
  std::string query_of(const Plot& plot) const;

  // view_metrics_data.cpp: what plots are made of, a little in each frame.
  void begin_turns(Context& context);
  bool may_refresh(const Trace& trace);
  void refresh(const Line& line, const PlotRange& range);
  void refresh_reduced(Context& context, const Plot& plot, const Line& line, const PlotRange& range);
  void refresh_plot(Context& context, Plot& plot, float width);
  void refresh_bands(Plot& plot);
  void refresh_rank_band(Context& context, Plot& plot, const PlotRange& range);

  std::vector<Drawn> drawn_;
  std::vector<const Run*> drawn_runs_;  // the same, and
  std::vector<const Run*> grouped_runs_;
  std::string grouped_by_;
  std::vector<RunGroup> groups_;  // empty: none are asked for
  CardList list_;
  ListKey list_key_, next_list_key_;
  std::map<std::string, Plot> plots_;  // by metric; those in list_ are shown
  std::vector<NonFiniteMark> marks_;   // of one line, while it is drawn
  MetricBand rank_curve_;              // of one plot, while it is drawn
  std::set<std::string> folded_;       // sections

  std::string filter_, large_, selected_;
  std::string near_run_, next_near_run_;  // whose line the pointer is at
  // A frame refreshes as many traces as it has time for; the others are drawn as they were, and their turn comes in the next frame.
  struct Turns {
    int64_t points = 0;                // left of this frame's smoothing
    int64_t columns = 0;               // left of this frame's decimation
    int asked = 0, first = 0;          // traces that wanted to be refreshed in this frame; the first whose turn it is
    std::optional<int> first_waiting;  // where the next frame begins
  } turns_;
  bool focus_filter_ = false, log_ = false;
  double smoothing_ = 0.9;
  XAxis axis_ = XAxis::step;
  bool clock_ = false;  // elapsed counts from 1970
  Range range_ = Range::all;
  int64_t last_steps_ = 100;
  double x_min_ = 0, x_max_ = 1;
  double moved_at_s_ = -1;     // when the range was zoomed or moved last
  bool is_moving_ = false;     // a moment ago: lines are made for every other pixel then
  int across_ = 0, down_ = 0;  // 0: as many as there is room for
  Bands bands_ = Bands::off;
  std::string group_key_;
  std::optional<double> pin_a_, pin_b_, next_cursor_;
  std::optional<double> drag_from_, drag_to_;  // x, while a range is drawn
  double drag_y_ = 0;                          // where it began
  Question<bool> saved_;                       // a file that needs the history
  std::string saved_file_;
};

}  // namespace ringwright::gui
