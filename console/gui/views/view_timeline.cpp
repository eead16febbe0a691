#include "console/gui/views/view_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr float kLabelWidth = 58, kRulerHeight = 20, kLaneMin = 8, kLaneMax = 26, kFooterHeight = 26;
constexpr int64_t kStepsShown = 2, kVisibleMin_ns = 1'000;

struct PhaseColor {
  const char* phase;
  size_t series;
};
// By index into the series palette; phases that are not here take what is left, in the order in which they come.
constexpr std::array kPhaseColors = {PhaseColor{"data", 9},      PhaseColor{"forward", 0},    PhaseColor{"backward", 2}, PhaseColor{"reduce", 1},
                                     PhaseColor{"optimizer", 7}, PhaseColor{"checkpoint", 4}, PhaseColor{"rollout", 5},  PhaseColor{"teacher", 3}};
constexpr std::array<size_t, 4> kOtherColors = {8, 5, 3, 4};

Color phase_color(const std::string& phase, const std::vector<std::string>& phases) {
  if (is_wait(phase)) return theme()[Token::error];
  for (const PhaseColor& entry : kPhaseColors)
    if (phase == entry.phase) return theme().series[entry.series];
  const auto index = static_cast<size_t>(std::find(phases.begin(), phases.end(), phase) - phases.begin());
  return theme().series[kOtherColors[index % kOtherColors.size()]];
}

// Slanted lines over the ground: told from a fill in grey, too.
void draw_hatched(ImDrawList* list, ImVec2 low, ImVec2 high, Color ink) {
  list->AddRectFilled(low, high, to_u32(mix(ink, theme()[Token::bg1], 0.72)));
  if (high.x - low.x < px(3)) return;
  list->PushClipRect(low, high, true);
  const float height = high.y - low.y;
  for (float x = low.x - height; x < high.x; x += px(5)) list->AddLine({x, high.y}, {x + height, low.y}, to_u32(ink), px(1.2F));
  list->PopClipRect();
}

double nice_step(double wanted) {
  const double power = std::pow(10, std::floor(std::log10(std::max(wanted, 1.0))));
  for (const double factor : {1.0, 2.0, 5.0})
    if (power * factor >= wanted) return power * factor;
  return power * 10;
}

}  // namespace

void ViewTimeline::add_commands(CommandRegistry& registry) {
  const auto none = [this](const Context&) { return timeline_.lanes.empty() ? std::optional<std::string>("no spans are shown") : std::nullopt; };
  const auto add = [&](const char* id, const char* title, ImGuiKeyChord chord, const char* keys, std::function<void(Context&)> run) {
    registry.add({id, title, "Timeline", chord, keys, none, nullptr, std::move(run), ImGuiKey_None, "timeline"});
  };
  add("timeline.zoom_in", "Zoom in", ImGuiKey_W, "W", [this](Context&) { zoom(0.7, 0.5); });
  add("timeline.zoom_out", "Zoom out", ImGuiKey_S, "S", [this](Context&) { zoom(1 / 0.7, 0.5); });
  add("timeline.left", "Earlier", ImGuiKey_A, "A", [this](Context&) { pan(-0.2); });
  add("timeline.right", "Later", ImGuiKey_D, "D", [this](Context&) { pan(0.2); });
  add("timeline.fit", "Show the current steps, and follow", ImGuiKey_F, "F", [this](Context& context) {
    follow_ = true;
    selected_.reset();
    fit(context);
  });
  add("timeline.range", "Sum up what is visible", ImGuiKey_R, "R", [this](Context&) { selected_ = visible_; });
  add("timeline.next_step", "Next step", ImGuiKey_Period, ".", [this](Context& context) { go_to_step(context, 1); });
  add("timeline.previous_step", "Previous step", ImGuiKey_Comma, ",", [this](Context& context) { go_to_step(context, -1); });
}

float ViewTimeline::x_of(int64_t time_ns, float left, float width) const {
  const double span = static_cast<double>(std::max<int64_t>(1, visible_.end_ns - visible_.begin_ns));
  return left + static_cast<float>(static_cast<double>(time_ns - visible_.begin_ns) / span) * width;
}

void ViewTimeline::fit(const Context& context) {
  if (timeline_.steps.empty()) return;
  auto last = std::prev(timeline_.steps.end());
  if (context.selection.step) {
    const auto found = timeline_.steps.upper_bound(*context.selection.step);
    last = found == timeline_.steps.begin() ? found : std::prev(found);
  }
  auto first = last;
  for (int64_t i = 1; i < kStepsShown && first != timeline_.steps.begin(); ++i) --first;
  visible_ = {first->second.begin_ns, last->second.end_ns};
  const int64_t margin = (visible_.end_ns - visible_.begin_ns) / 100;
  visible_.begin_ns -= margin;
  visible_.end_ns += margin;
}

