#include "console/gui/views/view_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "console/gui/data/run_text.h"
#include "console/gui/widgets/short_text.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

using history::RunState;

constexpr float kRowHeight = 19;  // and 2 x 3 of cell padding: 25
constexpr float kFooterHeight = 116;
constexpr size_t kFoundMax = 100'000, kExtraMax = 12, kSummariesMax = 1'000, kCompletionsShown = 6;
constexpr double kAskAgainSeconds = 1;
constexpr const char* kKeptColumns = "run_columns";
constexpr float kStateWordsFrom = 520;  // narrower: the icon alone, the word on hover
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// The last parts of a long name: "dtensor_cfg.context_parallel_size".
std::string short_name(const std::string& name) {
  const size_t last = name.rfind('.');
  const size_t before = last == std::string::npos || last == 0 ? std::string::npos : name.rfind('.', last - 1);
  return before == std::string::npos || name.find('/') != std::string::npos ? name : name.substr(before + 1);
}

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
  const auto chosen = std::exchange(context.selection.chosen, {id});
  context.commands.run("runs.mark", context);
  context.selection.chosen = chosen;
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
double elapsed_of(const Run& run, const Context& context) { return value_or_unknown(history::elapsed_seconds(run.record, context.source.now_unix_ns())); }
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
         const auto seconds = history::elapsed_seconds(run.record, context.source.now_unix_ns());
         draw_number(seconds ? text::format_elapsed(*seconds) : "-", width, live_ink(context, run));
       }},
      {"tags", 90, 900, false, nullptr, [](const Run& run) { return run.record.tags.empty() ? std::string("~") : run.record.tags.front(); },
       [](Context&, Run& run, float width) {
         std::string tags;
         for (const std::string& tag : run.record.tags) tags += (tags.empty() ? "" : ", ") + tag;
         if (!tags.empty()) text_fitted(tags, width, Role::label, color(Token::text2));
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

void move_by(Context& context, const std::vector<std::shared_ptr<Run>>& listed, int by) {
  if (listed.empty()) return;
  const auto found = std::find_if(listed.begin(), listed.end(), [&](const auto& run) { return run->record.id == context.selection.run; });
  const int index = found == listed.end() ? 0 : static_cast<int>(found - listed.begin()) + by;
  context.select(listed[static_cast<size_t>(std::clamp(index, 0, static_cast<int>(listed.size()) - 1))]->record.id);
}

}  // namespace

void ViewRuns::add_commands(CommandRegistry& registry) {
  const auto no_run = [](const Context& context) { return context.run() ? std::nullopt : std::optional<std::string>("no run is selected"); };
  const auto show = [](const Context& context) { return "ringwright runs show " + context.selection.run; };
  const auto add = [&](const char* id, const char* title, ImGuiKey key, const char* keys, int by) {
    registry.add(
        {id, title, "Runs", key, keys, no_run, show, [this, by](Context& context) { move_by(context, listed_, by); }, ImGuiKey_None, "runs"});
  };
  add("runs.next", "Next run in the table", ImGuiKey_J, "J", 1);
  add("runs.previous", "Previous run in the table", ImGuiKey_K, "K", -1);
  add("runs.down", "Down the table of runs", ImGuiKey_DownArrow, "Down", 1);
  add("runs.up", "Up the table of runs", ImGuiKey_UpArrow, "Up", -1);
  add("runs.first", "First run of the table", ImGuiKey_Home, "Home", -1'000'000);
  add("runs.last", "Last run of the table", ImGuiKey_End, "End", 1'000'000);
  registry.add({"runs.clear", "Clear the filter of Runs", "Runs", 0, "", nullptr, nullptr, [this](Context&) { filter_.clear(); }});
  registry.add({"runs.columns", "Choose columns of Runs", "Runs", 0, "", nullptr, nullptr, [this](Context&) { columns_wanted_ = true; }});
  registry.add({"runs.more", "All that can be done to the chosen runs", "Runs", 0, "", nullptr, nullptr, [this](Context&) { more_wanted_ = true; }});
}

// Asks again when the text has changed, and once a second while runs change: a query may look at what changes.
void ViewRuns::search(Context& context) {
  const bool is_query = !filter_.empty() && !is_word_search(filter_);
  const bool changed = filter_ != asked_filter_;
  const bool aged = context.state.runs_version() != asked_version_ && ImGui::GetTime() - asked_at_ > kAskAgainSeconds;
  if (is_query && (changed || (aged && !found_.waiting()))) {
    asked_version_ = context.state.runs_version();
    asked_at_ = ImGui::GetTime();
    found_.ask(context.background, [text = filter_](const Background::Access& access) {
      const auto start = std::chrono::steady_clock::now();
      FoundRuns found{text, {}, 0};
      for (const history::RunRecord& run : access.reader.find(text, kFoundMax)) found.ids.push_back(run.id);
      found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      return found;
    });
  }
  if (changed && !is_query) found_.forget();
  asked_filter_ = filter_;
  if (found_.take() && !found_.error()) {
    const bool asked_again = good_ && good_->text == found_.value()->text;  // nobody did anything
    good_ = *found_.value();
    if (!asked_again) context.cli_line = "ringwright runs list " + text::shell_word(good_->text) + context.source.cli_arguments();
  }
  if (!is_query) good_.reset();
}

void ViewRuns::list_runs(const Context& context) {
  listed_.clear();
  if (good_) {
    for (const std::string& id : good_->ids)
      if (const auto run = context.state.find(id)) listed_.push_back(run);
  } else {
    const bool words = is_word_search(filter_);
    for (const auto& run : context.state.runs()) {
      if (!run->record.archived && (filter_.empty() || !words || matches_words(filter_text(run->record), filter_))) listed_.push_back(run);
    }
  }
  if (sort_column_ < 0 || sort_column_ >= static_cast<int>(columns().size())) return;
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
  const bool chosen = context.selection.chosen.contains(run->record.id);
  if (ImGui::Selectable("###row", current || chosen, ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap, {0, px(kRowHeight)}))
    click_row(context, run->record.id);
  draw_row_menu(context, run->record.id);
  ImGui::SetCursorPosY(y);
  for (size_t i = 0; i < columns().size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(1));
    columns()[i].draw(context, *run, ImGui::GetContentRegionAvail().x);
  }
  for (size_t i = 0; i < extra_.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(columns().size() + i))) continue;
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(1));
    draw_extra(*run, extra_[i]);
  }
  ImGui::PopID();
}

