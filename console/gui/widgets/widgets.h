// Small pieces that several views draw. User text is always drawn as it is: never as a label, so "##" in a name changes no id (T37).
#pragma once

#include <imgui.h>

#include <functional>
#include <string>
#include <string_view>

#include "console/gui/services/icons.h"
#include "console/gui/services/style.h"
#include "shared/base/error.h"
#include "shared/history/records.h"

namespace ringwright::gui {

// As ImGui::PushID, with a name that somebody gave: in ImGui's own a "###" makes it forget what stands before.
void push_name_id(std::string_view name);

// Text in a role and a colour at the cursor.
void text(std::string_view content, Role role, Token ink = Token::text);
// Cut with an ellipsis to `width` pixels; whole on hover. Returns true when it was cut.
bool text_fitted(std::string_view content, float width, Role role, ImU32 ink);
// Right-aligned within the current table cell or `width`.
void text_right(std::string_view content, float width, Role role, ImU32 ink);
float text_width(std::string_view content, Role role);
// In lines of at most `width` pixels.
float text_height(std::string_view content, Role role, float width);
// The text itself, or its beginning and an ellipsis where it is wider than `width` pixels.
std::string shortened(std::string_view content, float width, Role role);
// At a place, in a draw list; `width` > 0 cuts with an ellipsis.
void text_at(ImDrawList* list, ImVec2 place, std::string_view content, Role role, ImU32 ink, float width = 0);

// Icon in the line, as high as the line; advances the cursor.
void icon(const Icon& icon, float size, ImU32 ink);

struct StateLook {
  const Icon* icon;
  Token token;
  const char* word;
};
StateLook state_look(history::RunState state);

// Square in a series colour; outline only when it is off. True when clicked.
bool swatch(const char* id, Color color, bool on);

// "Label [value v]" with a list of choices. `width` in design pixels. Returns true when the choice changed.
bool choice(const char* id, const char* label, std::string_view current, int count, const std::function<std::string(int)>& name, int& index,
            float width);

// Search field with a magnifier and a hint; true when the text changed.
bool filter_field(const char* id, const char* hint, std::string& text, float width, bool& focus_wanted);

// Centred message of a view that has nothing to show: what is, and what to do next. True when the button (if any) was pressed.
bool empty_state(const char* title, std::string_view detail, const char* button = nullptr);
void error_state(const ErrorParts& error);
// Rows of grey bars, for a view that is still being read.
void skeleton(int rows, float row_height);

// Pad of a button that says why it is off.
bool button_or_reason(const char* label, const std::string& reason, bool primary = false);

}  // namespace ringwright::gui
