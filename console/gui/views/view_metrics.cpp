// Metrics: which runs and plots are shown, the controls, and the grid.
#include "console/gui/views/view_metrics.h"

#include <algorithm>
#include <cmath>

#include "console/gui/data/run_text.h"
#include "console/gui/widgets/short_text.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr int kAcrossMax = 6;
constexpr float kCardHeightMin = 150, kCardWidthMin = 300, kTitleHeight = 26, kHeadHeight = 24, kGap = 8;
constexpr Icon kPin{"\xEF\x90\x83", "P"};
constexpr const char *kKeptPins = "pinned_metrics", *kKeptOrder = "metric_order", *kPayload = "metric";
constexpr size_t kKeysOffered = 12;

std::vector<std::string> kept_names(const Context& context, const char* key) {
  std::vector<std::string> names;
  const auto kept = context.kept.find(key);
  if (kept != context.kept.end() && kept->is_array())
    for (const nlohmann::json& name : *kept)
      if (name.is_string()) names.push_back(name);
  return names;
}

void keep_names(Context& context, const char* key, const std::vector<std::string>& names) {
  context.kept[key] = names;
  context.keep_wanted = true;
}

void toggle_pinned(Context& context, const std::string& metric) {
  std::vector<std::string> names = kept_names(context, kKeptPins);
  if (std::erase(names, metric) == 0) names.push_back(metric);
  keep_names(context, kKeptPins, names);
}

const nlohmann::json& kept_json(const Context& context, const char* key) {
  static const nlohmann::json none;
  const auto kept = context.kept.find(key);
  return kept == context.kept.end() ? none : *kept;
}

}  // namespace

void ViewMetrics::toggle_large(const std::string& metric) { large_ = large_ == metric ? "" : metric; }

void ViewMetrics::leave_zoom() {
  range_ = Range::all;
  for (auto& [metric, plot] : plots_) plot.y_range.reset();
}

void ViewMetrics::add_commands(CommandRegistry& registry) {
  const auto cli = [](const Context& context) { return "ringwright runs metrics " + context.selection.run; };
  const auto refusal = [this](const Context&) { return no_plot_selected(); };
  registry.add(
      {"metrics.log", "Logarithmic y axis", "Metrics", ImGuiKey_L, "L", nullptr, cli, [this](Context&) { log_ = !log_; }, ImGuiKey_None, "metrics"});
  registry.add(
      {"metrics.fit", "Show all steps", "Metrics", ImGuiKey_F, "F", nullptr, cli, [this](Context&) { leave_zoom(); }, ImGuiKey_None, "metrics"});
  registry.add({"metrics.band", "Band from the smallest to the largest of the runs shown", "Metrics", ImGuiKey_B, "B", nullptr, nullptr,
                [this](Context&) { bands_ = bands_ == Bands::runs ? Bands::off : Bands::runs; }, ImGuiKey_None, "metrics"});
  registry.add({"metrics.rank_band", "Band from the smallest to the largest rank of the current run", "Metrics", 0, "", nullptr,
                [](const Context& context) { return "ringwright runs metrics " + context.selection.run + " --rank 0"; },
                [this](Context&) { bands_ = bands_ == Bands::ranks ? Bands::off : Bands::ranks; }});
  registry.add(
      {"metrics.large", "The selected plot alone, or all plots", "Metrics", 0, "", refusal, nullptr, [this](Context&) { toggle_large(selected_); }});
  registry.add({"metrics.pin", "Show the selected metric first among all, or where it belongs", "Metrics", 0, "", refusal, nullptr,
                [this](Context& context) { toggle_pinned(context, selected_); }});
  registry.add({"metrics.move_forward", "Move the selected plot towards the first", "Metrics", 0, "", refusal, nullptr,
                [this](Context& context) { move_selected(context, -1); }});
  registry.add({"metrics.move_back", "Move the selected plot towards the last", "Metrics", 0, "", refusal, nullptr,
                [this](Context& context) { move_selected(context, 1); }});
  registry.add(
      {"metrics.unpin", "Take the pins out of the plots", "Metrics", 0, "", nullptr, nullptr, [this](Context&) { pin_a_.reset(), pin_b_.reset(); }});
  registry.add({"metrics.clear", "Clear the filter of Metrics", "Metrics", 0, "", nullptr, nullptr, [this](Context&) { filter_.clear(); }});
  registry.add({"metrics.group", "Group the runs in plots by a key of their settings", "Metrics", 0, "", nullptr,
                [](const Context&) { return std::string("ringwright runs diff RUN RUN"); },
                [this](Context& context) {
                  context.prompt = {"Group runs by", "recipe.policy.optimizer.kwargs.lr", differing_keys(drawn_runs_, kKeysOffered),
                                    [](const std::string&) { return std::string("ringwright runs diff RUN RUN"); },
                                    [this](Context&, const std::string& key) { group_key_ = key, bands_ = Bands::runs; }};
                }});
  registry.add({"metrics.ungroup", "Give each run in plots its own colour again", "Metrics", 0, "", nullptr, nullptr,
                [this](Context&) { group_key_.clear(); }});
  registry.add({"metrics.smooth_more", "More smoothing", "Metrics", 0, "", nullptr, nullptr, [this](Context&) { step_smoothing(1); }});
  registry.add({"metrics.smooth_less", "Less smoothing", "Metrics", 0, "", nullptr, nullptr, [this](Context&) { step_smoothing(-1); }});
  add_menu_commands(registry);
}

