// The alerts of all runs with what the operator has acknowledged, kept up to date for the bar and for the Alerts view.
#pragma once

#include <string>
#include <vector>

#include "console/gui/data/alert_rows.h"

namespace ringwright::gui {

struct Context;

class AlertCenter {
 public:
  // To be called every frame; works only when runs or acknowledgements have changed.
  void refresh(const Context& context);
  const std::vector<AlertRow>& rows() const { return rows_; }
  int open_count() const { return open_; }
  // Key of the alert that the last jump went to.
  const std::string& current() const { return current_; }
  void select(const std::string& key) { current_ = key; }

  // To the alert `by` rows on among those that are open: its run, rank and step become the selection.
  void jump(Context& context, int by);
  void go_to(Context& context, const AlertRow& row);
  // The current one, or one that was acknowledged back to open.
  void toggle_acknowledged(Context& context);

 private:
  const AlertRow* find_current() const;

  std::vector<AlertRow> rows_;
  std::string current_;
  uint64_t version_ = 0;
  bool stale_ = true;
  int open_ = 0;
};

}  // namespace ringwright::gui
