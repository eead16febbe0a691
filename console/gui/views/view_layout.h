// Layout: where every token of a sequence lives, and how the work is spread over the ranks.
#pragma once

#include <imgui.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "console/gui/data/layout_picture.h"
#include "console/gui/data/ring_steps.h"
#include "console/gui/data/strip_zoom.h"
#include "console/gui/recipe/recipe_stream.h"
#include "console/gui/views/view.h"
#include "shared/base/error.h"
#include "shared/history/records.h"

namespace ringwright::gui {

class ViewLayout : public View {
 public:
  void add_commands(CommandRegistry& registry) override;
  void draw(Context& context) override;

  const LayoutPicture& picture() const { return picture_; }
  const StripZoom& zoom() const { return zoom_; }
  const LayoutQuestion& question() const { return question_; }
  // Where the numbers come from: "of the recipe", "synthetic".
  std::string origin_text() const;
  void ask(const LayoutQuestion& question);

 private:
  enum class Origin { synthetic, recipe, run, typed };
  // Of a strip on the screen.
  struct StripPlace {
    ImVec2 start;
    float width, height;
    float end() const { return start.x + width; }
  };

  void follow_recipe(const Context& context);
  void take_run(const history::RunRecord& run);
  std::string cli_line(const Context& context) const;
  std::string_view origin_words(const Context& context) const;
  void compute();
  void compute_ring_steps();

  // view_layout.cpp: controls and ranks.
  void draw_controls(Context& context);
  void draw_batch_fields();
  bool draw_length_field(const char* id, const char* label, int64_t& value);
  void draw_ranks(Context& context);
  void draw_rank_header(float left, float slots_width);
  void draw_rank_row(Context& context, int rank, float row_height, float slots_width);
  void draw_rank_slots(int rank, bool lit, ImVec2 start, float width, float height);
  void draw_shown_part(const LayoutBlock& block, ImVec2 start, float width, float height) const;
  void draw_work_bar(int rank, ImVec2 start, float width, float row_height) const;

  // view_layout_strip.cpp: the global sequence.
  void draw_strips(Context& context);
  void draw_minimap(Context& context);
  void draw_minimap_bar(ImVec2 start, float width);
  void draw_ruler(ImVec2 start, float width) const;
  void draw_strip(Context& context, const char* id, const LayoutPicture& picture, const StripPlace& place);
  void find_blocks_shown(const LayoutPicture& picture, const StripPlace& place);
  void draw_block(const LayoutPicture& picture, const LayoutBlock& block, bool lit, const StripPlace& place) const;
  void draw_block_name(const LayoutPicture& picture, const LayoutBlock& block, bool lit, const StripPlace& place);
  void draw_padding(const LayoutPicture& picture, const StripPlace& place);
  void draw_document_edges(const LayoutPicture& picture, const StripPlace& place) const;
  void draw_cells(const Context& context, const LayoutPicture& picture, const StripPlace& place, bool labelled) const;
  void draw_cell_label(const LayoutPicture& picture, const LayoutBlock& block, int64_t position, bool lit, const StripPlace& place) const;
  bool cells_have_labels(const LayoutPicture& picture, float width) const;
  bool is_lit(const Context& context, int rank) const;
  void draw_bracket(const LayoutPicture& picture, int rank, ImVec2 start, float width) const;
  void draw_moved(ImVec2 start, float width) const;
  void take_mouse(Context& context, const LayoutPicture& picture, const StripPlace& place, bool clicked);
  void hover_text(const LayoutPicture& picture, int64_t position);
  float x_of(int64_t position, ImVec2 start, float width) const;

  // view_layout_ring.cpp: the steps of the ring.
  void draw_ring_steps(Context& context);
  void draw_mask(ImVec2 start, float cell) const;
  void draw_step_table(const Context& context, float width) const;
  void draw_work_by_step(double mean, float width) const;

  LayoutQuestion question_;
  Origin origin_ = Origin::synthetic;
  std::optional<RecipeStream> stream_;             // of the recipe, where that is followed
  std::shared_ptr<const CheckedRecipe> followed_;  // that was looked at last
  LayoutPicture picture_;
  std::optional<LayoutPicture> compared_;
  std::string summary_;                             // of both
  std::vector<size_t> shown_;                       // blocks of the strip that is being drawn
  std::vector<PaddedStretch> padded_;               // of the part that is being drawn
  std::vector<std::pair<int64_t, int64_t>> moved_;  // tokens whose owner differs
  std::vector<std::vector<RingStepRow>> ring_steps_;
  std::optional<ErrorParts> fault_;
  LayoutQuestion computed_;
  std::string compare_ = "contiguous", computed_compare_;
  bool computed_once_ = false;
  StripZoom zoom_;
  double pointer_share_ = 0.5;  // of the strip's width, where the keys zoom: under the pointer, else the middle
  int step_ = 0;
  int hovered_rank_ = -1, next_hovered_rank_ = -1;
};

}  // namespace ringwright::gui
