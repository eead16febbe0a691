// The editor of a recipe's text: ImGui's own text field, with the text's colours, a gutter of marks, lines under what is wrong, and words behind
// the lines drawn over it.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

#include "console/gui/recipe/completion.h"
#include "console/gui/recipe/guard_rows.h"
#include "console/gui/recipe/outline.h"

namespace ringwright::gui {

struct LineMark {
  size_t line = 0;
  GuardState state = GuardState::warning;
  std::string text;  // shown on hover
};

struct EditorInput {
  uint64_t version = 0;  // of the text: another one replaces what is shown
  const std::string* text = nullptr;
  const std::vector<OutlineLine>* lines = nullptr;
  const std::vector<LineMark>* marks = nullptr;         // by line
  const std::vector<std::string>* line_ends = nullptr;  // one a line, "" for none
  std::string current_key;                              // its line is lit
};

struct EditorOutput {
  bool changed = false;      // text() is new
  bool pasted = false;       // by the clipboard
  bool caret_moved = false;  // by the operator
};

class RecipeEditor {
 public:
  EditorOutput draw(const EditorInput& input, ImVec2 size);

  const std::string& text() const { return buffer_; }
  size_t caret() const { return caret_; }
  bool has_keys() const { return active_; }
  // Scrolls there; with `focus` the caret goes there too, and the keyboard to this editor.
  void go_to(size_t offset, bool focus);
  void open_completion() { completion_wanted_ = true; }

 private:
  static int on_callback(ImGuiInputTextCallbackData* data);
  void take_callback(ImGuiInputTextCallbackData& data);
  void indent_new_line(ImGuiInputTextCallbackData& data) const;
  void draw_gutter(const EditorInput& input, ImVec2 start, float width, float line_height) const;
  void draw_text(const EditorInput& input, ImVec2 start, float line_height) const;
  void draw_line(const EditorInput& input, size_t line, ImVec2 place) const;
  void draw_underline(const EditorInput& input, const LineMark& mark, ImVec2 text_start, float line_height) const;
  void lock_completion_keys();
  void draw_completion(const std::vector<OutlineLine>& lines, ImVec2 text_start, float line_height);
  void scroll_to_caret(const EditorInput& input, float line_height);

  std::string buffer_;
  uint64_t version_ = 0;
  size_t caret_ = 0, last_length_ = 0;
  bool active_ = false, focus_wanted_ = false, scroll_wanted_ = false;
  std::optional<size_t> caret_wanted_;
  struct Replacement {
    size_t from, to;
    std::string text;
  };
  std::optional<Replacement> replacement_;
  bool completion_wanted_ = false, completion_open_ = false;
  CompletionList completion_;
  int completion_index_ = 0;
};

}  // namespace ringwright::gui