void ViewRuns::draw_table(Context& context, float height) {
  const float view_width = ImGui::GetContentRegionAvail().x / scale();
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {px(5), px(3)});
  const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate |
                                ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingFixedFit;
  if (ImGui::BeginTable("###runs.table", static_cast<int>(columns().size() + extra_.size()), flags, {0, height})) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const Column& column : columns()) {
      ImGuiTableColumnFlags column_flags = column.width == 0 ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed;
      if (column.sort_text == nullptr && column.sort_value == nullptr) column_flags |= ImGuiTableColumnFlags_NoSort;
      if (column.right) column_flags |= ImGuiTableColumnFlags_PreferSortDescending;
      if (view_width < column.view_width_min) column_flags |= ImGuiTableColumnFlags_Disabled;
      const bool icon_only = column.draw == draw_state && view_width < kStateWordsFrom;
      ImGui::TableSetupColumn(column.title, column_flags, column.width == 0 ? 1 : px(icon_only ? 16 : column.width));
    }
    for (const ExtraColumn& column : extra_)
      ImGui::TableSetupColumn(column.name.c_str(), ImGuiTableColumnFlags_WidthFixed | ImGuiTableColumnFlags_NoSort, px(110));
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
    for (size_t i = 0; i < extra_.size(); ++i) {
      if (!ImGui::TableSetColumnIndex(static_cast<int>(columns().size() + i))) continue;
      text_fitted(short_name(extra_[i].name), ImGui::GetContentRegionAvail().x, Role::label, color(Token::text2));
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

void ViewRuns::click_row(Context& context, const std::string& id) {
  const ImGuiIO& io = ImGui::GetIO();
  std::set<std::string>& chosen = context.selection.chosen;
  if (io.KeyCtrl) {
    if (chosen.empty() && !context.selection.run.empty()) chosen.insert(context.selection.run);
    if (chosen.erase(id) == 0) chosen.insert(id);
    return;
  }
  chosen.clear();
  if (io.KeyShift) {
    const auto place = [&](const std::string& of) {
      return std::find_if(listed_.begin(), listed_.end(), [&](const auto& run) { return run->record.id == of; });
    };
    auto from = place(context.selection.run), to = place(id);
    if (from > to) std::swap(from, to);
    if (from != listed_.end() && to != listed_.end())
      for (auto at = from; at <= to; ++at) chosen.insert((*at)->record.id);
    return;
  }
  context.select(id);
  context.cli_line = "ringwright runs show " + id;
}

void ViewRuns::draw_row_menu(Context& context, const std::string& id) {
  if (!ImGui::BeginPopupContextItem("###runs.row.popup")) return;
  if (ImGui::IsWindowAppearing() && !context.selection.chosen.contains(id)) {
    context.selection.chosen.clear();
    context.select(id);
  }
  draw_commands(context);
  ImGui::EndPopup();
}

// Every command of the group, with its keys; those that cannot be done now say why.
void ViewRuns::draw_commands(Context& context) {
  for (const Command& command : context.commands.all()) {
    if (command.group != "Runs" || !command.view.empty()) continue;
    const std::string reason = context.commands.refusal(command.id, context).value_or("");
    if (ImGui::MenuItem((command.title + "###" + command.id).c_str(), command.keys.c_str(), false, reason.empty()))
      context.commands.run(command.id, context);
    if (!reason.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) ImGui::SetTooltip("%s", reason.c_str());
  }
}

void ViewRuns::draw_buttons(Context& context) {
  struct Button {
    const char* label;
    const char* command;
    const Icon* icon;
  };
  const auto run = context.run();
  const bool stopping = run && run->record.state == RunState::stopping && context.selection.chosen.empty();
  const Button buttons[] = {{"Compare", "runs.compare", nullptr},
                            {"Tag", "runs.tag", nullptr},
                            stopping ? Button{"Kill now...", "runs.kill", nullptr} : Button{"Stop", "runs.stop", &icons::stop}};
  const auto label_of = [](const Button& button) { return std::string(button.icon != nullptr ? "      " : "") + button.label; };
  const float padding = 2 * ImGui::GetStyle().FramePadding.x;
  float width = ImGui::CalcTextSize("More").x + padding;
  for (const Button& button : buttons) width += ImGui::CalcTextSize(label_of(button).c_str()).x + padding + px(8);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, ImGui::GetContentRegionAvail().x - width));
  for (const Button& button : buttons) {
    const std::string reason = context.commands.refusal(button.command, context).value_or("");
    const ImVec2 start = ImGui::GetCursorScreenPos();
    if (button_or_reason(fmt::format("{}###{}", label_of(button), button.command).c_str(), reason)) context.commands.run(button.command, context);
    if (button.icon != nullptr)
      draw_icon(ImGui::GetWindowDrawList(), *button.icon, {start.x + px(17), start.y + ImGui::GetItemRectSize().y / 2}, 14,
                color(reason.empty() ? Token::text : Token::text3));
    ImGui::SameLine(0, px(8));
  }
  if (ImGui::Button("More###runs.more")) context.commands.run("runs.more", context);
  if (std::exchange(more_wanted_, false)) ImGui::OpenPopup("###runs.more.popup");
  if (ImGui::BeginPopup("###runs.more.popup")) {
    draw_commands(context);
    ImGui::EndPopup();
  }
}

