// Layout: where every token of a sequence lives, and how the work is spread over the ranks.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>

#include "console/gui/data/layout_picture.h"
#include "console/gui/data/ring_steps.h"
#include "console/gui/views/view.h"
#include "shared/base/error.h"

namespace ringwright::gui {

class ViewLayout : public View {
 public:
  void add_commands(CommandRegistry& registry) override;
  void draw(Context& context) override;

  const LayoutPicture& picture() const { return picture_; }
  void ask(const LayoutQuestion& question) { question_ = question; }

 private:
  void compute();
  void draw_controls(Context& context);
  void draw_length_field(const char* id, const char* label, int64_t& value);
  void draw_strips(Context& context);
  void draw_ruler(ImVec2 start, float width) const;
  void draw_strip(Context& context, const char* id, const LayoutPicture& picture, ImVec2 start, float width, float height);
  void draw_strip_block(const Context& context, const LayoutPicture& picture, const LayoutBlock& block, ImVec2 start, float width,
                        float height) const;
  void draw_bracket(const LayoutPicture& picture, int rank, ImVec2 start, float width) const;
  void draw_moved(ImVec2 start, float width) const;
  void handle_zoom(ImVec2 start, float width);
  void draw_ranks(Context& context);
  void draw_rank_header(float left, float slots_width);
  void draw_rank_row(Context& context, int rank, float row_height, float slots_width);
  void draw_rank_slots(int rank, bool lit, ImVec2 start, float width, float height) const;
  void draw_work_bar(int rank, ImVec2 start, float width, float row_height) const;
  void draw_ring_steps(Context& context);
  void draw_mask(ImVec2 start, float cell) const;
  void draw_step_table(const Context& context, float width) const;
  void draw_work_by_step(const std::vector<std::vector<RingStepRow>>& steps, double mean, float width) const;
  void hover_text(const LayoutPicture& picture, int64_t position);
  float x_of(int64_t position, ImVec2 start, float width) const;

  LayoutQuestion question_;
  LayoutPicture picture_;
  std::optional<LayoutPicture> compared_;
  std::optional<ErrorParts> fault_;
  LayoutQuestion computed_;
  std::string compare_ = "contiguous", computed_compare_;
  bool computed_once_ = false;
  double zoom_min_ = 0, zoom_max_ = 1;  // shares of the padded length
  int step_ = 0;
  int hovered_rank_ = -1, next_hovered_rank_ = -1;
};

}  // namespace ringwright::gui
