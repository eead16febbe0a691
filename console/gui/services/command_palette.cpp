#include "console/gui/services/command_palette.h"

#include <imcmd_fuzzy_search.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "console/gui/services/commands.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr size_t kRecentMax = 8;
constexpr int kRowsMax = 200;
constexpr int kWholeTitle = 10'000;  // what is written in full comes before any likeness
constexpr const char* kPopup = "###palette";

}  // namespace

std::vector<CommandPalette::Row> CommandPalette::rows(const Context& context) const {
  std::vector<Row> found;
  const auto consider = [&](Row row) {
    if (!search_.empty() && !ImCmd::FuzzySearch(search_.c_str(), (row.group + " " + row.title).c_str(), row.score)) return;
    if (row.title == search_) row.score += kWholeTitle;
    const auto recent = std::find(recent_.begin(), recent_.end(), row.id);
    if (search_.empty() && recent != recent_.end()) row.score = 1000 - static_cast<int>(recent - recent_.begin());
    found.push_back(std::move(row));
  };
  for (const Command& command : context.commands.all()) {
    if (command.id == "palette.open") continue;
    consider({command.id, command.title, command.group, command.keys, command.cli ? command.cli(context) : "",
              context.commands.refusal(command.id, context).value_or(""), 0});
  }
  for (const auto& run : context.state.runs()) {
    consider({"run:" + run->record.id, run->record.name, "Run", run->record.id, "ringwright runs show " + run->record.id, "", 0});
  }
  std::stable_sort(found.begin(), found.end(), [](const Row& a, const Row& b) { return a.score > b.score; });
  if (found.size() > kRowsMax) found.resize(kRowsMax);
  return found;
}

void CommandPalette::choose(const Row& row, Context& context) {
  std::erase(recent_, row.id);
  recent_.insert(recent_.begin(), row.id);
  if (recent_.size() > kRecentMax) recent_.resize(kRecentMax);
  ImGui::CloseCurrentPopup();
  if (row.id.starts_with("run:")) {
    context.select(row.id.substr(4));
    context.cli_line = row.cli;
  } else {
    context.commands.run(row.id, context);
  }
}

void CommandPalette::draw_row(const Row& row, int index, Context& context) {
  ImGui::PushID(row.id.c_str());
  const bool is_current = index == current_;
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  if (ImGui::Selectable("###row", is_current, 0, {width, px(28)})) choose(row, context);
  if (ImGui::IsItemHovered() && ImGui::GetIO().MouseDelta.x + ImGui::GetIO().MouseDelta.y != 0) current_ = index;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = color(row.reason.empty() ? Token::text : Token::text3);
  const float middle = start.y + px(14);
  text_at(list, {start.x + px(8), middle - font_px(Role::hint) / 2 - px(1)}, row.group, Role::hint, color(Token::text3));
  const float keys_width = text_width(row.keys, Role::axis);
  text_at(list, {start.x + px(92), middle - font_px(Role::body) / 2 - px(1)}, row.title, Role::body, ink, width * 0.55F);
  if (!row.reason.empty()) {
    const float title_end = start.x + px(92) + std::min(text_width(row.title, Role::body), width * 0.55F) + px(12);
    text_at(list, {title_end, middle - font_px(Role::hint) / 2 - px(1)}, row.reason, Role::hint, color(Token::warn),
            start.x + width - keys_width - px(20) - title_end);
  }
  text_at(list, {start.x + width - keys_width - px(8), middle - font_px(Role::axis) / 2 - px(1)}, row.keys, Role::axis, color(Token::text2));
  if (is_current && focus_) ImGui::SetScrollHereY();
  ImGui::PopID();
}

void CommandPalette::draw(Context& context) {
  if (context.palette_wanted) {
    context.palette_wanted = false;
    search_.clear();
    current_ = 0;
    focus_ = true;
    ImGui::OpenPopup(kPopup);
  }
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float width = std::min(px(640), viewport->WorkSize.x - px(32));
  ImGui::SetNextWindowPos({viewport->WorkPos.x + (viewport->WorkSize.x - width) / 2, viewport->WorkPos.y + px(40)});
  ImGui::SetNextWindowSize({width, std::min(px(420), viewport->WorkSize.y - px(80))});
  open_ = ImGui::BeginPopup(kPopup, ImGuiWindowFlags_NoMove);
  if (!open_) return;
  if (ImGui::IsWindowAppearing() || focus_) ImGui::SetKeyboardFocusHere();
  focus_ = false;
  ImGui::SetNextItemWidth(-1);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {px(8), px(7)});
  if (ImGui::InputTextWithHint("###palette.search", "Run a command, open a run", &search_)) current_ = 0;
  ImGui::PopStyleVar();
  const std::vector<Row> found = rows(context);
  const int count = static_cast<int>(found.size());
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) current_ = std::min(current_ + 1, count - 1), focus_ = true;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) current_ = std::max(current_ - 1, 0), focus_ = true;
  const bool enter = ImGui::IsKeyPressed(ImGuiKey_Enter) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(8), 0});
  if (ImGui::BeginChild("###rows", {0, -px(26)})) {
    for (int i = 0; i < count; ++i) draw_row(found[static_cast<size_t>(i)], i, context);
    if (count == 0) text("Nothing matches. Esc closes.", Role::label, Token::text2);
  }
  focus_ = false;
  ImGui::EndChild();
  ImGui::PopStyleVar();
  if (current_ >= 0 && current_ < count) {
    const Row& row = found[static_cast<size_t>(current_)];
    text(row.cli.empty() ? "" : "$ " + row.cli, Role::code, Token::text2);
    if (enter) choose(row, context);
  }
  ImGui::EndPopup();
}

}  // namespace ringwright::gui
