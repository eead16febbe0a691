#include "console/gui/views/view_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "console/gui/data/run_text.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

using history::RunState;

constexpr float kRowHeight = 19;  // and 2 x 3 of cell padding: 25
constexpr float kFooterHeight = 88;
constexpr float kStateWordsFrom = 520;  // narrower: the icon alone, the word on hover
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double value_or_unknown(std::optional<double> value) { return value.value_or(kUnknown); }

std::string number_text(std::optional<double> value, bool short_form) {
  if (!value) return "-";
  return short_form ? text::format_short(*value) : text::format_value(*value);
}

struct Column {
  const char* title;
  float width;           // design pixels; 0 takes what is left
  float view_width_min;  // narrower views leave it out
  bool right;
  double (*sort_value)(const Run&, const Context&);  // unknown = NaN, sorted last
  std::string (*sort_text)(const Run&);              // for columns of words
  void (*draw)(Context&, Run&, float width);
};

void draw_swatch(Context& context, Run& run, float) {
  const std::string& id = run.record.id;
  const bool shown = context.selection.shown.contains(id);
  if (!swatch("###runs.mark", theme().series_color(run.record.color_index), shown)) return;
  const std::string before = context.selection.run;
  context.selection.run = id;
  context.commands.run("runs.mark", context);
  context.selection.run = before;
}

void draw_state(Context&, Run& run, float width) {
  const StateLook look = state_look(run.record.state);
  icon(*look.icon, 15, color(look.token));
  if (ImGui::IsItemHovered()) {
    ImGui::BeginTooltip();
    text(run.record.reason.empty() ? look.word : std::string(look.word) + ": " + run.record.reason, Role::label);
    ImGui::EndTooltip();
  }
  if (width < px(40)) return;
  ImGui::SameLine(0, px(5));
  text(look.word, Role::label, run.record.state == RunState::failed ? Token::error : Token::text2);
}

void draw_name(Context& context, Run& run, float width) {
  const bool current = context.selection.run == run.record.id;
  text_fitted(run.record.name.empty() ? "(no name)" : run.record.name, width, current ? Role::heading : Role::body, color(Token::text));
}

void draw_number(const std::string& content, float width, Token ink = Token::text) { text_right(content, width, Role::number, color(ink)); }

double loss_of(const Run& run, const Context&) { return value_or_unknown(latest_value(run, "loss")); }
double rate_of(const Run& run, const Context&) { return value_or_unknown(latest_value(run, "tokens_per_s")); }
double step_of(const Run& run, const Context&) { return run.record.last_step < 0 ? kUnknown : static_cast<double>(run.record.last_step); }
double elapsed_of(const Run& run, const Context& context) { return value_or_unknown(elapsed_s(run.record, context.source.now_unix_ns())); }
double started_of(const Run& run, const Context&) {
  return run.record.started_unix_ns == 0 ? kUnknown : static_cast<double>(run.record.started_unix_ns);
}

// Live numbers of a run whose daemon is silent are shown as the past that they are.
Token live_ink(const Context& context, const Run& run) {
  return context.is_silent() && !history::is_final(run.record.state) ? Token::text3 : Token::text;
}

const std::vector<Column>& columns() {
  static const std::vector<Column> list = {
      {"###color", 14, 0, false, nullptr, nullptr, draw_swatch},
      {"state", 74, 0, false, nullptr, [](const Run& run) { return std::string(history::to_string(run.record.state)); }, draw_state},
      {"run", 0, 0, false, nullptr, [](const Run& run) { return run.record.name; }, draw_name},
      {"algorithm", 58, 780, false, nullptr, [](const Run& run) { return run.record.algorithm; },
       [](Context&, Run& run, float width) { text_fitted(run.record.algorithm, width, Role::label, color(Token::text2)); }},
      {"mesh", 62, 640, false, nullptr, [](const Run& run) { return mesh_text(run.record); },
       [](Context&, Run& run, float width) { text_fitted(mesh_text(run.record), width, Role::code, color(Token::text2)); }},
      {"step", 44, 0, true, step_of, nullptr,
       [](Context& context, Run& run, float width) {
         draw_number(run.record.last_step < 0 ? "-" : text::format_count(run.record.last_step), width, live_ink(context, run));
       }},
      {"loss", 48, 300, true, loss_of, nullptr,
       [](Context& context, Run& run, float width) {
         const auto loss = latest_value(run, "loss");
         draw_number(number_text(loss, false), width, loss && !std::isfinite(*loss) ? Token::error : live_ink(context, run));
       }},
      {"tok/s", 44, 400, true, rate_of, nullptr,
       [](Context& context, Run& run, float width) {
         draw_number(number_text(latest_value(run, "tokens_per_s"), true), width, live_ink(context, run));
       }},
      {"elapsed", 60, 460, true, elapsed_of, nullptr,
       [](Context& context, Run& run, float width) {
         const auto seconds = elapsed_s(run.record, context.source.now_unix_ns());
         draw_number(seconds ? text::format_elapsed(*seconds) : "-", width, live_ink(context, run));
       }},
      {"started", 84, 860, true, started_of, nullptr,
       [](Context&, Run& run, float width) { draw_number(clock_text(run.record.started_unix_ns), width, Token::text2); }},
  };
  return list;
}