void ViewTimeline::zoom(double factor, double at) {
  follow_ = false;
  const double span = static_cast<double>(visible_.end_ns - visible_.begin_ns);
  const double whole = static_cast<double>(timeline_.whole.end_ns - timeline_.whole.begin_ns) * 1.2;
  const double wanted = std::clamp(span * factor, static_cast<double>(kVisibleMin_ns), std::max(whole, static_cast<double>(kVisibleMin_ns)));
  const double fixed = static_cast<double>(visible_.begin_ns) + span * at;
  visible_.begin_ns = static_cast<int64_t>(fixed - wanted * at);
  visible_.end_ns = visible_.begin_ns + static_cast<int64_t>(wanted);
}

void ViewTimeline::pan(double share) {
  follow_ = false;
  const auto by = static_cast<int64_t>(static_cast<double>(visible_.end_ns - visible_.begin_ns) * share);
  visible_.begin_ns += by;
  visible_.end_ns += by;
}

void ViewTimeline::go_to_step(Context& context, int by) {
  const int64_t now = context.selection.step.value_or(timeline_.steps.rbegin()->first);
  context.selection.step = std::max<int64_t>(0, now + by);
  context.cli_line = fmt::format("ringwright runs export {}", context.selection.run);
}

// A step that lies before what is in memory is read from the file.
void ViewTimeline::ask_for_step(Context& context, const Run& run) {
  const auto step = context.selection.step;
  const bool known = !run.parts.spans.empty() && step && *step >= run.parts.spans.front().step;
  if (!step || known || *step == asked_step_) return;
  asked_step_ = *step;
  older_.ask(context.background, [id = run.record.id, at = *step](const Background::Access& access) {
    std::deque<history::SpanRecord> spans;
    for (history::SpanRecord& span : access.reader.spans(id, std::max<int64_t>(0, at - kStepsShown), at + 1)) spans.push_back(std::move(span));
    return spans;
  });
}

void ViewTimeline::refresh(Context& context, const Run& run) {
  const bool other_run = run_ != run.record.id;
  if (other_run) {
    run_ = run.record.id;
    older_.forget();
    asked_step_ = -1;
    follow_ = true;
    selected_.reset();
  }
  ask_for_step(context, run);
  const bool answered = older_.take();
  const auto step = context.selection.step;
  const bool old_step = step && asked_step_ == *step && older_.value() && !older_.value()->empty();
  const bool moved = step != step_;
  step_ = step;
  if (!other_run && !answered && !moved && spans_version_ == run.spans_version) return;
  const bool source_changed = old_step != from_file_;
  spans_version_ = run.spans_version;
  from_file_ = old_step;
  timeline_ = make_timeline(old_step ? *older_.value() : run.parts.spans);
  statistics_of_ = {};
  if (moved || source_changed) follow_ = true;
  if (follow_) fit(context);
}

void ViewTimeline::draw_legend(const Context& context) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const std::string& phase : timeline_.phases) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float middle = start.y + ImGui::GetTextLineHeight() / 2, size = px(12);
    const ImVec2 low{start.x, middle - size / 2}, high{start.x + size, middle + size / 2};
    const Color ink = phase_color(phase, timeline_.phases);
    is_wait(phase) ? draw_hatched(list, low, high, ink) : list->AddRectFilled(low, high, to_u32(ink), px(3));
    ImGui::Dummy({size, px(2)});
    ImGui::SameLine(0, px(6));
    text(phase, Role::label, Token::text2);
    ImGui::SameLine(0, px(14));
  }
  const std::string scale_text = fmt::format(
      "{}1 px = {}   W S zoom   A D pan   F fit   R range",
      context.selection.step ? fmt::format("step {}   ", text::format_count(*context.selection.step)) : "",
      duration_text(static_cast<int64_t>(static_cast<double>(visible_.end_ns - visible_.begin_ns) / std::max(1.0F, ImGui::GetWindowWidth()))));
  const float width = text_width(scale_text, Role::axis);
  if (width < ImGui::GetContentRegionAvail().x) {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width);
    text(scale_text, Role::axis, Token::text3);
  } else {
    ImGui::NewLine();
  }
}

