// Logs of the current run: tail, follow, filter, levels, ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console/gui/data/log_filter.h"
#include "console/gui/views/view.h"

namespace ringwright::gui {

class ViewLogs : public View {
 public:
  void add_commands(CommandRegistry& registry) override;
  void draw(Context& context) override;
  void focus_filter() override { focus_filter_ = true; }

  size_t lines_shown() const { return lines_shown_; }

 private:
  void draw_controls(Context& context, const Run& run);
  void draw_level_chips();
  void draw_lines(const Run& run, const std::vector<size_t>& shown);
  void draw_line(const Run& run, const history::LogLine& line, float width);
  void jump_to_error(const Run& run, const std::vector<size_t>& shown, int direction);
  void jump_to_time(const Context& context, const Run& run, const std::vector<size_t>& shown);
  void draw_rank_heads(const Run& run) const;

  LogFilter filter_;
  std::string pattern_;
  bool follow_ = true, focus_filter_ = false;
  size_t lines_shown_ = 0;
  bool by_rank_ = false;
  int64_t seen_time_unix_ns_ = 0;
  std::optional<size_t> scroll_to_;  // place among the lines shown
  std::string error_run_;
  std::optional<uint64_t> error_line_;  // number of the line that was jumped to
  int jump_ = 0;                        // +1, -1: to the next, previous error in the next frame
};

}  // namespace ringwright::gui
