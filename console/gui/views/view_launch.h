// Launch: the recipe as text and as a form, both of the same document, and the button that starts it.
#pragma once

#include <imgui.h>

#include <map>
#include <string>
#include <vector>

#include "console/gui/recipe/form_fields.h"
#include "console/gui/services/recipe_commands.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/recipe_editor.h"

namespace ringwright::gui {

class ViewLaunch : public View {
 public:
  void add_commands(CommandRegistry& registry) override;
  void draw(Context& context) override;

  const std::vector<LineMark>& marks() const { return marks_; }
  const RecipeEditor& editor() const { return editor_; }

 private:
  enum class Face { text, form };

  void draw_head(Context& context);
  void draw_text(Context& context, ImVec2 size);
  void draw_form(Context& context, ImVec2 size);
  void draw_field(Context& context, const FormField& field, float label_width);
  bool draw_value(const FormField& field, const FieldValue& value, std::string& edited);
  // The button and what is said beside or below it.
  struct Foot {
    LaunchState state;
    std::string label, words;
    bool beside = true;
    float height = 0;
  };
  static std::string foot_words(const Context& context, const LaunchState& state);
  static Foot make_foot(const Context& context);
  static void draw_button(Context& context, const LaunchState& state, const std::string& label);
  static void draw_foot(Context& context, const Foot& foot);
  void update_marks(Context& context);
  void take_editor(Context& context, const EditorOutput& output);

  Face face_ = Face::text;
  RecipeEditor editor_;
  std::vector<LineMark> marks_;
  std::vector<std::string> line_ends_;
  uint64_t marks_version_ = 0;
  std::shared_ptr<const CheckedRecipe> marks_checked_;
  support_matrix::Target marks_target_ = support_matrix::Target::ringwright;
  std::map<std::string, std::string> typed_;  // of fields that are being edited, by key
};

}  // namespace ringwright::gui