void ViewTimeline::draw_ruler(ImVec2 start, float width) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const double span = static_cast<double>(visible_.end_ns - visible_.begin_ns);
  const double tick_ns = nice_step(span / std::max(1.0F, width / px(110)));
  const auto zero = static_cast<double>(visible_.begin_ns);
  for (double at = 0; at < span; at += tick_ns) {
    const float x = std::round(x_of(static_cast<int64_t>(zero + at), start.x, width));
    list->AddLine({x, start.y + px(12)}, {x, start.y + px(kRulerHeight)}, color(Token::line), px(1));
    const std::string label = duration_text(static_cast<int64_t>(at));
    if (at > 0 && x + px(4) + text_width(label, Role::axis) < start.x + width)
      text_at(list, {x + px(4), start.y}, label, Role::axis, color(Token::text3));
  }
  for (const auto& [step, range] : timeline_.steps) {
    const float x = x_of(range.begin_ns, start.x, width);
    if (x < start.x || x > start.x + width) continue;
    list->AddLine({x, start.y + px(2)}, {x, start.y + px(kRulerHeight)}, color(Token::text3), px(1));
  }
}

void ViewTimeline::draw_lane(Context& context, const Lane& lane, ImVec2 start, ImVec2 size) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::PushID(lane.rank);
  ImGui::SetCursorScreenPos(start);
  if (ImGui::InvisibleButton("###timeline.lane", {px(kLabelWidth), size.y})) context.selection.rank = lane.rank;
  ImGui::PopID();
  const bool current = context.selection.rank == lane.rank;
  if (size.y >= font_px(Role::axis) || lane.rank % 4 == 0)
    text_at(list, {start.x, start.y + (size.y - font_px(Role::axis)) / 2 - px(1)}, fmt::format("rank {}", lane.rank), Role::axis,
            color(current ? Token::text : Token::text2));
  const float left = start.x + px(kLabelWidth), width = size.x - px(kLabelWidth);
  list->PushClipRect({left, start.y}, {left + width, start.y + size.y}, true);
  auto span = std::lower_bound(lane.spans.begin(), lane.spans.end(), visible_.begin_ns, [](const auto& a, int64_t at) { return a.end_ns < at; });
  float drawn_to = left - 1;
  const history::SpanRecord* hovered = nullptr;
  const ImVec2 mouse = ImGui::GetMousePos();
  for (; span != lane.spans.end() && span->begin_ns < visible_.end_ns; ++span) {
    const float x0 = std::max(left, x_of(span->begin_ns, left, width)), x1 = std::max(x0 + 1, x_of(span->end_ns, left, width));
    if (x1 <= drawn_to + 0.5F) continue;  // at this zoom it lies under its neighbour
    drawn_to = x1;
    const ImVec2 low{x0, start.y + px(1)}, high{x1 - (x1 - x0 > 3 ? 1 : 0), start.y + size.y - px(1)};
    const Color ink = phase_color(span->phase, timeline_.phases);
    if (is_wait(span->phase)) {
      draw_hatched(list, low, high, ink);
    } else {
      list->AddRectFilled(low, high, to_u32(ink), px(2));
      const Color letters = ink_on(ink);
      if (size.y >= px(14) && text_width(span->phase, Role::axis) + px(8) < x1 - x0)
        text_at(list, {x0 + px(4), start.y + (size.y - font_px(Role::axis)) / 2 - px(1)}, span->phase, Role::axis, to_u32(letters));
    }
    if (mouse.x >= x0 && mouse.x < x1 && mouse.y >= start.y && mouse.y < start.y + size.y) hovered = &*span;
  }
  list->PopClipRect();
  if (hovered != nullptr && ImGui::IsWindowHovered()) {
    ImGui::BeginTooltip();
    text(fmt::format("{}  {}", hovered->phase, duration_text(hovered->end_ns - hovered->begin_ns)), Role::heading);
    text(fmt::format("rank {}, step {}", hovered->rank, text::format_count(hovered->step)), Role::label, Token::text2);
    ImGui::EndTooltip();
  }
}

void ViewTimeline::take_mouse(ImVec2 start, float width) {
  const ImGuiIO& io = ImGui::GetIO();
  const float left = start.x + px(kLabelWidth), span = width - px(kLabelWidth);
  const ImVec2 mouse = ImGui::GetMousePos();
  if (!ImGui::IsWindowHovered() || mouse.x < left || mouse.y < start.y) return;
  const double at = std::clamp((mouse.x - left) / std::max(1.0F, span), 0.0F, 1.0F);
  if (io.MouseWheel != 0 && io.KeyCtrl == false) zoom(io.MouseWheel > 0 ? 0.8 : 1.25, at);
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) follow_ = true, selected_.reset();
  if (!ImGui::IsMouseDragging(ImGuiMouseButton_Left)) return;
  const auto time_at = [&](float x) {
    return visible_.begin_ns +
           static_cast<int64_t>(std::clamp((x - left) / std::max(1.0F, span), 0.0F, 1.0F) * static_cast<double>(visible_.end_ns - visible_.begin_ns));
  };
  const float from = mouse.x - ImGui::GetMouseDragDelta(ImGuiMouseButton_Left).x;
  selected_ = TimeRange{std::min(time_at(from), time_at(mouse.x)), std::max(time_at(from), time_at(mouse.x))};
}