bool less(const Column& column, const Run& a, const Run& b, const Context& context, bool descending) {
  if (column.sort_text != nullptr) return descending ? column.sort_text(b) < column.sort_text(a) : column.sort_text(a) < column.sort_text(b);
  const double left = column.sort_value(a, context), right = column.sort_value(b, context);
  if (std::isnan(left) || std::isnan(right)) return !std::isnan(left) && std::isnan(right);
  return descending ? right < left : left < right;
}

std::optional<std::string> cannot_change(const Context& context) {
  if (std::string reason = context.why_no_orders(); !reason.empty()) return reason;
  const auto run = context.run();
  if (!run) return "no run is selected";
  if (history::is_final(run->record.state)) return "the run has ended";
  return std::nullopt;
}

// What a run loses that ends at once.
std::string loss_line(const Run& run) {
  const int64_t saved = run.parts.checkpoints.empty() ? 0 : run.parts.checkpoints.back().step;
  const int64_t lost = std::max<int64_t>(0, run.record.last_step - saved);
  const std::string since = saved > 0 ? fmt::format("since the checkpoint of step {}", text::format_count(saved)) : "and it has no checkpoint";
  return fmt::format("{} ({}): {} steps are lost, {}", run.record.name, run.record.id, text::format_count(lost), since);
}

void ask_to_kill(Context& context, const std::vector<std::string>& ids) {
  Confirmation question{
      ids.size() == 1 ? "Kill this run?" : fmt::format("Kill {} runs?", ids.size()), {}, "ringwright stop --now", "Kill now", 0, nullptr};
  for (const std::string& id : ids) {
    if (const auto run = context.state.find(id)) question.losses.push_back(loss_line(*run));
    question.cli += " " + id;
  }
  question.act = [ids](Context& target) {
    for (const std::string& id : ids) target.source.order(id, Order::kill);
  };
  context.confirmation = std::move(question);
}

void mark_current(Context& context) {
  Selection& selection = context.selection;
  selection.chosen_by_user = true;
  if (selection.shown.erase(selection.run) > 0) return;
  if (static_cast<int>(selection.shown.size()) >= kShownRunsMax) {
    context.notify(Notice::Level::warning, fmt::format("{} runs are shown at most", kShownRunsMax), "Click a swatch to hide a run");
    return;
  }
  selection.shown.insert(selection.run);
  context.select(selection.run);
}

void next_alert(Context& context) {
  const auto& runs = context.state.runs();
  const auto needs = [](const auto& run) { return run->record.state == RunState::failed || run->record.state == RunState::lost; };
  auto start = std::find_if(runs.begin(), runs.end(), [&](const auto& run) { return run->record.id == context.selection.run; });
  for (size_t i = 0; i < runs.size(); ++i) {
    if (start != runs.end()) ++start;
    if (start == runs.end()) start = runs.begin();
    if (!needs(*start)) continue;
    context.select((*start)->record.id);
    context.cli_line = "ringwright logs " + (*start)->record.id;
    return;
  }
}

void move_by(Context& context, const std::vector<std::shared_ptr<Run>>& listed, int by) {
  if (listed.empty()) return;
  const auto found = std::find_if(listed.begin(), listed.end(), [&](const auto& run) { return run->record.id == context.selection.run; });
  const int index = found == listed.end() ? 0 : static_cast<int>(found - listed.begin()) + by;
  context.select(listed[static_cast<size_t>(std::clamp(index, 0, static_cast<int>(listed.size()) - 1))]->record.id);
}

}  // namespace

