// Ctrl+P: fuzzy search over commands and runs, most recent first; refused commands stay listed with their reason.
#pragma once

#include <string>
#include <vector>

#include "console/gui/services/context.h"

namespace ringwright::gui {

class CommandPalette {
 public:
  // Opens when the context asks for it, draws, runs what is chosen.
  void draw(Context& context);
  bool is_open() const { return open_; }

 private:
  struct Row {
    std::string id;  // command id, or "run:<id>"
    std::string title, group, keys, cli, reason;
    int score = 0;
  };
  std::vector<Row> rows(const Context& context) const;
  void draw_row(const Row& row, int index, Context& context);
  void choose(const Row& row, Context& context);

  bool open_ = false, focus_ = false;
  std::string search_;
  int current_ = 0;
  std::vector<std::string> recent_;
};

}  // namespace ringwright::gui
