// Timeline: who waited for whom. One lane a rank, time to the right.
#pragma once

#include <optional>
#include <string>

#include "console/gui/data/background.h"
#include "console/gui/data/timeline.h"
#include "console/gui/views/view.h"

namespace ringwright::gui {

class ViewTimeline : public View {
 public:
  void add_commands(CommandRegistry& registry) override;
  void draw(Context& context) override;

  const Timeline& timeline() const { return timeline_; }
  TimeRange visible() const { return visible_; }
  const RangeStatistics& statistics_shown() const { return statistics_; }

 private:
  void refresh(Context& context, const Run& run);
  void ask_for_step(Context& context, const Run& run);
  void fit(const Context& context);
  void zoom(double factor, double at);
  void pan(double share);
  void go_to_step(Context& context, int by);
  void draw_legend(const Context& context);
  void draw_ruler(ImVec2 start, float width) const;
  void draw_lanes(Context& context, float height);
  void draw_lane(Context& context, const Lane& lane, ImVec2 start, ImVec2 size) const;
  void draw_sentence() const;
  void take_mouse(ImVec2 start, float width);
  float x_of(int64_t time_ns, float left, float width) const;

  Timeline timeline_;
  std::string run_;
  uint64_t spans_version_ = 0;
  std::optional<int64_t> step_;
  Question<std::deque<history::SpanRecord>> older_;
  int64_t asked_step_ = -1;
  bool from_file_ = false;  // what is shown was asked for, and lies before what the run has in memory
  TimeRange visible_;
  std::optional<TimeRange> selected_;
  RangeStatistics statistics_;
  TimeRange statistics_of_;
  bool follow_ = true;
};

}  // namespace ringwright::gui