// Those with a swatch, and the current one.
void ViewMetrics::take_runs(const Context& context) {
  size_t count = 0;
  std::array<int, kSeriesColors> of_color{};
  const auto take = [&](const std::string& id, bool hidden) {
    auto run = context.state.find(id);
    if (!run) return;
    if (drawn_.size() == count) drawn_.emplace_back();
    Drawn& drawn = drawn_[count++];
    drawn.run = std::move(run);
    const history::RunRecord& record = drawn.run->record;
    drawn.current = id == context.selection.run, drawn.hidden = hidden;
    drawn.resumed_at.clear();
    for (const history::SegmentRecord& segment : drawn.run->parts.segments)
      if (segment.segment > 1 && segment.first_step) drawn.resumed_at.push_back(*segment.first_step);
    std::sort(drawn.resumed_at.begin(), drawn.resumed_at.end());
    const int64_t resumed = drawn.resumed_at.empty() ? 0 : drawn.resumed_at.back();
    drawn.origin = axis_ == XAxis::since_resume ? resumed : clock_ ? 0 : record.started_unix_ns;
    // Runs of one colour are told apart by dashes.
    const auto color = static_cast<size_t>(record.color_index % static_cast<int>(kSeriesColors));
    drawn.ink = theme().series_color(record.color_index);
    drawn.dash = static_cast<Dash>(of_color[color]++ % 3);
    drawn.group = 0;
  };
  for (const std::string& id : context.selection.shown) take(id, false);
  if (!context.selection.run.empty() && !context.selection.shown.contains(context.selection.run)) take(context.selection.run, true);
  drawn_.resize(count);
  drawn_runs_.clear();
  for (const Drawn& drawn : drawn_) drawn_runs_.push_back(drawn.run.get());
  color_groups();
}

void ViewMetrics::color_groups() {
  if (group_key_.empty()) {
    groups_.clear(), grouped_by_.clear();
    return;
  }
  if (grouped_by_ != group_key_ || grouped_runs_ != drawn_runs_) {
    groups_ = group_runs(drawn_runs_, group_key_);
    grouped_by_ = group_key_, grouped_runs_ = drawn_runs_;
  }
  for (size_t i = 0; i < groups_.size(); ++i)
    for (const size_t run : groups_[i].runs)
      drawn_[run].ink = theme().series_color(static_cast<int>(i)), drawn_[run].group = i, drawn_[run].dash = Dash::solid;
}

bool ViewMetrics::list_is_stale(const Context& context) {
  next_list_key_.runs.clear();
  for (const Drawn& drawn : drawn_) {
    const Run& run = *drawn.run;
    if (!drawn.hidden) next_list_key_.runs.push_back({&run, run.metrics.size(), run.parts.unread_metrics.size(), run.latest.size()});
  }
  return next_list_key_.runs != list_key_.runs || filter_ != list_key_.filter || kept_json(context, kKeptPins) != list_key_.pins ||
         kept_json(context, kKeptOrder) != list_key_.order;
}

