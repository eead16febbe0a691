// The ring steps of the Layout view: whose keys a rank sees when.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "console/gui/views/layout_look.h"
#include "console/gui/views/view_layout.h"
#include "console/gui/widgets/short_text.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr int kMatrixRanksMax = 8;
constexpr size_t kMatrixBlocksMax = 32;

}  // namespace

void ViewLayout::compute_ring_steps() {
  ring_steps_.clear();
  if (picture_.replicated || question_.cp == 1 || question_.cp > kMatrixRanksMax || picture_.blocks.size() > kMatrixBlocksMax) return;
  for (int step = 0; step < question_.cp; ++step) ring_steps_.push_back(ring_step_rows(picture_, step));
}

void ViewLayout::draw_mask(ImVec2 start, float cell) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const size_t count = picture_.blocks.size();
  const float left = start.x + px(44);
  text_at(list, {left, start.y}, "keys, by chunk", Role::hint, color(Token::text3));
  for (size_t query = 0; query < count; ++query) {
    const LayoutBlock& block = picture_.blocks[query];
    const float y = start.y + px(20) + static_cast<float>(query) * cell;
    const Color fill = rank_color(block.rank, question_.cp);
    text_at(list, {start.x, y + (cell - font_px(Role::axis)) / 2}, fmt::format("r{} q{}", block.rank, query), Role::axis, color(Token::text2));
    for (size_t key = 0; key < count; ++key) {
      const ImVec2 low{left + static_cast<float>(key) * cell, y}, high{low.x + cell - px(2), low.y + cell - px(2)};
      const Cell kind = mask_cell(picture_, query, key);
      const int step = ring_step(picture_, query, key);
      const bool now = step == step_, done = step < step_;
      const ImU32 ink = now ? to_u32(fill) : done ? to_u32(tinted(fill, kHeadTint)) : color(Token::bg3);
      if (kind == Cell::full) list->AddRectFilled(low, high, ink, px(2));
      if (kind == Cell::causal) list->AddTriangleFilled(low, {high.x, high.y}, {low.x, high.y}, ink);
      if (kind == Cell::partial)
        list->AddRectFilled({low.x, high.y - (high.y - low.y) * static_cast<float>(cell_share(picture_, query, key))}, high, ink, px(2));
      list->AddRect(low, high, color(now && kind != Cell::masked ? Token::text : Token::line), px(2), now && kind != Cell::masked ? px(1.5F) : px(1));
    }
  }
}

void ViewLayout::draw_step_table(const Context& context, float width) const {
  int64_t total = 0;
  for (const auto& rows : ring_steps_) {
    for (const RingStepRow& row : rows) total += row.work;
  }
  const double mean = std::max(1.0, static_cast<double>(total) / question_.cp / question_.cp);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {px(8), px(3)});
  if (ImGui::BeginTable("###layout.steps", 5, ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingStretchProp,
                        {width, 0})) {
    constexpr std::array<const char*, 5> titles = {"rank", "keys from", "blocks", "masked", "work / mean"};
    for (size_t i = 0; i < titles.size(); ++i) ImGui::TableSetupColumn(titles[i], ImGuiTableColumnFlags_WidthStretch, i == 4 ? 1.4F : 1);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers, px(25));
    for (size_t i = 0; i < titles.size(); ++i) {
      ImGui::TableSetColumnIndex(static_cast<int>(i));
      if (i == 0) {
        text(titles[i], Role::label, Token::text2);
      } else {
        text_right(titles[i], ImGui::GetContentRegionAvail().x, Role::label, color(Token::text2));
      }
    }
    for (const RingStepRow& row : ring_steps_[static_cast<size_t>(step_)]) {
      ImGui::TableNextRow(0, px(25));
      const bool lit = is_lit(context, row.rank);
      if (lit) ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1, color(Token::sel));
      ImGui::TableSetColumnIndex(0);
      const ImVec2 start = ImGui::GetCursorScreenPos();
      ImGui::GetWindowDrawList()->AddRectFilled({start.x, start.y + px(4)}, {start.x + px(11), start.y + px(15)},
                                                to_u32(rank_color(row.rank, question_.cp)), px(3));
      text_at(ImGui::GetWindowDrawList(), {start.x + px(18), start.y + px(2)}, std::to_string(row.rank), Role::number, color(Token::text));
      const std::array<std::string, 4> cells = {row.keys_from == row.rank ? "itself" : fmt::format("rank {}", row.keys_from),
                                                std::to_string(row.blocks), std::to_string(row.masked),
                                                fmt::format("{:.2f}", static_cast<double>(row.work) / mean)};
      for (size_t i = 0; i < cells.size(); ++i) {
        ImGui::TableSetColumnIndex(static_cast<int>(i) + 1);
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(2));
        const bool idle = i == 3 && row.work == 0;
        text_right(cells[i], ImGui::GetContentRegionAvail().x, Role::number, color(idle ? Token::warn : Token::text));
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
  draw_work_by_step(mean, width);
}

