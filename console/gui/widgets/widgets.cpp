#include "console/gui/widgets/widgets.h"

#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "console/gui/widgets/short_text.h"

namespace ringwright::gui {
namespace {

ImVec2 extent_of(std::string_view content, Role role, float wrap_width = 0) {
  return font(role)->CalcTextSizeA(font_px(role), FLT_MAX, wrap_width, content.data(), content.data() + content.size());
}

// The longest start of `content` that fits with "...", at a character boundary.
ShortText cut(std::string_view content, float width, Role role) {
  const float room = width - text_width("...", role);
  const char* end = nullptr;
  font(role)->CalcTextSizeA(font_px(role), std::max(room, 1.0F), 0, content.data(), content.data() + content.size(), &end);
  return ShortText("{}...", content.substr(0, static_cast<size_t>(end - content.data())));
}

struct StyleColor {
  ImGuiCol slot;
  ImU32 packed;
};

std::array<StyleColor, 4> primary_button() {
  const Color fill = theme()[Token::accent_fill];
  return {{{ImGuiCol_Button, to_u32(fill)},
           {ImGuiCol_ButtonHovered, to_u32(mix(fill, rgb(0xFFFFFF), 0.12))},
           {ImGuiCol_ButtonActive, to_u32(mix(fill, rgb(0x000000), 0.12))},
           {ImGuiCol_Text, IM_COL32_WHITE}}};
}

// Quiet and still readable, which half transparent words are not on every ground.
std::array<StyleColor, 2> refused_button() { return {{{ImGuiCol_Button, color(Token::bg3)}, {ImGuiCol_Text, color(Token::text3)}}}; }

}  // namespace

void push_name_id(std::string_view name) { ImGui::PushOverrideID(ImHashData(name.data(), name.size(), ImGui::GetCurrentWindow()->IDStack.back())); }

void text(std::string_view content, Role role, Token ink) {
  const WithFont scoped(role);
  ImGui::PushStyleColor(ImGuiCol_Text, color(ink));
  ImGui::TextUnformatted(content.data(), content.data() + content.size());
  ImGui::PopStyleColor();
}

float text_width(std::string_view content, Role role) { return std::ceil(extent_of(content, role).x); }

float text_height(std::string_view content, Role role, float width) { return std::ceil(extent_of(content, role, width).y); }

std::string shortened(std::string_view content, float width, Role role) {
  return std::string(text_width(content, role) > width ? cut(content, width, role).view() : content);
}

void text_at(ImDrawList* list, ImVec2 place, std::string_view content, Role role, ImU32 ink, float width) {
  const auto draw = [&](std::string_view shown) {
    list->AddText(font(role), font_px(role), {std::round(place.x), std::round(place.y)}, ink, shown.data(), shown.data() + shown.size());
  };
  width > 0 && text_width(content, role) > width ? draw(cut(content, width, role)) : draw(content);
}

bool text_fitted(std::string_view content, float width, Role role, ImU32 ink) {
  const WithFont scoped(role);
  const bool is_cut = text_width(content, role) > width;
  const auto draw = [](std::string_view shown) { ImGui::TextUnformatted(shown.data(), shown.data() + shown.size()); };
  ImGui::PushStyleColor(ImGuiCol_Text, ink);
  is_cut ? draw(cut(content, width, role)) : draw(content);
  ImGui::PopStyleColor();
  if (is_cut && ImGui::IsItemHovered()) {
    ImGui::BeginTooltip();
    text(content, role);
    ImGui::EndTooltip();
  }
  return is_cut;
}

void text_right(std::string_view content, float width, Role role, ImU32 ink) {
  const float offset = width - text_width(content, role);
  if (offset > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + offset);
  const WithFont scoped(role);
  ImGui::PushStyleColor(ImGuiCol_Text, ink);
  ImGui::TextUnformatted(content.data(), content.data() + content.size());
  ImGui::PopStyleColor();
}

void icon(const Icon& shown, float size, ImU32 ink) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetTextLineHeight();
  draw_icon(ImGui::GetWindowDrawList(), shown, {start.x + px(size) / 2, start.y + height / 2}, size, ink);
  ImGui::Dummy({px(size), height});
}

StateLook state_look(history::RunState state) {
  using history::RunState;
  static const std::array<StateLook, 9> looks = {{{&icons::hourglass, Token::text2, "queued"},
                                                  {&icons::clock, Token::info, "starting"},
                                                  {&icons::play, Token::info, "running"},
                                                  {&icons::pause, Token::warn, "paused"},
                                                  {&icons::hourglass, Token::warn, "stopping"},
                                                  {&icons::check_circle, Token::ok, "finished"},
                                                  {&icons::cross_circle, Token::error, "failed"},
                                                  {&icons::stop, Token::neutral, "stopped"},
                                                  {&icons::ring, Token::warn, "lost"}}};
  return looks[static_cast<size_t>(state)];
}

bool swatch(const char* id, Color fill, bool on) {
  const float size = px(14);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetTextLineHeight();
  const bool clicked = ImGui::InvisibleButton(id, {size, height});
  const bool hovered = ImGui::IsItemHovered();
  const ImVec2 low{start.x, std::round(start.y + (height - size) / 2)}, high{low.x + size, low.y + size};
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (on) list->AddRectFilled(low, high, to_u32(fill), px(4));
  if (!on || hovered) list->AddRect(low, high, color(hovered ? Token::text2 : Token::line2), px(4), px(1.5F));
  return clicked;
}