void ViewRuns::draw_footer(Context& context) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::GetWindowDrawList()->AddLine(start, {start.x + width, start.y}, color(Token::line), px(1));
  ImGui::Dummy({width, px(2)});
  const size_t chosen = context.selection.chosen.size();
  const auto run = context.run();
  if (chosen > 0) {
    text(fmt::format("{} run{} chosen, {} shown in plots", chosen, chosen == 1 ? "" : "s", context.selection.shown.size()), Role::heading);
  } else if (run) {
    const StateLook look = state_look(run->record.state);
    icon(*look.icon, 16, color(look.token));
    ImGui::SameLine(0, px(6));
    text_fitted(run->record.name, width - px(30), Role::heading, color(Token::text));
  } else {
    text(fmt::format("Nothing selected, {} shown in plots", context.selection.shown.size()), Role::label, Token::text2);
  }
  if (run && chosen == 0) draw_facts(context, *run, width);
  draw_buttons(context);
}

void ViewRuns::draw_facts(const Context& context, const Run& run, float width) {
  const history::RunRecord& record = run.record;
  ShortText facts("{}   {}   ", record.id, record.algorithm);
  if (record.world_size > 1) facts.add("{}, ", mesh_text(record));
  facts.add("{} rank{}   started {}", record.world_size, record.world_size == 1 ? "" : "s", clock_text(record.started_unix_ns));
  if (record.segment > 1) facts.add("   resumed {} time{}", record.segment - 1, record.segment == 2 ? "" : "s");
  for (const std::string& tag : record.tags) facts.add("   #{}", tag);
  text_fitted(facts, width, Role::axis, color(Token::text2));
  if (record.state == RunState::stopping) {
    text(fmt::format("Stopping after step {}", text::format_count(record.last_step + 1)), Role::label, Token::warn);
  } else if (!record.reason.empty()) {
    text_fitted(ShortText("{}: {}", state_look(record.state).word, record.reason), width, Role::label,
                color(record.state == RunState::failed ? Token::error : Token::text));
  } else if (!run.parts.notes.empty()) {
    text_fitted(ShortText("Note: {}", run.parts.notes.back().text), width, Role::label, color(Token::text2));
  } else {
    text_fitted(ShortText("{} shown in plots; click a swatch or press X to show or hide", context.selection.shown.size()), width, Role::hint,
                color(Token::text3));
  }
}

