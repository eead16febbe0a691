#include "console/gui/views/view_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "console/gui/data/run_text.h"
#include "console/gui/widgets/short_text.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr float kLineHeight = 19;
constexpr std::array<Token, 4> kLevelInks = {Token::text3, Token::text2, Token::warn, Token::error};

constexpr int kStripsMax = 8;  // ranks beyond share the last one

// Where a rank's lines stand when each has a column of its own; the daemon's stand in the first.
struct Strip {
  float left, width;
};
int strip_count(const Run& run) { return std::min(run.record.world_size, kStripsMax) + 1; }
Strip strip_of(const Run& run, int rank, float left, float room) {
  const int count = strip_count(run);
  const float width = room / static_cast<float>(count);
  return {left + width * static_cast<float>(std::clamp(rank + 1, 0, count - 1)), width - px(12)};
}

std::string rank_text(int rank) { return rank < 0 ? "daemon" : fmt::format("rank {}", rank); }

}  // namespace

void ViewLogs::add_commands(CommandRegistry& registry) {
  const auto cli = [](const Context& context) { return "ringwright logs " + context.selection.run; };
  const auto follow_cli = [](const Context& context) { return "ringwright logs -f " + context.selection.run; };
  registry.add({"logs.follow", "Follow new log lines", "Logs", ImGuiKey_Space, "Space", nullptr, follow_cli, [this](Context&) { follow_ = !follow_; },
                ImGuiKey_None, "logs"});
  registry.add({"logs.clear", "Show all log lines: no filter, every level and rank", "Logs", 0, "", nullptr, cli, [this](Context&) {
                  pattern_.clear();
                  filter_.set_levels(0xF);
                  filter_.set_rank(LogFilter::kAllRanks);
                }});
  registry.add({"logs.by_rank", "A column of log lines for each rank, or all in one", "Logs", ImGuiKey_R, "R", nullptr, cli,
                [this](Context&) { by_rank_ = !by_rank_; }, ImGuiKey_None, "logs"});
  registry.add({"logs.next_error", "Next error line", "Logs", ImGuiKey_RightBracket, "]", nullptr, cli, [this](Context&) { jump_ = 1; },
                ImGuiKey_None, "logs"});
  registry.add({"logs.previous_error", "Previous error line", "Logs", ImGuiKey_LeftBracket, "[", nullptr, cli, [this](Context&) { jump_ = -1; },
                ImGuiKey_None, "logs"});
}

// One chip a level: icon-free words, outlined in the level's colour while shown.
void ViewLogs::draw_level_chips() {
  for (int i = 0; i < 4; ++i) {
    const bool on = (filter_.levels() >> i & 1U) != 0;
    const float width = text_width(kLogLevels[i], Role::label) + px(16), height = px(22);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float top = start.y + (ImGui::GetFrameHeight() - height) / 2;
    if (ImGui::InvisibleButton(ShortText("###logs.level.{}", kLogLevels[i]).c_str(), {width, ImGui::GetFrameHeight()}))
      filter_.set_levels(filter_.levels() ^ (1U << i));
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 low{start.x, top}, high{start.x + width, top + height};
    if (on) list->AddRectFilled(low, high, color(Token::bg3), px(11));
    if (ImGui::IsItemHovered() || !on) list->AddRect(low, high, color(ImGui::IsItemHovered() ? Token::line2 : Token::line), px(11), px(1));
    text_at(list, {start.x + px(8), top + (height - font_px(Role::label)) / 2 - px(1)}, kLogLevels[i], Role::label,
            color(on ? (i == 1 ? Token::text : kLevelInks[static_cast<size_t>(i)]) : Token::text3));
    ImGui::SameLine(0, px(4));
  }
}