void ViewLayout::draw_work_by_step(double mean, float width) const {
  ImGui::Dummy({px(1), px(6)});
  ImDrawList* list = ImGui::GetWindowDrawList();
  text("Work by step", Role::heading);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float left = px(36), column = (width - left) / static_cast<float>(ring_steps_.size());
  double largest = 1;
  for (const auto& rows : ring_steps_) {
    for (const RingStepRow& row : rows) largest = std::max(largest, static_cast<double>(row.work) / mean);
  }
  for (size_t step = 0; step < ring_steps_.size(); ++step) {
    const float x = start.x + left + static_cast<float>(step) * column, bar = std::max(px(8), column - px(58));
    const bool now = static_cast<int>(step) == step_;
    text_at(list, {x, start.y}, fmt::format("step {}", step + 1), Role::axis, color(now ? Token::text : Token::text2));
    for (const RingStepRow& row : ring_steps_[step]) {
      const float y = start.y + px(20) + static_cast<float>(row.rank) * px(20);
      if (step == 0) text_at(list, {start.x, y}, fmt::format("r{}", row.rank), Role::axis, color(Token::text2));
      const double work = static_cast<double>(row.work) / mean;
      const Color fill = rank_color(row.rank, question_.cp);
      list->AddRectFilled({x, y + px(4)}, {x + bar, y + px(12)}, color(Token::bg3), px(2));
      list->AddRectFilled({x, y + px(4)}, {x + bar * static_cast<float>(work / largest), y + px(12)}, now ? to_u32(fill) : to_u32(tinted(fill, 0.6)),
                          px(2));
      text_at(list, {x + bar + px(8), y}, fmt::format("{:.2f}", work), Role::axis,
              color(row.work == 0 ? Token::text3
                    : now         ? Token::text
                                  : Token::text2));
    }
  }
  ImGui::Dummy({width, px(20) + static_cast<float>(question_.cp) * px(20)});
}

void ViewLayout::draw_ring_steps(Context& context) {
  ImGui::Dummy({px(1), px(4)});
  layout_heading("Ring steps", "forward   causal");
  if (ring_steps_.empty()) {
    text(picture_.replicated || question_.cp == 1
             ? ShortText("Every rank holds all keys: there is no ring.")
             : ShortText("Drawn up to cp {} and {} chunks; these are {} and {}.", kMatrixRanksMax, kMatrixBlocksMax, question_.cp,
                         count_text(static_cast<int64_t>(picture_.blocks.size()))),
         Role::label, Token::text2);
    return;
  }
  ImGui::AlignTextToFramePadding();
  text("Step", Role::label, Token::text2);
  for (int step = 0; step < question_.cp; ++step) {
    ImGui::SameLine(0, step == 0 ? px(8) : px(4));
    const WithFont mono(Role::code);
    const bool current = step == step_;
    ImGui::PushStyleColor(ImGuiCol_Button, color(current ? Token::sel : Token::bg3));
    if (ImGui::Button(ShortText("{}###layout.step.{}", step + 1, step).c_str(), {px(28), 0})) step_ = step;
    ImGui::PopStyleColor();
  }
  ImGui::SameLine(0, px(20));
  constexpr std::array<const char*, 4> legend = {"now", "done", "to come", "masked out"};
  for (size_t i = 0; i < legend.size(); ++i) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 low{start.x, start.y + px(7)}, high{start.x + px(12), start.y + px(19)};
    const Color fill = theme().series[1];
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (i < 3) list->AddRectFilled(low, high, i == 0 ? to_u32(fill) : i == 1 ? to_u32(tinted(fill, kHeadTint)) : color(Token::bg3), px(2));
    list->AddRect(low, high, color(i == 0 ? Token::text : Token::line2), px(2), px(1));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + px(18));
    ImGui::AlignTextToFramePadding();
    text(legend[i], Role::label, Token::text2);
    ImGui::SameLine(0, px(14));
  }
  ImGui::NewLine();
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const auto count = static_cast<float>(picture_.blocks.size());
  const float room = std::max(px(120), ImGui::GetWindowPos().y + ImGui::GetWindowHeight() - start.y - px(34));
  const float cell = std::floor(std::clamp(room / count, px(14), px(36)));
  draw_mask(start, cell);
  const float matrix_width = px(44) + count * cell + px(28);
  const float table_width = ImGui::GetContentRegionAvail().x - matrix_width;
  if (table_width > px(300)) {
    ImGui::SetCursorScreenPos({start.x + matrix_width, start.y + px(12)});
    ImGui::BeginGroup();
    draw_step_table(context, table_width);
    ImGui::EndGroup();
  }
  ImGui::SetCursorScreenPos({start.x, start.y + px(20) + count * cell});
  ImGui::Dummy({px(1), px(1)});
}

}  // namespace ringwright::gui