void ViewMetrics::refresh_list(const Context& context) {
  if (!list_is_stale(context)) return;
  list_key_ = {next_list_key_.runs, filter_, kept_json(context, kKeptPins), kept_json(context, kKeptOrder)};
  CardQuestion question{{}, filter_, kept_names(context, kKeptPins), kept_names(context, kKeptOrder)};
  for (const ListKey::Names& names : list_key_.runs) question.runs.push_back(names.run);
  list_ = metric_cards(question);
  std::set<std::string> ids, metrics;
  for (const Drawn& drawn : drawn_) ids.insert(drawn.run->record.id);
  for (const MetricCard& card : list_.cards) {
    Plot& plot = plots_[card.metric];
    plot.card = card;
    plot.pinned = std::find(question.pinned.begin(), question.pinned.end(), card.metric) != question.pinned.end();
    std::erase_if(plot.traces, [&](const auto& entry) { return !ids.contains(entry.first); });
    metrics.insert(card.metric);
  }
  std::erase_if(plots_, [&](const auto& entry) { return !metrics.contains(entry.first); });
  if (!plots_.contains(large_)) large_.clear();
  if (!plots_.contains(selected_)) selected_.clear();
}

void ViewMetrics::take_lines(Plot& plot) {
  plot.lines.clear();
  const bool by_step = axis_ == XAxis::step || axis_ == XAxis::since_resume;
  for (const bool current : {false, true}) {  // the current run lies on top
    for (const Drawn& drawn : drawn_) {
      if (drawn.current != current) continue;
      const Run& run = *drawn.run;
      const auto found = run.metrics.find(plot.card.metric);
      if (by_step && run.parts.unread_metrics.contains(plot.card.metric)) {
        plot.lines.push_back({&drawn, nullptr, &plot.traces[run.record.id]});
      } else if (found != run.metrics.end() && !found->second->empty()) {
        plot.lines.push_back({&drawn, found->second.get(), &plot.traces[run.record.id]});
      }
    }
  }
}

void ViewMetrics::move_selected(Context& context, int by) {
  const auto found = std::find_if(list_.cards.begin(), list_.cards.end(), [&](const MetricCard& card) { return card.metric == selected_; });
  if (found == list_.cards.end()) return;
  const std::ptrdiff_t to = found - list_.cards.begin() + by;
  if (to < 0 || to >= static_cast<std::ptrdiff_t>(list_.cards.size())) return;
  keep_names(context, kKeptOrder, moved_card(list_, kept_names(context, kKeptOrder), selected_, list_.cards[static_cast<size_t>(to)].metric));
}

// A card that is dragged onto another takes its place.
void ViewMetrics::take_drop(Context& context, const Plot& plot) {
  if (!ImGui::BeginDragDropTarget()) return;
  if (const ImGuiPayload* payload = ImGui::AcceptDragDropPayload(kPayload)) {
    const std::string metric(static_cast<const char*>(payload->Data), static_cast<size_t>(payload->DataSize));
    keep_names(context, kKeptOrder, moved_card(list_, kept_names(context, kKeptOrder), metric, plot.card.metric));
  }
  ImGui::EndDragDropTarget();
}

float ViewMetrics::draw_last_value(const Context& context, const Plot& plot, float right, float middle) const {
  const auto run = context.run();
  if (!run) return right;
  const auto latest = run->latest.find(plot.card.metric);
  if (latest == run->latest.end()) return right;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (!plot.card.unit.empty()) {
    right -= text_width(plot.card.unit, Role::hint);
    text_at(list, {right, middle - font_px(Role::hint) / 2 - px(1)}, plot.card.unit, Role::hint, color(Token::text3));
    right -= px(4);
  }
  const double value = latest->second.value;
  const ShortText shown("{}", text::format_value(value));
  right -= text_width(shown, Role::number);
  const Token ink = !std::isfinite(value) ? Token::error : context.is_silent() ? Token::text3 : Token::text2;
  text_at(list, {right, middle - font_px(Role::number) / 2 - px(1)}, shown, Role::number, color(ink));
  return right - px(12);
}

std::optional<ViewMetrics::Warning> ViewMetrics::warning_of(const Plot& plot) const {
  size_t visible = 0, nonfinite = 0;
  for (const Line& line : plot.lines) {
    visible += line.trace->raw.columns_with_points;
    nonfinite += line.trace->raw.columns_nonfinite;
    if (!line.series && line.trace->reduced.error())
      return Warning{line.trace->reduced.error()->code + " " + line.trace->reduced.error()->what, Token::error};
  }
  if (axis_ == XAxis::tokens || axis_ == XAxis::elapsed)
    for (const Run* run : drawn_runs_)
      if (run->parts.unread_metrics.contains(plot.card.metric)) return Warning{"too long: only steps can be drawn", Token::warn};
  if (nonfinite * 2 > visible) return Warning{"mostly NaN", Token::error};
  if (bands_ == Bands::ranks && plot.rank_band.ranks.error()) return Warning{"ranks: " + plot.rank_band.ranks.error()->what, Token::warn};
  if (bands_ == Bands::ranks && plot.rank_band.ranks.value() && plot.rank_band.ranks.value()->size() < 2) return Warning{"one rank", Token::text3};
  return std::nullopt;
}

