// Metrics: a grid of plots with one cursor. The Runs table is the legend.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "console/gui/data/background.h"
#include "console/gui/data/decimate.h"
#include "console/gui/views/view.h"

namespace ringwright::gui {

class ViewMetrics : public View {
 public:
  void add_commands(CommandRegistry& registry) override;
  void draw(Context& context) override;
  void focus_filter() override { focus_filter_ = true; }

  void set_smoothing(double weight) { smoothing_ = weight; }
  void set_x_axis(XAxis axis) { axis_ = axis, fitted_ = true; }

 private:
  // What is drawn of one series, kept until the series, the range or the width changes.
  struct Trace {
    SmoothedSeries smoothed;
    Decimated raw, smooth;
    uint64_t version = 0;
    PlotRange key;
    double weight = -1;
    // Of a series that is too long to be read whole: the file's pyramid at the width of the plot.
    Question<history::Reduction> reduced;
    PlotRange asked;
  };
  struct Card {
    std::string metric;  // its name in the runs
    std::string title;
  };
  struct Line {
    std::shared_ptr<Run> run;
    std::shared_ptr<Series> series;  // null: drawn from the pyramid
    Trace* trace;
    bool current;
  };

  void draw_controls(Context& context);
  std::vector<Card> cards(const Context& context) const;
  void draw_grid(Context& context, const std::vector<Card>& list);
  void draw_card(Context& context, const Card& card, float width, float height);
  void draw_card_title(Context& context, const Card& card, const std::vector<Line>& lines, float width);
  void draw_plot(Context& context, const Card& card, std::vector<Line>& lines, float width, float height);
  void draw_lines(const Context& context, const std::vector<Line>& lines);
  void draw_marks(const std::vector<Line>& lines) const;
  void draw_cursor(Context& context, const std::vector<Line>& lines);
  void draw_cursor_card(const std::vector<Line>& lines, double x) const;
  std::optional<double> value_at(const Line& line, double x) const;
  std::vector<Line> lines_of(const Context& context, const std::string& metric);
  // A run of the plot has too many points to be read, and the file's pyramid has steps alone.
  bool leaves_out(const Context& context, const std::string& metric) const;
  void refresh(Line& line, double x_min, double x_max, float width);
  void refresh_reduced(Context& context, const Card& card, Line& line, double x_min, double x_max, float width);
  void draw_band(const std::vector<Line>& lines) const;
  void draw_segments(const std::vector<Line>& lines) const;
  void draw_pins(const std::vector<Line>& lines) const;
  void take_click(Context& context, const std::vector<Line>& lines);
  static void toggle_pinned(Context& context, const std::string& metric);
  static bool is_pinned(const Context& context, const std::string& metric);
  int64_t start_of(const Run& run) const { return clock_ ? 0 : run.record.started_unix_ns; }
  bool may_refresh(const Trace& trace);
  void fit_x(const Context& context);

  std::map<std::pair<std::string, std::string>, Trace> traces_;  // by run and metric
  std::string filter_, large_;
  // A frame refreshes as many traces as it has time for; the others are drawn as they were, and their turn comes in the next frame.
  struct Turns {
    int64_t points = 0;                // left of this frame's smoothing
    int64_t columns = 0;               // left of this frame's decimation
    int asked = 0, first = 0;          // traces that wanted to be refreshed in this frame; the first whose turn it is
    std::optional<int> first_waiting;  // where the next frame begins
  } turns_;
  bool focus_filter_ = false, log_ = false, fitted_ = true;
  double smoothing_ = 0.9;
  XAxis axis_ = XAxis::step;
  double x_min_ = 0, x_max_ = 1;
  bool clock_ = false;  // elapsed counts from 1970
  bool band_ = false;
  std::optional<double> pin_a_, pin_b_;
  std::optional<double> next_cursor_;
};

}  // namespace ringwright::gui
