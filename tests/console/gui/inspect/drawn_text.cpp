#include "tests/console/gui/inspect/drawn_text.h"

#include <algorithm>
#include <cstring>

namespace ringwright::gui {
namespace {

TextRecording* recording = nullptr;
bool muted = false;

bool is_field_content(const ImRect& place) {
  const ImGuiLastItemData& item = ImGui::GetCurrentContext()->LastItemData;
  return (item.ItemFlags & ImGuiItemFlags_Inputable) != 0 && item.Rect.Overlaps(place);
}

}  // namespace

TextRecording::TextRecording() { recording = this; }
TextRecording::~TextRecording() { recording = nullptr; }
TextMute::TextMute() { muted = true; }
TextMute::~TextMute() { muted = false; }

bool text_is_muted() { return muted; }

void record_text(ImDrawList* list, ImFont* font, float size, ImVec2 place, ImU32 ink, const char* begin, const char* end, float wrap,
                 const ImVec4* clip) {
  if (recording == nullptr || (ink & IM_COL32_A_MASK) == 0) return;
  if (end == nullptr) end = begin + std::strlen(begin);
  if (font == nullptr) font = list->_Data->Font;
  if (size == 0) size = list->_Data->FontSize;
  const char* first = std::find_if(begin, end, [](char c) { return c != ' ' && c != '\n'; });
  if (first == end) return;
  if (*begin == ' ') place.x += font->CalcTextSizeA(size, FLT_MAX, 0, begin, first).x;  // spaces make room, for an icon mostly
  begin = first;
  while (end[-1] == ' ') --end;
  const std::string text(begin, end);
  const ImVec2 extent = font->CalcTextSizeA(size, FLT_MAX, wrap, begin, end);
  const ImRect whole(place, {place.x + extent.x, place.y + extent.y});
  ImRect visible = whole;
  visible.ClipWith(ImRect(list->_CmdHeader.ClipRect));
  if (clip != nullptr) visible.ClipWith(ImRect(*clip));
  if (visible.GetWidth() < 1 || visible.GetHeight() < 1) return;
  const ImGuiWindow* window = ImGui::GetCurrentContext()->CurrentWindow;
  DrawnText drawn{text, whole, visible, ink, font, size, list, window, is_field_content(whole), false, false};
  for (const ImGuiWindow* around = window; around != nullptr; around = around->ParentWindow) {
    drawn.scrolls_x |= around->ScrollMax.x > 0;
    drawn.scrolls_y |= around->ScrollMax.y > 0;
    if (around == window->RootWindow) break;
  }
  recording->texts_.push_back(std::move(drawn));
}

}  // namespace ringwright::gui

// What the linker puts in the place of ImDrawList::AddText (--wrap), and what it was before.
extern "C" {
void real_add_text(ImDrawList*, ImFont*, float, const ImVec2&, ImU32, const char*, const char*, float,
                   const ImVec4*) asm("__real__ZN10ImDrawList7AddTextEP6ImFontfRK6ImVec2jPKcS6_fPK6ImVec4");
void add_text(ImDrawList*, ImFont*, float, const ImVec2&, ImU32, const char*, const char*, float,
              const ImVec4*) asm("__wrap__ZN10ImDrawList7AddTextEP6ImFontfRK6ImVec2jPKcS6_fPK6ImVec4");
void real_add_text_short(ImDrawList*, const ImVec2&, ImU32, const char*, const char*) asm("__real__ZN10ImDrawList7AddTextERK6ImVec2jPKcS4_");
void add_text_short(ImDrawList*, const ImVec2&, ImU32, const char*, const char*) asm("__wrap__ZN10ImDrawList7AddTextERK6ImVec2jPKcS4_");

void add_text(ImDrawList* list, ImFont* font, float size, const ImVec2& place, ImU32 ink, const char* begin, const char* end, float wrap,
              const ImVec4* clip) {
  ringwright::gui::record_text(list, font, size, place, ink, begin, end, wrap, clip);
  if (!ringwright::gui::text_is_muted()) real_add_text(list, font, size, place, ink, begin, end, wrap, clip);
}

void add_text_short(ImDrawList* list, const ImVec2& place, ImU32 ink, const char* begin, const char* end) {
  ringwright::gui::record_text(list, nullptr, 0, place, ink, begin, end, 0, nullptr);
  if (!ringwright::gui::text_is_muted()) real_add_text_short(list, place, ink, begin, end);
}
}
