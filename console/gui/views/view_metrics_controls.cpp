// The row of controls above the plots.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "console/gui/views/view_metrics.h"
#include "console/gui/widgets/short_text.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr float kGap = 8;
constexpr size_t kKeysOffered = 12;
constexpr std::array kSmoothings = {0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999};
constexpr double kSmoothingMax = 0.999;
constexpr std::array<const char*, 5> kAxisNames = {"step", "tokens", "elapsed", "clock", "resume"};
constexpr int kClockChoice = 3, kResumeChoice = 4;

struct RangeChoice {
  const char* name;
  int64_t last_steps;  // 0: no such range
};
constexpr std::array kRanges = {RangeChoice{"all", 0}, RangeChoice{"last 100", 100}, RangeChoice{"last 1k", 1000}, RangeChoice{"last 10k", 10'000},
                                RangeChoice{"follow", 0}};

struct GridChoice {
  int across, down;
};
constexpr std::array kGrids = {GridChoice{0, 0}, GridChoice{1, 1}, GridChoice{2, 1}, GridChoice{2, 2}, GridChoice{3, 2}, GridChoice{3, 3},
                               GridChoice{4, 3}, GridChoice{4, 4}, GridChoice{6, 4}, GridChoice{6, 6}, GridChoice{6, 8}};

// In the row while there is room for it, else below.
void flow(float width) {
  ImGui::SameLine(0, px(kGap));
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

float choice_width(const char* label, float width) { return px(width) + (*label != 0 ? text_width(label, Role::label) + px(6) : 0); }

}  // namespace

void ViewMetrics::set_smoothing(double weight) { smoothing_ = std::isfinite(weight) ? std::clamp(weight, 0.0, kSmoothingMax) : 0; }

// The next of the usual weights, up or down.
void ViewMetrics::step_smoothing(int direction) {
  const auto* next = std::upper_bound(kSmoothings.begin(), kSmoothings.end(), smoothing_);
  const auto* same = std::lower_bound(kSmoothings.begin(), kSmoothings.end(), smoothing_);
  if (direction > 0 && next != kSmoothings.end()) smoothing_ = *next;
  if (direction < 0 && same != kSmoothings.begin()) smoothing_ = *(same - 1);
}

void ViewMetrics::draw_axis_choices() {
  int axis = axis_ == XAxis::since_resume ? kResumeChoice : clock_ ? kClockChoice : static_cast<int>(axis_);
  const auto axis_name = [](int i) { return std::string(kAxisNames[static_cast<size_t>(i)]); };
  if (choice("###metrics.x", "x", kAxisNames[static_cast<size_t>(axis)], static_cast<int>(kAxisNames.size()), axis_name, axis, 88)) {
    clock_ = axis == kClockChoice;
    axis_ = axis == kResumeChoice ? XAxis::since_resume : static_cast<XAxis>(std::min(axis, 2));
    leave_zoom();
    pin_a_.reset(), pin_b_.reset();
  }
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("What plots go along; resume: steps since each run was last resumed");
  flow(choice_width("", 92));
  int range = range_ == Range::follow ? static_cast<int>(kRanges.size()) - 1 : 0;
  for (size_t i = 0; i < kRanges.size() && range_ == Range::last; ++i)
    if (kRanges[i].last_steps == last_steps_) range = static_cast<int>(i);
  const auto range_name = [](int i) { return std::string(kRanges[static_cast<size_t>(i)].name); };
  if (range_ == Range::zoomed) range = -1;
  if (choice("###metrics.range", "", range < 0 ? "zoomed" : kRanges[static_cast<size_t>(range)].name, static_cast<int>(kRanges.size()), range_name,
             range, 92)) {
    const RangeChoice& chosen = kRanges[static_cast<size_t>(range)];
    range_ = chosen.last_steps > 0 ? Range::last : range == 0 ? Range::all : Range::follow;
    if (chosen.last_steps > 0) last_steps_ = chosen.last_steps;
    if (range == 0) leave_zoom();
  }
}

// Typed, or stepped through with the wheel.
void ViewMetrics::draw_smoothing() {
  flow(choice_width("Smoothing", 58));
  ImGui::AlignTextToFramePadding();
  text("Smoothing", Role::label, Token::text2);
  ImGui::SameLine(0, px(6));
  const WithFont mono(Role::code);
  ImGui::SetNextItemWidth(px(58));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, px(1));
  ImGui::PushStyleColor(ImGuiCol_Border, color(Token::line));
  double typed = smoothing_;
  if (ImGui::InputDouble("###metrics.smoothing", &typed, 0, 0, "%.3g", ImGuiInputTextFlags_EnterReturnsTrue)) set_smoothing(typed);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  if (!ImGui::IsItemHovered()) return;
  ImGui::SetTooltip("Weight of the past, 0 to 0.999; the wheel steps through usual ones");
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  const float wheel = ImGui::GetIO().MouseWheel;
  if (wheel != 0) step_smoothing(wheel > 0 ? 1 : -1);
}

