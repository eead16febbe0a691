#include "console/gui/views/loss_tokens.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr float kHeight = 22, kPad = 3, kGap = 2, kTokenWidthMax = 300;  // design pixels
constexpr double kTintMax = 0.4;                                         // so that words on it keep their contrast
constexpr float kRampWidth = 96;
constexpr int kRampSteps = 12;
constexpr size_t kTokensMax = 20'000;

Color tint_color(double tint) { return mix(theme()[Token::bg1], theme().series[1], kTintMax * tint); }

void draw_legend(double largest) {
  text("loss 0", Role::hint, Token::text2);
  ImGui::SameLine(0, px(6));
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetTextLineHeight(), step = px(kRampWidth) / kRampSteps;
  for (int i = 0; i < kRampSteps; ++i) {
    const float left = start.x + step * static_cast<float>(i);
    ImGui::GetWindowDrawList()->AddRectFilled({left, start.y + px(1)}, {left + step, start.y + height - px(1)},
                                              to_u32(tint_color(static_cast<double>(i) / (kRampSteps - 1))));
  }
  ImGui::Dummy({px(kRampWidth), height});
  ImGui::SameLine(0, px(6));
  text(text::format_value(largest) + ", the largest", Role::hint, Token::text2);
}

std::string words_of(const SampleToken& token, TokenForm form) {
  if (form == TokenForm::texts) return token.text.empty() ? "-" : token.text;
  return token.id ? std::to_string(*token.id) : "-";
}

void draw_hint(const SampleToken& token) {
  ImGui::BeginTooltip();
  text(token.text, Role::code);
  if (token.id) text(fmt::format("id {}", *token.id), Role::label, Token::text2);
  text(token.loss ? "loss " + text::format_value(*token.loss) : "no loss: nothing is trained here", Role::label, Token::text2);
  ImGui::EndTooltip();
}

void draw_token(const SampleToken& token, const std::string& words, float width, double largest) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  ImGui::Dummy({width, px(kHeight)});
  if (!ImGui::IsItemVisible()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (token.loss) list->AddRectFilled(start, {start.x + width, start.y + px(kHeight)}, to_u32(tint_color(tint_of(token, largest))), px(3));
  text_at(list, {start.x + px(kPad), start.y + px(3)}, words, Role::code, color(token.loss ? Token::text : Token::text3), width - 2 * px(kPad) + 1);
  if (ImGui::IsItemHovered()) draw_hint(token);
}

}  // namespace

void draw_tokens(const std::vector<SampleToken>& tokens, TokenForm form) {
  const std::optional<double> largest = largest_loss(tokens);
  if (largest) draw_legend(*largest);
  const float left = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, px(kGap)});
  float used = 0;
  for (size_t i = 0; i < std::min(tokens.size(), kTokensMax); ++i) {
    const std::string words = words_of(tokens[i], form);
    const float width = std::min({room, px(kTokenWidthMax), text_width(words, Role::code) + 2 * px(kPad)});
    if (used > 0 && used + px(kGap) + width <= room) {
      ImGui::SameLine(left + used + px(kGap), 0);
      used += px(kGap) + width;
    } else {
      used = width;
    }
    draw_token(tokens[i], words, width, largest.value_or(0));
  }
  ImGui::PopStyleVar();
  if (tokens.size() > kTokensMax)
    text(fmt::format("and {} more", text::format_count(static_cast<int64_t>(tokens.size() - kTokensMax))), Role::hint, Token::text2);
}

}  // namespace ringwright::gui