void ViewRuns::draw_extra(const Run& run, const ExtraColumn& column) {
  const auto value = column_value(run, column.column, [this](const std::string& id, const std::string& metric) -> const history::MetricSummary* {
    if (!summaries_.value()) return nullptr;
    const auto found = summaries_.value()->find({id, metric});
    return found == summaries_.value()->end() ? nullptr : &found->second;
  });
  const float width = ImGui::GetContentRegionAvail().x;
  if (value && value->is_number()) {
    text_right(column_text(value), width, Role::number, color(Token::text));
  } else {
    text_fitted(column_text(value), width, Role::code, color(value ? Token::text2 : Token::text3));
  }
}

// Extremes of runs whose points are not in memory come from the history's own sums.
void ViewRuns::ask_for_summaries(Context& context) {
  std::set<std::string> metrics;
  for (const ExtraColumn& column : extra_)
    if (column.column.kind == ColumnName::Kind::minimum || column.column.kind == ColumnName::Kind::maximum) metrics.insert(column.column.path);
  summaries_.take();
  if (metrics.empty()) return;
  std::set<std::string_view> ids_now;
  bool known = metrics == summarized_;
  for (const auto& run : listed_) {
    if (run->details == Loading::ready || ids_now.size() == kSummariesMax) continue;
    ids_now.insert(run->record.id);
    known = known && summarized_runs_.contains(run->record.id);
  }
  if (known || ids_now.empty()) return;
  const std::set<std::string> ids(ids_now.begin(), ids_now.end());
  summarized_ = metrics;
  summarized_runs_ = ids;
  summaries_.ask(context.background, [ids, metrics](const Background::Access& access) {
    Summaries found;
    for (const std::string& id : ids)
      for (const history::MetricSummary& summary : access.reader.metric_summaries(id))
        if (metrics.contains(summary.name)) found[{id, summary.name}] = summary;
    return found;
  });
}

// The columns that were chosen, as they are kept.
void ViewRuns::read_columns(const Context& context) {
  const auto kept = context.kept.find(kKeptColumns);
  static const nlohmann::json none = nlohmann::json::array();
  const nlohmann::json& names = kept == context.kept.end() ? none : *kept;
  if (names == read_names_) return;
  read_names_ = names;
  extra_.clear();
  if (!names.is_array()) return;
  for (const auto& name : names) {
    const auto column = name.is_string() ? read_column(name.get<std::string>()) : std::nullopt;
    if (column && extra_.size() < kExtraMax) extra_.push_back({name.get<std::string>(), *column});
  }
}

void ViewRuns::draw_column_chooser(Context& context) {
  if (std::exchange(columns_wanted_, false)) {
    fields_ = query_fields(context.state);
    ImGui::OpenPopup("###runs.columns.popup");
  }
  if (!ImGui::BeginPopup("###runs.columns.popup")) return;
  text("Columns: any setting, or a metric's last, min or max", Role::label, Token::text2);
  bool focus = ImGui::IsWindowAppearing();
  filter_field("###runs.columns.filter", "Filter", column_filter_, px(360), focus);
  if (ImGui::BeginChild("###runs.columns.list", {px(360), px(260)})) {
    for (const QueryField& field : fields_) {
      if (!read_column(field.name) || (!column_filter_.empty() && !matches_words(field.name, column_filter_))) continue;
      const bool on = std::any_of(extra_.begin(), extra_.end(), [&](const ExtraColumn& column) { return column.name == field.name; });
      bool wanted = on;
      ImGui::PushID(field.name.c_str());
      const bool changed = ImGui::Checkbox("###column", &wanted);
      ImGui::SameLine();
      text_fitted(field.name, ImGui::GetContentRegionAvail().x, Role::code, color(Token::text));
      ImGui::PopID();
      if (changed) show_column(context, field.name, wanted);
    }
  }
  ImGui::EndChild();
  ImGui::EndPopup();
}

void ViewRuns::show_column(Context& context, const std::string& name, bool on) {
  nlohmann::json names = nlohmann::json::array();
  for (const ExtraColumn& column : extra_)
    if (column.name != name) names.push_back(column.name);
  if (on) names.push_back(name);
  context.kept[kKeptColumns] = names;
  context.keep_wanted = true;
}

