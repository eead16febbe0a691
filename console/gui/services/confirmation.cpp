#include "console/gui/services/confirmation.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "console/gui/services/context.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr const char* kPopup = "Question###confirm.dialog";
constexpr size_t kLossesShown = 8;

void draw_losses(const Confirmation& question) {
  text(question.title, Role::heading);
  const size_t shown = std::min(question.losses.size(), kLossesShown);
  ImGui::PushTextWrapPos(px(560));
  for (size_t i = 0; i < shown; ++i) text(question.losses[i], Role::label);
  if (question.losses.size() > shown) text("and " + std::to_string(question.losses.size() - shown) + " more", Role::label, Token::text2);
  ImGui::Dummy({px(1), px(2)});
  text("$ " + question.cli, Role::code, Token::text2);
  ImGui::PopTextWrapPos();
  ImGui::Dummy({px(1), px(4)});
}

// True when the operator has decided, either way.
bool draw_buttons(Context& context, Confirmation& question) {
  std::string reason;
  if (question.count_to_type > 0) {
    const std::string count = std::to_string(question.count_to_type);
    text("Type " + count + " to go on", Role::label, Token::text2);
    ImGui::SetNextItemWidth(px(90));
    ImGui::InputText("###confirm.count", &context.confirmation_typed);
    if (context.confirmation_typed != count) reason = "type the number of runs first: " + count;
  }
  if (ImGui::Button("Cancel###cancel")) return true;
  ImGui::SetItemDefaultFocus();
  ImGui::SameLine();
  if (!button_or_reason((question.verb + "###confirm").c_str(), reason)) return ImGui::IsKeyPressed(ImGuiKey_Escape);
  context.cli_line = question.cli;
  question.act(context);
  return true;
}

}  // namespace

void draw_confirmation(Context& context) {
  if (!context.confirmation) return;
  if (!ImGui::IsPopupOpen(kPopup)) {
    context.confirmation_typed.clear();
    ImGui::OpenPopup(kPopup);
  }
  ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
  if (!ImGui::BeginPopupModal(kPopup, nullptr, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoTitleBar))
    return;
  Confirmation question = *context.confirmation;
  draw_losses(question);
  if (draw_buttons(context, question)) {
    context.confirmation.reset();
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace ringwright::gui
