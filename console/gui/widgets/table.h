// Tables as all views have them: quiet headers, hairlines between rows, numbers to the right.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "console/gui/services/style.h"

namespace ringwright::gui {

struct TableColumn {
  std::string title;
  float width = 0;  // design pixels; 0 takes what is left
  bool right = false;
};

// Opens a scrolling table with its header row; false when it is clipped away. Close it with end_table() only when true.
bool begin_table(const char* id, const std::vector<TableColumn>& columns, float height = 0);
void end_table();
// A new row with a selectable over all of its columns; the first column is current afterwards. True when it was clicked.
bool table_row(const char* id, bool current);
// Into the next column; cut with an ellipsis, whole on hover.
void cell(std::string_view content, Token ink = Token::text, Role role = Role::body);
// Right-aligned, in the font of numbers.
void number_cell(std::string_view content, Token ink = Token::text);
// A bar from 0 to 1 and its text to the right of it; a share below 0 is unknown: "-".
void bar_cell(double share, std::string_view content, Token fill);

}  // namespace ringwright::gui