void ViewMetrics::draw_card_title(Context& context, Plot& plot, float width) {
  const std::string& metric = plot.card.metric;
  const ImVec2 start = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (ImGui::InvisibleButton("###title", {width - px(28), px(kTitleHeight)}, ImGuiButtonFlags_EnableNav)) selected_ = metric, toggle_large(metric);
  if (ImGui::IsItemFocused()) selected_ = metric;
  if (ImGui::BeginDragDropSource()) {
    ImGui::SetDragDropPayload(kPayload, metric.data(), metric.size());
    text(metric, Role::label);
    ImGui::EndDragDropSource();
  } else if (ImGui::IsItemHovered()) {
    ImGui::SetTooltip("%s", large_.empty() ? "Click for this plot alone, drag to another place" : "Click for all plots");
  }
  const float y = start.y + px(kTitleHeight) / 2;
  ImGui::SetCursorScreenPos({start.x + width - px(28), start.y});
  if (ImGui::InvisibleButton("###metrics.pin", {px(24), px(kTitleHeight)})) toggle_pinned(context, metric);
  const bool pin_hovered = ImGui::IsItemHovered();
  if (pin_hovered) ImGui::SetTooltip("%s", plot.pinned ? "Let it go back to its place" : "Show it first");
  draw_icon(list, kPin, {start.x + width - px(16), y}, 14, color(plot.pinned ? Token::accent : pin_hovered ? Token::text : Token::text3));
  const float right = draw_last_value(context, plot, start.x + width - px(32), y);
  const std::optional<Warning> warning = warning_of(plot);
  const float room = right - start.x - px(10);
  const float warning_width = warning ? std::min(text_width(warning->words, Role::hint), room * 0.6F) + px(8) : 0;
  const float title_width = std::min(text_width(metric, Role::heading), room - warning_width);
  text_at(list, {start.x + px(10), y - font_px(Role::heading) / 2 - px(1)}, metric, Role::heading, color(Token::text), title_width + 1);
  if (warning)
    text_at(list, {start.x + px(18) + title_width, y - font_px(Role::hint) / 2 - px(1)}, warning->words, Role::hint, color(warning->ink),
            warning_width - px(7));
}

void ViewMetrics::draw_card(Context& context, Plot& plot, float width, float height) {
  push_name_id(plot.card.metric);
  take_lines(plot);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  plot.low = start, plot.high = {start.x + width, start.y + height};
  const bool selected = selected_ == plot.card.metric && ImGui::IsWindowFocused();
  ImGui::GetWindowDrawList()->AddRect(plot.low, plot.high, color(selected ? Token::accent : Token::line), px(4), px(1));
  ImGui::BeginGroup();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  draw_card_title(context, plot, width);
  const float left = px(4);
  ImGui::SetCursorScreenPos({start.x + left, start.y + px(kTitleHeight)});
  draw_plot(context, plot, width - left - px(6), height - px(kTitleHeight) - px(4));
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy({width, height});
  ImGui::PopStyleVar();
  ImGui::EndGroup();
  take_drop(context, plot);
  ImGui::PopID();
}

// The head of a section; a click folds it away.
void ViewMetrics::draw_head(const std::string& section, size_t count, float width) {
  push_name_id(section);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const bool folded = folded_.contains(section);
  if (ImGui::InvisibleButton("###section", {width, px(kHeadHeight)})) folded ? void(folded_.erase(section)) : void(folded_.insert(section));
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float middle = start.y + px(kHeadHeight) / 2;
  const ShortText words("{}", section.empty() ? "other" : section);
  text_at(list, {start.x + px(22), middle - font_px(Role::heading) / 2 - px(1)}, words, Role::heading,
          color(ImGui::IsItemHovered() ? Token::text : Token::text2));
  const float name_width = text_width(words, Role::heading);
  text_at(list, {start.x + px(30) + name_width, middle - font_px(Role::axis) / 2}, ShortText("{}", count), Role::axis, color(Token::text3));
  draw_icon(list, folded ? icons::skip_circle : icons::chevron_down, {start.x + px(10), middle}, 15, color(Token::text3));
  ImGui::PopID();
}

