#include "console/gui/views/aligned_tokens.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr float kRowHeight = 19, kEdge = 4, kPad = 6, kBetween = 5, kTokenGap = 9, kTokenWidthMax = 260, kTokenRoomMin = 24;

Token token_of(PairKind kind) {
  static constexpr Token tokens[] = {Token::ok, Token::info, Token::error};
  return tokens[static_cast<size_t>(kind)];
}

const char* word_of(PairKind kind) {
  static constexpr const char* words[] = {"one token to one", "several tokens for the same text", "not the same text"};
  return words[static_cast<size_t>(kind)];
}

float token_width(const std::string& token) { return std::min(px(kTokenWidthMax), text_width(token, Role::code)); }

float row_width(const std::vector<std::string>& tokens) {
  float width = 0;
  for (const std::string& token : tokens) width += token_width(token) + (width > 0 ? px(kTokenGap) : 0);
  return width;
}

// Tokens with a line between them, as far as there is room; "-" for none.
void draw_row(ImDrawList* list, ImVec2 at, float right, const std::vector<std::string>& tokens, Token ink) {
  if (tokens.empty()) text_at(list, at, "-", Role::code, color(Token::text3));
  for (size_t i = 0; i < tokens.size(); ++i) {
    const float width = std::min(token_width(tokens[i]), right - at.x);
    if (width < std::min(token_width(tokens[i]), px(kTokenRoomMin))) return;
    if (i > 0) {
      const float x = at.x - px(kTokenGap) / 2;
      list->AddLine({x, at.y + px(1)}, {x, at.y + px(kRowHeight - 4)}, color(Token::line2), px(1));
    }
    text_at(list, at, tokens[i], Role::code, color(ink), width);
    at.x += width + px(kTokenGap);
  }
}

std::string joined(const std::vector<std::string>& tokens) { return tokens.empty() ? "-" : fmt::format("{}", fmt::join(tokens, " | ")); }

void draw_pair(const TokenPair& pair, float width) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const ImVec2 end{start.x + width, start.y + px(2 * kRowHeight + 4)};
  ImGui::Dummy({width, end.y - start.y});
  if (!ImGui::IsItemVisible()) return;
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("%s\nstudent: %s\nteacher: %s", word_of(pair.kind), joined(pair.student).c_str(), joined(pair.teacher).c_str());
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(start, end, color(Token::bg2), px(4));
  list->AddRectFilled(start, {start.x + px(kEdge), end.y}, color(token_of(pair.kind)), px(2));
  const float left = start.x + px(kEdge + kPad), right = end.x - px(kPad) + 1;
  draw_row(list, {left, start.y + px(2)}, right, pair.student, Token::text);
  draw_row(list, {left, start.y + px(2 + kRowHeight)}, right, pair.teacher, Token::text2);
}

void draw_legend() {
  for (const PairKind kind : {PairKind::one_to_one, PairKind::several, PairKind::not_the_same}) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetTextLineHeight();
    ImGui::GetWindowDrawList()->AddRectFilled({start.x, start.y + px(1)}, {start.x + px(kEdge), start.y + height - px(1)}, color(token_of(kind)),
                                              px(2));
    ImGui::Dummy({px(kEdge), height});
    ImGui::SameLine(0, px(6));
    text(word_of(kind), Role::hint, Token::text2);
    ImGui::SameLine(0, px(16));
  }
  ImGui::NewLine();
}

}  // namespace

void AlignedTokens::read(const history::SampleRecord& sample) {
  pairs_ = token_pairs(sample);
  sentence_ = pairs_sentence(pairs_);
}

void AlignedTokens::draw() const {
  if (pairs_.empty()) return;
  text("student above, teacher below", Role::heading, Token::text2);
  text(sentence_, Role::label, Token::text2);
  draw_legend();
  const float left = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x;
  float used = 0;
  for (const TokenPair& pair : pairs_) {
    const float width = std::min(room, px(kEdge + 2 * kPad) + std::max({row_width(pair.student), row_width(pair.teacher), px(10)}));
    if (used > 0 && used + px(kBetween) + width <= room) {
      ImGui::SameLine(left + used + px(kBetween), 0);
      used += px(kBetween);
    } else {
      used = 0;
    }
    draw_pair(pair, width);
    used += width;
  }
  ImGui::Dummy({px(1), px(4)});
}

}  // namespace ringwright::gui
