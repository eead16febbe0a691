#include "console/gui/widgets/table.h"

#include <algorithm>

#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {
constexpr float kRowHeight = 19;  // and 2 x 3 of cell padding: 25
constexpr float kBarWidth = 44;

// Behind the last column lies the next row: that one is begun by table_row alone.
void next_column() {
  if (ImGui::TableGetColumnIndex() + 1 < ImGui::TableGetColumnCount()) ImGui::TableNextColumn();
}
}  // namespace

bool begin_table(const char* id, const std::vector<TableColumn>& columns, float height) {
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {px(6), px(3)});
  const ImGuiTableFlags flags =
      ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingFixedFit;
  if (!ImGui::BeginTable(id, static_cast<int>(columns.size()), flags, {0, height})) {
    ImGui::PopStyleVar();
    return false;
  }
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const TableColumn& column : columns) {
    ImGui::TableSetupColumn(column.title.c_str(), column.width == 0 ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed,
                            column.width == 0 ? 1 : px(column.width));
  }
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers, px(kRowHeight) + 2 * px(3));
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    const bool fits = text_width(columns[i].title, Role::label) <= ImGui::GetContentRegionAvail().x;
    if (columns[i].right && fits) {
      text_right(columns[i].title, ImGui::GetContentRegionAvail().x, Role::label, color(Token::text2));
    } else {
      text_fitted(columns[i].title, ImGui::GetContentRegionAvail().x, Role::label, color(Token::text2));
    }
  }
  return true;
}

void end_table() {
  ImGui::EndTable();
  ImGui::PopStyleVar();
}

bool table_row(const char* id, bool current) {
  ImGui::TableNextRow(0, px(kRowHeight) + 2 * px(3));
  ImGui::TableSetColumnIndex(0);
  const float y = ImGui::GetCursorPosY();
  const float x = ImGui::GetCursorPosX();
  const bool clicked = ImGui::Selectable(id, current, ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap, {0, px(kRowHeight)});
  ImGui::SetCursorPos({x, y});
  return clicked;
}

void cell(std::string_view content, Token ink, Role role) {
  text_fitted(content, ImGui::GetContentRegionAvail().x, role, color(ink));
  next_column();
}

void number_cell(std::string_view content, Token ink) {
  text_right(content, ImGui::GetContentRegionAvail().x, Role::number, color(ink));
  next_column();
}

void bar_cell(double share, std::string_view content, Token fill) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  const float width = std::min(px(kBarWidth), room / 2), top = start.y + px(6), height = px(7);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({start.x, top}, {start.x + width, top + height}, color(Token::bg3), px(3));
  const float filled = width * static_cast<float>(std::clamp(share, 0.0, 1.0));
  if (share > 0) list->AddRectFilled({start.x, top}, {start.x + std::max(filled, px(3)), top + height}, color(fill), px(3));
  number_cell(share < 0 ? "-" : content, fill == Token::text3 ? Token::text3 : Token::text);
}

}  // namespace ringwright::gui
