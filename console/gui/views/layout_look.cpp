#include "console/gui/views/layout_look.h"

#include <algorithm>

#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {

Color tinted(Color fill, double share) { return blend(with_alpha(fill, share), theme()[Token::bg1]); }

void hatch(ImDrawList* list, ImVec2 low, ImVec2 high, bool rising) {
  list->PushClipRect(low, high, true);
  const float height = high.y - low.y;
  for (float x = low.x - height; x < high.x; x += px(6)) {
    list->AddLine({x, rising ? high.y : low.y}, {x + height, rising ? low.y : high.y}, color(Token::text3), px(1));
  }
  list->PopClipRect();
  list->AddRect(low, high, color(Token::line2), 0, px(1));
}

void layout_heading(const char* title, std::string_view facts) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  text(title, Role::heading);
  const float room = width - text_width(title, Role::heading) - px(24);
  const float facts_width = std::min(text_width(facts, Role::axis), room);
  if (room > px(80))
    text_at(ImGui::GetWindowDrawList(), {start.x + width - facts_width, start.y + px(1)}, facts, Role::axis, color(Token::text2), facts_width + 1);
}

}  // namespace ringwright::gui