void ViewLogs::draw_controls(Context& context, const Run& run) {
  const float others = px(run.record.world_size > 1 ? 510 : 430);
  const float width = std::clamp(ImGui::GetContentRegionAvail().x - others, px(110), px(420));
  filter_field("###logs.filter", "Filter (RE2); !pattern excludes", pattern_, width, focus_filter_);
  filter_.set_pattern(pattern_);
  ImGui::SameLine(0, px(8));
  draw_level_chips();
  ImGui::SameLine(0, px(12));
  int index = filter_.rank() + 2;
  const auto rank_name = [](int i) { return i == 0 ? std::string("all ranks") : rank_text(i - 2); };
  if (choice("###logs.rank", "", rank_name(index), run.record.world_size + 2, rank_name, index, 104)) filter_.set_rank(index - 2);
  ImGui::SameLine(0, px(8));
  ImGui::PushStyleColor(ImGuiCol_Button, color(follow_ ? Token::sel : Token::bg3));
  if (ImGui::Button("Follow###logs.follow")) context.commands.run("logs.follow", context);
  ImGui::PopStyleColor();
  if (run.record.world_size < 2 || ImGui::GetContentRegionAvail().x < px(630)) return;
  ImGui::SameLine(0, px(8));
  if (ImGui::Button(by_rank_ ? "Merged###logs.by_rank" : "By rank###logs.by_rank")) context.commands.run("logs.by_rank", context);
}

void ViewLogs::draw_line(const Run& run, const history::LogLine& line, float width) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int level = level_index(line.level);
  const float y = start.y + (px(kLineHeight) - font_px(Role::code)) / 2 - px(1);
  if (level == kErrorLevel) list->AddRectFilled(start, {start.x + px(3), start.y + px(kLineHeight)}, color(Token::error));
  text_at(list, {start.x + px(8), y + px(0.5F)}, time_of_day_text(line.time_unix_ns), Role::axis, color(Token::text3));
  const std::string rank = rank_text(line.rank);
  const float rank_width = text_width("daemon", Role::axis), rank_left = start.x + px(74);
  if (line.rank >= 0 && run.record.world_size > 1) {
    list->AddRectFilled({rank_left, start.y + px(3)}, {rank_left + px(3), start.y + px(kLineHeight) - px(3)},
                        to_u32(theme().series_color(line.rank)));
  }
  text_at(list, {rank_left + px(7), y + px(0.5F)}, rank, Role::axis, color(Token::text2));
  const float level_left = rank_left + rank_width + px(19);
  text_at(list, {level_left, y + px(0.5F)}, line.level, Role::axis, color(kLevelInks[static_cast<size_t>(level)]), px(42));
  float text_left = level_left + px(48), room = start.x + width - text_left - px(4);
  if (by_rank_) {
    const Strip strip = strip_of(run, line.rank, text_left, room);
    list->AddLine({strip.left - px(6), start.y}, {strip.left - px(6), start.y + px(kLineHeight)}, color(Token::line), px(1));
    text_left = strip.left, room = strip.width;
  }
  text_at(list, {text_left, y}, line.text, Role::code, color(level == kErrorLevel ? Token::error : Token::text), room);
  ImGui::InvisibleButton("###line", {width, px(kLineHeight)});
  if (ImGui::IsItemHovered() && text_width(line.text, Role::code) > room) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(px(700));
    text(line.text, Role::code);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  if (ImGui::BeginPopupContextItem("###logs.line.popup")) {
    if (ImGui::Selectable("Copy line###copy")) ImGui::SetClipboardText(line.text.c_str());
    ImGui::EndPopup();
  }
}

void ViewLogs::jump_to_error(const Run& run, const std::vector<size_t>& shown, int direction) {
  if (run.record.id != error_run_) error_line_.reset();
  const auto place = place_of_error(run, shown, error_line_, direction);
  if (!place) return;
  error_run_ = run.record.id;
  error_line_ = line_number(run, shown[*place]);
  scroll_to_ = place;
  follow_ = false;
}

