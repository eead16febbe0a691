#include "console/gui/services/prompt.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "console/gui/services/context.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr const char* kPopup = "Prompt###prompt.dialog";
constexpr size_t kSuggestionsShown = 8;

void draw_suggestions(Context& context, const Prompt& prompt) {
  for (size_t i = 0; i < std::min(prompt.suggestions.size(), kSuggestionsShown); ++i) {
    if (i > 0) ImGui::SameLine(0, px(4));
    push_name_id(prompt.suggestions[i]);
    const ImVec2 start = ImGui::GetCursorScreenPos(), size{text_width(prompt.suggestions[i], Role::label) + px(16), px(24)};
    if (ImGui::Button("###suggestion", size)) context.prompt_typed = prompt.suggestions[i];
    ImGui::PopID();
    text_at(ImGui::GetWindowDrawList(), {start.x + px(8), start.y + (size.y - font_px(Role::label)) / 2 - px(1)}, prompt.suggestions[i], Role::label,
            color(Token::text));
  }
}

}  // namespace

void draw_prompt(Context& context) {
  if (!context.prompt) return;
  const bool opens = !ImGui::IsPopupOpen(kPopup);
  if (opens) {
    context.prompt_typed.clear();
    ImGui::OpenPopup(kPopup);
  }
  ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
  if (!ImGui::BeginPopupModal(kPopup, nullptr, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoTitleBar))
    return;
  const Prompt prompt = *context.prompt;
  text(prompt.title, Role::heading);
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(px(420));
  const bool entered = ImGui::InputTextWithHint("###prompt.text", prompt.hint.c_str(), &context.prompt_typed, ImGuiInputTextFlags_EnterReturnsTrue);
  const std::string typed = context.prompt_typed;
  draw_suggestions(context, prompt);
  text("$ " + prompt.cli(typed.empty() ? "..." : typed), Role::code, Token::text2);
  const bool cancelled = ImGui::Button("Cancel###cancel") || ImGui::IsKeyPressed(ImGuiKey_Escape);
  ImGui::SameLine();
  const bool pressed = button_or_reason("Do it###prompt.accept", typed.empty() ? "nothing is typed" : "", true);
  const bool accepted = (pressed || entered) && !typed.empty();
  if (accepted || cancelled) {
    context.prompt.reset();
    ImGui::CloseCurrentPopup();
  }
  if (accepted) {
    context.cli_line = prompt.cli(typed);
    prompt.act(context, typed);
  }
  ImGui::EndPopup();
}

}  // namespace ringwright::gui
