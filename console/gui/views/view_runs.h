// Runs: find them, mark them for the plots, stop them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "console/gui/views/view.h"

namespace ringwright::gui {

class ViewRuns : public View {
 public:
  void add_commands(CommandRegistry& registry) override;
  void draw(Context& context) override;
  void focus_filter() override { focus_filter_ = true; }

  // Runs that pass the filter, in table order.
  const std::vector<std::shared_ptr<Run>>& listed() const { return listed_; }
  void set_filter(std::string filter) { filter_ = std::move(filter); }

 private:
  void list_runs(const Context& context);
  void draw_table(Context& context, float height);
  void draw_row(Context& context, const std::shared_ptr<Run>& run);
  void draw_footer(Context& context);
  void draw_stop_buttons(Context& context, const Run& run);

  std::string filter_;
  bool focus_filter_ = false;
  int sort_column_ = -1;
  bool sort_descending_ = false;
  std::vector<std::shared_ptr<Run>> listed_;
};

}  // namespace ringwright::gui