bool choice(const char* id, const char* label, std::string_view current, int count, const std::function<std::string(int)>& name, int& index,
            float width) {
  ImGui::AlignTextToFramePadding();
  if (*label != 0) {
    text(label, Role::label, Token::text2);
    ImGui::SameLine(0, px(6));
  }
  bool changed = false;
  const WithFont scoped(Role::code);
  ImGui::SetNextItemWidth(px(width));
  const ImVec2 start = ImGui::GetCursorScreenPos();
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, px(1));
  ImGui::PushStyleColor(ImGuiCol_Border, color(Token::line));
  const bool open = ImGui::BeginCombo(id, ShortText("{}", current).c_str(), ImGuiComboFlags_HeightLarge | ImGuiComboFlags_NoArrowButton);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  if (!open)
    draw_icon(ImGui::GetWindowDrawList(), icons::chevron_down, {start.x + px(width) - px(14), start.y + ImGui::GetFrameHeight() / 2}, 16,
              color(Token::text2));
  if (open) {
    for (int i = 0; i < count; ++i) {
      ImGui::PushID(i);
      if (ImGui::Selectable((name(i) + "###choice").c_str(), i == index)) changed = i != index, index = i;
      ImGui::PopID();
    }
    ImGui::EndCombo();
  }
  return changed;
}

bool filter_field(const char* id, const char* hint, std::string& content, float width, bool& focus_wanted) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  if (focus_wanted) ImGui::SetKeyboardFocusHere();
  focus_wanted = false;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {px(30), px(4)});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, px(1));
  ImGui::PushStyleColor(ImGuiCol_Border, color(Token::line));
  ImGui::SetNextItemWidth(width);
  bool changed = false;
  {
    const WithFont scoped(Role::code);
    changed = ImGui::InputTextWithHint(id, hint, &content, ImGuiInputTextFlags_EscapeClearsAll);
  }
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  const float height = ImGui::GetItemRectSize().y;
  draw_icon(ImGui::GetWindowDrawList(), icons::magnify, {start.x + px(16), start.y + height / 2}, 16, color(Token::text3));
  return changed;
}

namespace {
void centered(std::string_view content, Role role, Token ink) {
  const float width = text_width(content, role);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, (ImGui::GetContentRegionAvail().x - width) / 2));
  text(content, role, ink);
}
}  // namespace

bool empty_state(const char* title, std::string_view detail, const char* button) {
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + std::max(px(16), ImGui::GetContentRegionAvail().y * 0.36F));
  centered(title, Role::heading, Token::text);
  if (!detail.empty()) {
    const float width = text_width(detail, Role::label), room = ImGui::GetContentRegionAvail().x;
    if (width <= room) {
      centered(detail, Role::label, Token::text2);
    } else {
      const WithFont scoped(Role::label);
      ImGui::PushStyleColor(ImGuiCol_Text, color(Token::text2));
      ImGui::TextWrapped("%.*s", static_cast<int>(detail.size()), detail.data());
      ImGui::PopStyleColor();
    }
  }
  if (button == nullptr) return false;
  const float width = ImGui::CalcTextSize(button, nullptr, true).x + px(24);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, (ImGui::GetContentRegionAvail().x - width) / 2));
  return button_or_reason(button, "", true);
}

void error_state(const ErrorParts& error) {
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(16));
  icon(icons::cross_circle, 18, color(Token::error));
  ImGui::SameLine();
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(0);
  text(error.code + "  " + error.what, Role::heading, Token::text);
  if (!error.where.empty()) text(error.where, Role::code, Token::text2);
  if (!error.expected.empty()) text("Expected: " + error.expected, Role::label, Token::text2);
  if (!error.action.empty()) text("To fix: " + error.action, Role::label, Token::text);
  ImGui::PopTextWrapPos();
  ImGui::EndGroup();
}

void skeleton(int rows, float row_height) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float width = ImGui::GetContentRegionAvail().x;
  for (int i = 0; i < rows; ++i) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float share = 0.35F + 0.5F * static_cast<float>(i * 37 % 10) / 10;
    list->AddRectFilled({start.x, start.y + row_height * 0.3F}, {start.x + width * share, start.y + row_height * 0.7F}, color(Token::bg3), px(4));
    ImGui::Dummy({width, row_height});
  }
}

bool button_or_reason(const char* label, const std::string& reason, bool primary) {
  const bool refused = !reason.empty();
  int colors = 0;
  const auto push = [&](const auto& list) {
    for (const StyleColor& each : list) ImGui::PushStyleColor(each.slot, each.packed), ++colors;
  };
  if (refused) {
    push(refused_button());
  } else if (primary) {
    push(primary_button());
  }
  ImGui::PushStyleVar(ImGuiStyleVar_DisabledAlpha, 1);
  ImGui::BeginDisabled(refused);
  const bool pressed = ImGui::Button(label);
  ImGui::EndDisabled();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(colors);
  if (refused && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
    ImGui::BeginTooltip();
    text(reason, Role::label);
    ImGui::EndTooltip();
  }
  return pressed;
}

}  // namespace ringwright::gui