void ViewTimeline::draw_lanes(Context& context, float height) {
  if (!ImGui::BeginChild("###timeline.lanes", {0, height}, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    ImGui::EndChild();
    return;
  }
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, room = ImGui::GetContentRegionAvail().y - px(kRulerHeight);
  draw_ruler({start.x + px(kLabelWidth), start.y}, width - px(kLabelWidth));
  const float lane = std::clamp(std::floor(room / static_cast<float>(timeline_.lanes.size())), px(kLaneMin), px(kLaneMax));
  for (size_t i = 0; i < timeline_.lanes.size(); ++i)
    draw_lane(context, timeline_.lanes[i], {start.x, start.y + px(kRulerHeight) + static_cast<float>(i) * lane}, {width, lane});
  if (selected_) {
    const float left = start.x + px(kLabelWidth), span = width - px(kLabelWidth);
    const float x0 = std::clamp(x_of(selected_->begin_ns, left, span), left, left + span),
                x1 = std::clamp(x_of(selected_->end_ns, left, span), left, left + span);
    const float bottom = start.y + px(kRulerHeight) + static_cast<float>(timeline_.lanes.size()) * lane;
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled({x0, start.y}, {x1, bottom}, to_u32(with_alpha(theme()[Token::accent], 0.12)));
    for (const float x : {x0, x1}) list->AddLine({x, start.y}, {x, bottom}, color(Token::accent), px(1));
  }
  take_mouse(start, width);
  ImGui::EndChild();
}

void ViewTimeline::draw_sentence() const {
  const std::string sentence = straggler_sentence(statistics_);
  if (!sentence.empty()) {
    icon(icons::triangle, 15, color(Token::warn));
    ImGui::SameLine(0, px(6));
    text_fitted(sentence, ImGui::GetContentRegionAvail().x, Role::label, color(Token::text));
  } else {
    icon(icons::check_circle, 15, color(Token::ok));
    ImGui::SameLine(0, px(6));
    text(timeline_.lanes.size() < 2 ? "One rank: it waits for nobody" : "No rank falls behind the others by 5 % or more", Role::label, Token::text2);
  }
  std::string shares = duration_text(statistics_of_.end_ns - statistics_of_.begin_ns) + (selected_ ? " selected:" : " shown:");
  for (size_t i = 0; i < std::min<size_t>(statistics_.phases.size(), 4); ++i)
    shares +=
        fmt::format(" {} {:.0f} %{}", statistics_.phases[i].phase,
                    100.0 * static_cast<double>(statistics_.phases[i].total_ns) / static_cast<double>(std::max<int64_t>(1, statistics_.total_ns)),
                    i + 1 < std::min<size_t>(statistics_.phases.size(), 4) ? " " : "");
  ImGui::SameLine(0, px(16));
  if (text_width(shares, Role::axis) < ImGui::GetContentRegionAvail().x) {
    text(shares, Role::axis, Token::text2);
  } else {
    ImGui::NewLine();
  }
}

void ViewTimeline::draw(Context& context) {
  const auto run = context.run();
  if (!run) {
    timeline_ = {};
    run_.clear();
    empty_state("No run is selected", "Click a run in Runs to see what its ranks did");
    return;
  }
  refresh(context, *run);
  if (older_.error()) {
    error_state(*older_.error());
    return;
  }
  if (timeline_.lanes.empty()) {
    if (run->details == Loading::reading || older_.waiting()) {
      skeleton(6, px(25));
    } else {
      empty_state("No spans", "This run has sent none yet; each step sends its phases when it ends");
    }
    return;
  }
  const TimeRange wanted = selected_.value_or(visible_);
  if (!(wanted == statistics_of_)) {
    statistics_ = statistics(timeline_, wanted);
    statistics_of_ = wanted;
  }
  draw_legend(context);
  draw_lanes(context, std::max(px(60), ImGui::GetContentRegionAvail().y - px(kFooterHeight)));
  draw_sentence();
}

namespace {
const RegisterView registration({"timeline", "Timeline", "T", make_view<ViewTimeline>});
}

}  // namespace ringwright::gui