void ViewRuns::add_commands(CommandRegistry& registry) {
  const auto line = [](const char* verb) {
    return [verb](const Context& context) { return fmt::format("ringwright {} {}", verb, context.selection.run); };
  };
  const auto no_run = [](const Context& context) { return context.run() ? std::nullopt : std::optional<std::string>("no run is selected"); };
  registry.add({"runs.clear", "Clear the filter of Runs", "Runs", 0, "", nullptr, nullptr, [this](Context&) { filter_.clear(); }});
  registry.add({"runs.mark", "Show or hide the current run in plots", "Runs", ImGuiKey_X, "X", no_run, nullptr, mark_current});
  registry.add({"runs.stop", "Stop the current run after its step", "Runs", ImGuiMod_Ctrl | ImGuiKey_Period, "Ctrl+.", cannot_change, line("stop"),
                [](Context& context) { context.source.order(context.selection.run, Order::stop); }});
  registry.add({"runs.kill", "Kill the current run", "Runs", 0, "", cannot_change, line("stop --now"),
                [](Context& context) { ask_to_kill(context, {context.selection.run}); }});
  registry.add({"runs.next_alert", "Next run that failed or was lost", "Runs", ImGuiKey_N, "N", nullptr, nullptr, next_alert});
  registry.add({"runs.copy_id", "Copy the current run's id", "Runs", 0, "", no_run, nullptr,
                [](Context& context) { ImGui::SetClipboardText(context.selection.run.c_str()); }});
  registry.add({"runs.next", "Next run in the table", "Runs", ImGuiKey_J, "J", no_run, line("runs show"),
                [this](Context& context) { move_by(context, listed_, 1); }, ImGuiKey_None, "runs"});
  registry.add({"runs.previous", "Previous run in the table", "Runs", ImGuiKey_K, "K", no_run, line("runs show"),
                [this](Context& context) { move_by(context, listed_, -1); }, ImGuiKey_None, "runs"});
}

void ViewRuns::list_runs(const Context& context) {
  listed_.clear();
  for (const auto& run : context.state.runs()) {
    if (filter_.empty() || matches_words(filter_text(run->record), filter_)) listed_.push_back(run);
  }
  if (sort_column_ < 0) return;
  const Column& column = columns()[static_cast<size_t>(sort_column_)];
  if (column.sort_text == nullptr && column.sort_value == nullptr) return;
  std::stable_sort(listed_.begin(), listed_.end(), [&](const auto& a, const auto& b) { return less(column, *a, *b, context, sort_descending_); });
}

void ViewRuns::draw_row(Context& context, const std::shared_ptr<Run>& run) {
  ImGui::TableNextRow(0, px(kRowHeight) + 2 * px(3));
  ImGui::PushID(run->record.id.c_str());
  ImGui::TableSetColumnIndex(0);
  const bool current = context.selection.run == run->record.id;
  const float y = ImGui::GetCursorPosY();
  if (ImGui::Selectable("###row", current, ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap, {0, px(kRowHeight)})) {
    context.select(run->record.id);
    context.cli_line = "ringwright runs show " + run->record.id;
  }
  ImGui::SetCursorPosY(y);
  for (size_t i = 0; i < columns().size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(1));
    columns()[i].draw(context, *run, ImGui::GetContentRegionAvail().x);
  }
  ImGui::PopID();
}

void ViewRuns::draw_table(Context& context, float height) {
  const float view_width = ImGui::GetContentRegionAvail().x / scale();
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {px(5), px(3)});
  const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate |
                                ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingFixedFit;
  if (ImGui::BeginTable("###runs.table", static_cast<int>(columns().size()), flags, {0, height})) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const Column& column : columns()) {
      ImGuiTableColumnFlags column_flags = column.width == 0 ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed;
      if (column.sort_text == nullptr && column.sort_value == nullptr) column_flags |= ImGuiTableColumnFlags_NoSort;
      if (column.right) column_flags |= ImGuiTableColumnFlags_PreferSortDescending;
      if (view_width < column.view_width_min) column_flags |= ImGuiTableColumnFlags_Disabled;
      const bool icon_only = column.draw == draw_state && view_width < kStateWordsFrom;
      ImGui::TableSetupColumn(column.title, column_flags, column.width == 0 ? 1 : px(icon_only ? 16 : column.width));
    }
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers, px(kRowHeight) + 2 * px(3));
    for (size_t i = 0; i < columns().size(); ++i) {
      if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
      const bool untitled =
          std::string_view(columns()[i].title).starts_with("###") || (columns()[i].draw == draw_state && view_width < kStateWordsFrom);
      const std::string_view title = untitled ? "" : columns()[i].title;
      const WithFont label(Role::label);
      ImGui::PushStyleColor(ImGuiCol_Text, color(Token::text2));
      ImGui::PushID(static_cast<int>(i));
      const float room = ImGui::GetContentRegionAvail().x, start = ImGui::GetCursorPosX();
      ImGui::TableHeader("###header");
      ImGui::PopID();
      ImGui::SameLine();
      const bool sorted = sort_column_ == static_cast<int>(i);
      const float shift = columns()[i].right && !sorted ? room - text_width(title, Role::label) : 0;
      ImGui::SetCursorPosX(start + std::max(0.0F, shift));
      ImGui::TextUnformatted(title.data(), title.data() + title.size());
      ImGui::PopStyleColor();
    }
    if (ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs(); specs != nullptr && specs->SpecsDirty) {
      sort_column_ = specs->SpecsCount > 0 ? specs->Specs[0].ColumnIndex : -1;
      sort_descending_ = specs->SpecsCount > 0 && specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
      specs->SpecsDirty = false;
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(listed_.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(context, listed_[static_cast<size_t>(i)]);
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
}

void ViewRuns::draw_stop_buttons(Context& context, const Run& run) {
  const std::string reason = context.commands.refusal("runs.stop", context).value_or("");
  if (run.record.state == RunState::stopping) {
    const float label = text_width("Stopping after this step", Role::label), width = label + px(12) + ImGui::CalcTextSize("Kill now...").x + px(16);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, ImGui::GetContentRegionAvail().x - width));
    ImGui::AlignTextToFramePadding();
    text("Stopping after this step", Role::label, Token::warn);
    ImGui::SameLine(0, px(12));
    if (button_or_reason("Kill now...###runs.kill", reason)) context.commands.run("runs.kill", context);
    return;
  }
  const float width = ImGui::CalcTextSize("Stop").x + px(40);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, ImGui::GetContentRegionAvail().x - width));
  const ImVec2 start = ImGui::GetCursorScreenPos();
  if (button_or_reason("      Stop###runs.stop", reason)) context.commands.run("runs.stop", context);
  draw_icon(ImGui::GetWindowDrawList(), icons::stop, {start.x + px(17), start.y + ImGui::GetItemRectSize().y / 2}, 14,
            color(reason.empty() ? Token::text : Token::text3));
}

