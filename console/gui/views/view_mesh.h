// Mesh: how the ranks are arranged, with the values that would do, and what each arrangement costs.
#pragma once

#include <imgui.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "console/gui/recipe/mesh_plan.h"
#include "console/gui/views/view.h"

namespace ringwright::gui {

class ViewMesh : public View {
 public:
  void add_commands(CommandRegistry& registry) override;
  void draw(Context& context) override;

  const std::optional<MeshPlan>& plan() const { return plan_; }
  const std::vector<MeshSuggestion>& suggestions() const { return suggestions_; }

 private:
  using Groups = std::vector<std::vector<int>>;
  // A rank in its group of the axis that colours.
  struct Cell {
    int position = 0, group_size = 1;
    bool lit = false;  // with the whole group
  };
  void update(Context& context);
  void draw_sentence() const;
  void draw_dimension(Context& context, size_t index);
  void draw_colour_choice(Context& context);
  void draw_grid(Context& context, const Groups& groups);
  void draw_cell(Context& context, int rank, ImVec2 low, ImVec2 high, const Cell& cell);
  void draw_groups(const Groups& groups) const;
  void draw_price(Context& context) const;
  void draw_suggestions(Context& context);
  void set(Context& context, const MeshDimension& dimension, int value);
  void step(Context& context, int by);
  void suggest(Context& context);

  std::shared_ptr<const CheckedRecipe> planned_;
  std::optional<MeshPlan> plan_;
  std::optional<ErrorParts> fault_;
  size_t current_ = 2;  // dimension that the keys change: cp
  std::string colour_by_ = "cp";
  bool hold_data_ = false;
  int hovered_rank_ = -1, locked_rank_ = -1;
  std::vector<MeshSuggestion> suggestions_;
  std::filesystem::path suggested_for_;
  bool suggesting_ = false, suggested_ = false;
};

}  // namespace ringwright::gui