void ViewMetrics::draw_grid(Context& context) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = px(kGap);
  if (!large_.empty()) {
    draw_card(context, plots_.at(large_), room.x, room.y);
    return;
  }
  const int count = static_cast<int>(list_.cards.size());
  int across = across_ > 0 ? across_ : std::max(1, std::min(kAcrossMax, static_cast<int>((room.x + gap) / (px(kCardWidthMin) + gap))));
  if (across_ == 0) across = std::min(across, count);
  if (across_ == 0 && count == 4 && across == 3) across = 2;
  const int down = down_ > 0 ? down_ : (count + across - 1) / across;
  const float width = std::floor((room.x - gap * static_cast<float>(across - 1)) / static_cast<float>(across));
  const float wanted = std::floor((room.y - gap * static_cast<float>(down - 1)) / static_cast<float>(down));
  const float height = std::max(px(down_ > 0 ? 90 : kCardHeightMin), wanted);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  float top = origin.y;
  int column = 0;
  for (size_t i = 0; i < list_.cards.size(); ++i) {
    const MetricCard& card = list_.cards[i];
    if (list_.has_heads && (i == 0 || list_.cards[i - 1].section != card.section)) {
      if (column > 0) top += height + gap, column = 0;
      const auto same = [&](const MetricCard& other) { return other.section == card.section; };
      ImGui::SetCursorScreenPos({origin.x, top});
      draw_head(card.section, static_cast<size_t>(std::count_if(list_.cards.begin(), list_.cards.end(), same)), room.x);
      top += px(kHeadHeight);
    }
    if (list_.has_heads && folded_.contains(card.section)) continue;
    const ImVec2 corner{origin.x + static_cast<float>(column) * (width + gap), top};
    ImGui::SetCursorScreenPos(corner);
    if (ImGui::IsRectVisible(corner, {corner.x + width, corner.y + height})) {
      draw_card(context, plots_.at(card.metric), width, height);
    } else {
      ImGui::Dummy({width, height});  // a plot that is scrolled away asks for no data
    }
    if (++column == across) top += height + gap, column = 0;
  }
}

void ViewMetrics::draw_nothing(Context& context) {
  const bool reading =
      std::any_of(context.state.runs().begin(), context.state.runs().end(), [](const auto& run) { return run->details == Loading::reading; });
  if (!context.state.runs_known() || reading) {
    skeleton(6, px(40));
  } else if (!filter_.empty()) {
    if (empty_state("No metric matches", "The filter is: " + filter_, "Clear###metrics.clear")) context.commands.run("metrics.clear", context);
  } else if (context.state.runs().empty()) {
    empty_state("Nothing to plot", "The first run appears here when it starts");
  } else {
    empty_state("No points yet", "The first one is expected after step 1; click a swatch in Runs to show a run");
  }
}

void ViewMetrics::draw(Context& context) {
  take_saved(context);
  take_runs(context);
  draw_controls(context);
  const auto current = context.run();
  if (current && current->details == Loading::failed) {
    error_state(current->details_error);
    return;
  }
  refresh_list(context);
  if (list_.cards.empty()) {
    draw_nothing(context);
    return;
  }
  // ImGui's own Escape has left the window by now.
  const bool is_free = !ImGui::GetIO().WantTextInput && !ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup);
  if (!large_.empty() && context.focused_view == "metrics" && is_free && ImGui::IsKeyPressed(ImGuiKey_Escape)) large_.clear();
  fit_x();
  next_cursor_.reset();
  next_near_run_.clear();
  begin_turns(context);
  if (ImGui::BeginChild("###metrics.grid", {0, 0}, ImGuiChildFlags_NavFlattened)) draw_grid(context);
  ImGui::EndChild();
  if (turns_.first > 0 || turns_.first_waiting) context.redraw_within_s = 0;
  near_run_.swap(next_near_run_);
  if (!context.still) context.selection.cursor_x = next_cursor_;
}

namespace {
const RegisterView registration({"metrics", "Metrics", "M", make_view<ViewMetrics>});
}

}  // namespace ringwright::gui