void ViewMetrics::draw_group_choice(Context& context) {
  flow(choice_width("Group", 104));
  ImGui::AlignTextToFramePadding();
  text("Group", Role::label, Token::text2);
  ImGui::SameLine(0, px(6));
  const WithFont mono(Role::code);
  ImGui::SetNextItemWidth(px(104));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, px(1));
  ImGui::PushStyleColor(ImGuiCol_Border, color(Token::line));
  const ImVec2 start = ImGui::GetCursorScreenPos();
  // The end of the key tells more than its beginning.
  const std::string_view key = group_key_;
  const size_t dot = key.rfind('.');
  const ShortText shown("{}", key.empty() ? "off" : dot == std::string_view::npos ? key : key.substr(dot + 1));
  const bool open = ImGui::BeginCombo("###metrics.group_by", shown.c_str(), ImGuiComboFlags_HeightLarge | ImGuiComboFlags_NoArrowButton);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  if (!open) {
    draw_icon(ImGui::GetWindowDrawList(), icons::chevron_down, {start.x + px(104) - px(14), start.y + ImGui::GetFrameHeight() / 2}, 16,
              color(Token::text2));
    return;
  }
  if (ImGui::Selectable("off###off", group_key_.empty())) context.commands.run("metrics.ungroup", context);
  for (const std::string& offered : differing_keys(drawn_runs_, kKeysOffered)) {
    push_name_id(offered);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::Selectable("###key", group_key_ == offered, 0, {text_width(offered, Role::code), 0})) group_key_ = offered, bands_ = Bands::runs;
    text_at(ImGui::GetWindowDrawList(), at, offered, Role::code, color(Token::text));
    ImGui::PopID();
  }
  if (ImGui::Selectable("another key...###other")) context.commands.run("metrics.group", context);
  ImGui::EndCombo();
}

void ViewMetrics::draw_band_choices(Context& context) {
  flow(choice_width("y", 72));
  int log = log_ ? 1 : 0;
  if (choice("###metrics.scale", "y", log_ ? "log" : "linear", 2, [](int i) { return std::string(i == 0 ? "linear" : "log"); }, log, 72))
    log_ = log == 1;
  flow(choice_width("Band", 70));
  int band = static_cast<int>(bands_);
  const auto band_name = [](int i) { return std::string(i == 0 ? "off" : i == 1 ? "runs" : "ranks"); };
  if (choice("###metrics.bands", "Band", bands_ == Bands::off ? "off" : bands_ == Bands::runs ? "runs" : "ranks", 3, band_name, band, 70))
    bands_ = static_cast<Bands>(band);
  draw_group_choice(context);
}

// A group's colour has no row in the Runs table.
void ViewMetrics::draw_group_legend() {
  if (groups_.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (size_t i = 0; i < groups_.size(); ++i) {
    const ShortText words("{}  {} run{}", groups_[i].value, groups_[i].runs.size(), groups_[i].runs.size() == 1 ? "" : "s");
    const float width = std::min(text_width(words, Role::label), px(260)) + px(20);
    if (i > 0) flow(width);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    list->AddRectFilled({start.x, start.y + px(3)}, {start.x + px(12), start.y + px(15)}, to_u32(theme().series_color(static_cast<int>(i))), px(3));
    text_at(list, {start.x + px(18), start.y}, words, Role::label, color(Token::text), width - px(18));
    ImGui::Dummy({width, px(18)});
  }
}

void ViewMetrics::draw_controls(Context& context) {
  draw_axis_choices();
  draw_smoothing();
  draw_band_choices(context);
  flow(px(64));
  const auto grid_name = [](int i) {
    const GridChoice& grid = kGrids[static_cast<size_t>(i)];
    return grid.across == 0 ? std::string("auto") : fmt::format("{}x{}", grid.across, grid.down);
  };
  int grid = 0;
  for (size_t i = 0; i < kGrids.size(); ++i)
    if (kGrids[i].across == across_ && kGrids[i].down == down_) grid = static_cast<int>(i);
  if (choice("###metrics.grid_size", "", ShortText("{}", grid_name(grid)), static_cast<int>(kGrids.size()), grid_name, grid, 64))
    across_ = kGrids[static_cast<size_t>(grid)].across, down_ = kGrids[static_cast<size_t>(grid)].down;
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("Plots side by side and below each other");
  const bool narrowed = range_ != Range::all;
  flow(px(110) + (narrowed ? px(86) : 0));
  filter_field("###metrics.filter", "Filter metrics", filter_, std::min(px(240), ImGui::GetContentRegionAvail().x - (narrowed ? px(86) : 0)),
               focus_filter_);
  if (narrowed) {
    ImGui::SameLine(0, px(kGap));
    if (ImGui::Button("All steps###metrics.fit")) context.commands.run("metrics.fit", context);
  }
  draw_group_legend();
}

}  // namespace ringwright::gui