// To the line of the moment that was chosen elsewhere: an alert, a step in a plot. It waits until the filter has come to it.
void ViewLogs::jump_to_time(const Context& context, const Run& run, const std::vector<size_t>& shown) {
  const int64_t wanted = context.selection.time_unix_ns;
  if (wanted == seen_time_unix_ns_ || (wanted != 0 && !filter_.has_looked_from(run, wanted))) return;
  seen_time_unix_ns_ = wanted;
  if (wanted == 0) return;
  scroll_to_ = place_of_moment(run, shown, wanted);
  follow_ = false;
}

void ViewLogs::draw_rank_heads(const Run& run) const {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float text_left = start.x + px(74) + text_width("daemon", Role::axis) + px(19) + px(48);
  const float room = start.x + ImGui::GetContentRegionAvail().x - text_left - px(4);
  for (int i = 0; i < strip_count(run); ++i) {
    const Strip strip = strip_of(run, i - 1, text_left, room);
    const bool shared = i == kStripsMax && run.record.world_size > kStripsMax;
    text_at(ImGui::GetWindowDrawList(), {strip.left, start.y}, shared ? fmt::format("ranks from {}", i - 1) : rank_text(i - 1), Role::label,
            color(Token::text2), strip.width);
  }
  ImGui::Dummy({1, px(18)});
}

void ViewLogs::draw_lines(const Run& run, const std::vector<size_t>& shown) {
  lines_shown_ = shown.size();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  if (ImGui::BeginChild("###logs.lines")) {
    const float width = ImGui::GetContentRegionAvail().x;
    // Scrolling up stops following; reaching the end again resumes it.
    if (ImGui::IsWindowHovered() && ImGui::GetIO().MouseWheel > 0) follow_ = false;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(shown.size()), px(kLineHeight));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const size_t position = shown[static_cast<size_t>(i)];
        ImGui::PushID(static_cast<int>(line_number(run, position)));
        draw_line(run, run.logs[position], width);
        ImGui::PopID();
      }
    }
    if (follow_) ImGui::SetScrollY(static_cast<float>(shown.size()) * px(kLineHeight));
    if (scroll_to_) ImGui::SetScrollY(static_cast<float>(*scroll_to_) * px(kLineHeight) - ImGui::GetWindowHeight() / 2);
    scroll_to_.reset();
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

void ViewLogs::draw(Context& context) {
  const auto run = context.run();
  if (!run) {
    empty_state("No run is selected", "Click a run in Runs to read its log");
    return;
  }
  if (run->details == Loading::failed) {
    error_state(run->details_error);
    return;
  }
  if (run->details == Loading::reading && run->logs.empty()) {
    skeleton(8, px(kLineHeight));
    return;
  }
  if (run->logs.empty()) {
    const bool waiting = run->record.state == history::RunState::queued;
    empty_state("No lines yet", waiting ? "The run is queued; its workers have not started" : "Lines appear as soon as a worker writes them");
    return;
  }
  draw_controls(context, *run);
  const std::vector<size_t>& shown = filter_.lines(*run);
  if (filter_.is_looking()) context.redraw_within_s = 0;
  if (jump_ != 0) jump_to_error(*run, shown, std::exchange(jump_, 0));
  if (!filter_.error().empty()) text("Pattern: " + filter_.error() + " (the last good one is in use)", Role::hint, Token::error);
  if (run->log_lines_dropped > 0) {
    text(fmt::format("{} older lines: ringwright logs {}", text::format_count(static_cast<int64_t>(run->log_lines_dropped)), run->record.id),
         Role::hint, Token::text3);
  }
  if (shown.empty() && !filter_.is_looking()) {
    if (empty_state("No line matches", "Filter, levels and rank leave none", "Show all###logs.clear")) context.commands.run("logs.clear", context);
    return;
  }
  jump_to_time(context, *run, shown);
  if (by_rank_) draw_rank_heads(*run);
  draw_lines(*run, shown);
}

namespace {
const RegisterView registration({"logs", "Logs", "L", make_view<ViewLogs>});
}

}  // namespace ringwright::gui