void ViewRuns::draw_footer(Context& context) {
  const auto run = context.run();
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::GetWindowDrawList()->AddLine(start, {start.x + width, start.y}, color(Token::line), px(1));
  ImGui::Dummy({width, px(2)});
  if (!run) {
    text(fmt::format("Nothing selected, {} shown in plots", context.selection.shown.size()), Role::label, Token::text2);
    return;
  }
  const history::RunRecord& record = run->record;
  const StateLook look = state_look(record.state);
  icon(*look.icon, 16, color(look.token));
  ImGui::SameLine(0, px(6));
  text_fitted(record.name, width - px(190), Role::heading, color(Token::text));
  ImGui::SameLine();
  draw_stop_buttons(context, *run);
  const std::string mesh = record.world_size == 1 ? "1 rank" : fmt::format("{}, {} ranks", mesh_text(record), record.world_size);
  const std::string facts = fmt::format("{}   {}   {}   started {}", record.id, record.algorithm, mesh, clock_text(record.started_unix_ns));
  text_fitted(facts, width, Role::axis, color(Token::text2));
  if (!record.reason.empty()) {
    text_fitted(std::string(look.word) + ": " + record.reason, width, Role::label,
                color(record.state == RunState::failed ? Token::error : Token::text));
  } else {
    text_fitted(fmt::format("{} shown in plots; click a swatch or press X to show or hide", context.selection.shown.size()), width, Role::hint,
                color(Token::text3));
  }
}

void ViewRuns::draw(Context& context) {
  if (context.state.failure() && context.state.runs().empty()) {
    error_state(*context.state.failure());
    return;
  }
  if (!context.state.runs_known()) {
    skeleton(8, px(25));
    return;
  }
  if (context.state.runs().empty()) {
    empty_state("No run yet", "Start one in a terminal: ringwright run assets/recipes/demo-sft-cp2.yaml");
    return;
  }
  list_runs(context);
  const std::string hits = fmt::format("{} of {}", listed_.size(), context.state.runs().size());
  const float hits_width = text_width(hits, Role::axis) + px(12);
  filter_field("###runs.filter", "Filter by name, id, state, mesh; !word excludes", filter_, ImGui::GetContentRegionAvail().x - hits_width,
               focus_filter_);
  ImGui::SameLine(0, px(12));
  ImGui::AlignTextToFramePadding();
  text(hits, Role::axis, Token::text2);
  if (listed_.empty()) {
    if (empty_state("No run matches", "The filter is: " + filter_, "Clear###runs.clear")) context.commands.run("runs.clear", context);
  } else {
    draw_table(context, std::max(px(60), ImGui::GetContentRegionAvail().y - px(kFooterHeight)));
    draw_footer(context);
  }
}

namespace {
const RegisterView registration({"runs", "Runs", "R", make_view<ViewRuns>});
}

}  // namespace ringwright::gui
