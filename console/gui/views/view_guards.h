// Guards: may this recipe run, for each target; and if not, what to change.
#pragma once

#include <imgui.h>

#include <array>
#include <string>

#include "console/gui/recipe/guard_rows.h"
#include "console/gui/views/view.h"

namespace ringwright::gui {

class ViewGuards : public View {
 public:
  void add_commands(CommandRegistry& registry) override;
  void draw(Context& context) override;

  const std::string& current() const { return current_; }

 private:
  void draw_targets(Context& context);
  void draw_chips(const GuardList& guards);
  void draw_rows(Context& context, const GuardList& guards);
  void draw_row(Context& context, const GuardRow& row);
  void draw_row_text(const Context& context, const GuardRow& row, ImVec2 start, float width) const;
  void draw_fix(Context& context, const GuardRow& row, ImVec2 start);
  void draw_skipped(Context& context, const GuardList& guards);
  void move(Context& context, int by);
  const GuardRow* current_row(const Context& context) const;
  bool is_shown(const GuardRow& row) const { return shown_[static_cast<size_t>(row.state)]; }

  std::string current_;  // id of a row
  std::array<bool, static_cast<size_t>(GuardState::count)> shown_ = {true, true, true, true, true, false};
  bool scroll_wanted_ = false;
  bool model_wanted_ = false;
  std::string model_folder_;
};

}  // namespace ringwright::gui