// Below the box: what is wrong with the query, under the column where it is; or what the word could become.
void ViewRuns::draw_below_box(const Context& context, ImVec2 box) {
  if (found_.error() && !found_.waiting()) {
    const ErrorParts& error = *found_.error();
    if (const auto column = error_column(error)) {
      const float at = box.x + px(30) + text_width(std::string_view(filter_).substr(0, std::min(filter_.size(), *column - 1)), Role::code);
      const ImVec2 start = ImGui::GetCursorScreenPos();
      text_at(ImGui::GetWindowDrawList(), {at, start.y - px(6)}, "^", Role::code, color(Token::error));
      ImGui::Dummy({px(1), px(8)});
    }
    text_fitted(error.what + (error.expected.empty() ? "" : "; expected: " + error.expected) + (good_ ? "  (the last good result is shown)" : ""),
                ImGui::GetContentRegionAvail().x, Role::hint, color(Token::error));
  }
  if (!box_active_) return;
  if (fields_.empty() || fields_version_ != context.state.runs().size()) {
    fields_ = query_fields(context.state);
    fields_version_ = context.state.runs().size();
  }
  draw_completions();
}

void ViewRuns::draw_completions() {
  const std::vector<QueryField> offered = completions(fields_, filter_, kCompletionsShown);
  for (size_t i = 0; i < offered.size(); ++i) {
    if (text_width(offered[i].name, Role::axis) + px(28) > ImGui::GetContentRegionAvail().x) break;
    push_name_id(offered[i].name);
    const float width = text_width(offered[i].name, Role::axis) + px(12), height = px(20);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const bool pressed = ImGui::InvisibleButton("###completion", {width, height}) || (i == 0 && ImGui::IsKeyPressed(ImGuiKey_Tab));
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(start, {start.x + width, start.y + height}, color(ImGui::IsItemHovered() ? Token::sel : Token::bg3), px(4));
    text_at(list, {start.x + px(6), start.y + (height - font_px(Role::axis)) / 2 - px(1)}, offered[i].name, Role::axis, color(Token::text));
    if (ImGui::IsItemHovered() && !offered[i].meaning.empty()) ImGui::SetTooltip("%s: %s", offered[i].type.c_str(), offered[i].meaning.c_str());
    ImGui::PopID();
    if (pressed) filter_ = complete(filter_, offered[i]), focus_filter_ = true;
    ImGui::SameLine(0, px(4));
  }
  ImGui::NewLine();
}

void ViewRuns::draw_box(Context& context) {
  std::string hits = fmt::format("{} of {}", listed_.size(), context.state.runs().size());
  if (good_) hits += fmt::format("   {:.1f} ms", good_->seconds * 1000);
  const float hits_width = text_width(hits, Role::axis) + px(12) + px(30);
  const ImVec2 box = ImGui::GetCursorScreenPos();
  filter_field("###runs.filter", "mesh.cp >= 2 and started > 7d ago, or words", filter_, ImGui::GetContentRegionAvail().x - hits_width,
               focus_filter_);
  box_active_ = ImGui::IsItemActive();
  ImGui::SameLine(0, px(12));
  ImGui::AlignTextToFramePadding();
  text(hits, Role::axis, Token::text2);
  ImGui::SameLine(0, px(6));
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  if (ImGui::InvisibleButton("###runs.columns", {px(22), height})) context.commands.run("runs.columns", context);
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("Choose columns");
  draw_icon(ImGui::GetWindowDrawList(), icons::plus_circle, {start.x + px(11), start.y + height / 2}, 16,
            color(ImGui::IsItemHovered() ? Token::text : Token::text3));
  draw_below_box(context, box);
  draw_column_chooser(context);
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
  read_columns(context);
  search(context);
  list_runs(context);
  ask_for_summaries(context);
  draw_box(context);
  if (listed_.empty()) {
    if (found_.waiting() && !good_) {
      skeleton(4, px(25));
    } else if (empty_state("No run matches", filter_.empty() ? "All runs are archived" : "The filter is: " + filter_, "Clear###runs.clear")) {
      context.commands.run("runs.clear", context);
    }
    return;
  }
  draw_table(context, std::max(px(60), ImGui::GetContentRegionAvail().y - px(kFooterHeight)));
  draw_footer(context);
}

namespace {
const RegisterView registration({"runs", "Runs", "R", make_view<ViewRuns>});
}

}  // namespace ringwright::gui
