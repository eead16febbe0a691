// What the pointer does in the plots of the Metrics view, and the menu of a plot with what can be taken out of it.
#include <implot.h>

#include <algorithm>
#include <cmath>

#include "console/gui/data/metric_csv.h"
#include "console/gui/services/recipe_commands.h"
#include "console/gui/views/view_metrics.h"
#include "console/gui/widgets/short_text.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/files.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr double kWheelZoom = 0.85;
constexpr float kDragMin = 4, kNearDistance = 7;
constexpr const char* kMenu = "###metrics.menu.popup";
constexpr const char* kAlertsKey = "ringwright.alerts";

// "train/grad_norm" -> "train-grad_norm.csv".
std::string file_name(const std::string& metric, const char* ending) {
  std::string name = metric;
  std::replace(name.begin(), name.end(), '/', '-');
  return name + ending;
}

struct MenuItem {
  const char* label;
  const char* command;
};
constexpr MenuItem kMenuItems[] = {{"Copy value###metrics.copy", "metrics.copy"},
                                   {"Save as CSV...###metrics.save_csv", "metrics.save_csv"},
                                   {"Save as PNG...###metrics.save_png", "metrics.save_png"},
                                   {"Alert when above...###metrics.alert", "metrics.alert"},
                                   {"Open in Query###metrics.query", "metrics.query"}};

// As an override says it: keys without quotes, texts in single ones.
std::string override_text(const nlohmann::json& value) {
  std::string words;
  const auto join = [&](const std::string& word) { words += fmt::format("{}{}", words.empty() ? "" : ", ", word); };
  if (value.is_array()) {
    for (const nlohmann::json& each : value) join(override_text(each));
    return fmt::format("[{}]", words);
  }
  if (value.is_object()) {
    for (const auto& [key, each] : value.items()) join(fmt::format("{}: {}", key, override_text(each)));
    return fmt::format("{{{}}}", words);
  }
  if (!value.is_string()) return value.dump();
  std::string quoted = "'";
  for (const char c : value.get<std::string>()) quoted += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  return quoted + "'";
}

void write_file(const std::string& file, const std::string& bytes) {
  try {
    files::replace(file, bytes);
  } catch (const std::system_error& error) {
    throw Error({"RW-GUI-030", std::string("the file cannot be written: ") + error.what(), file, "a place with room where you may write",
                 "choose another file"});
  }
}

}  // namespace

// Zooms where the pointer is, in all plots.
void ViewMetrics::take_wheel() {
  const float wheel = ImGui::GetIO().MouseWheel;
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  if (wheel == 0) return;
  const double factor = std::pow(kWheelZoom, wheel), at = ImPlot::GetPlotMousePos().x;
  const double low = at + (x_min_ - at) * factor, high = at + (x_max_ - at) * factor;
  // Below a millionth of its place a double has no neighbours left to tell columns apart.
  if (!(high - low > std::max(std::abs(low), std::abs(high)) * 1e-9) || !std::isfinite(high - low)) return;
  x_min_ = low, x_max_ = high;
  range_ = Range::zoomed;
  moved_at_s_ = ImGui::GetTime();
}

// The left button draws a range of x, with Shift also one of y for this plot; the middle one moves. True when a range has been drawn.
bool ViewMetrics::take_drag(Plot& plot, const PlotScale& scale) {
  const ImGuiIO& io = ImGui::GetIO();
  const ImPlotPoint at = ImPlot::GetPlotMousePos();
  const bool held = ImGui::IsItemActive();
  if (held && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) drag_from_ = at.x, drag_y_ = at.y;
  if (held && ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 0)) {
    const double by = -io.MouseDelta.x / scale.x_scale;
    x_min_ += by, x_max_ += by;
    if (io.MouseDelta.x != 0) range_ = Range::zoomed, moved_at_s_ = ImGui::GetTime();
  }
  if (!drag_from_ || !(held || ImGui::IsItemDeactivated())) return false;
  const auto x = std::clamp(at.x, x_min_, x_max_);
  if (io.MouseDragMaxDistanceSqr[ImGuiMouseButton_Left] >= px(kDragMin) * px(kDragMin)) drag_to_ = x;
  if (held && ImGui::IsMouseDown(ImGuiMouseButton_Left)) return false;
  const bool drawn = drag_to_ && *drag_to_ != *drag_from_;
  if (drawn) {
    x_min_ = std::min(*drag_from_, *drag_to_), x_max_ = std::max(*drag_from_, *drag_to_);
    range_ = Range::zoomed;
    const double low = std::min(drag_y_, at.y), high = std::max(drag_y_, at.y);
    if (io.KeyShift && high > low && (!log_ || low > 0)) plot.y_range = {low, high};
  }
  drag_from_.reset(), drag_to_.reset();
  return drawn;
}

// A click pins A and makes its step the current one; Shift and a click pins B.
void ViewMetrics::take_click(Context& context, const Plot& plot, double x) {
  selected_ = plot.card.metric;
  if (ImGui::GetIO().KeyShift && pin_a_) {
    pin_b_ = x;
    return;
  }
  pin_a_ = x;
  pin_b_.reset();
  for (const Line& line : plot.lines) {
    if (!line.current()) continue;
    if (axis_ == XAxis::step || axis_ == XAxis::since_resume)
      context.selection.step = std::llround(x) + (axis_ == XAxis::step ? 0 : line.drawn->origin);
    const auto index = index_at(line, x);
    if (index) context.selection.step = line.series->step(*index), context.selection.time_unix_ns = line.series->time_unix_ns(*index);
  }
}

// The others step back while the pointer is at a line.
void ViewMetrics::find_near_run(const Plot& plot, const PlotScale& scale) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const double x = ImPlot::GetPlotMousePos().x;
  double nearest = px(kNearDistance);
  for (const Line& line : plot.lines) {
    const auto value = value_at(line, x);
    if (!value || !scale.shows(*value)) continue;
    const double distance = std::abs(scale.y(*value) - static_cast<double>(mouse.y));
    if (distance < nearest) nearest = distance, next_near_run_ = line.record().id;
  }
}

void ViewMetrics::take_mouse(Context& context, Plot& plot, const PlotScale& scale) {
  const ImVec2 size = ImPlot::GetPlotSize();
  if (size.x < 1 || size.y < 1) return;
  ImGui::SetCursorScreenPos(ImPlot::GetPlotPos());
  const bool released = ImGui::InvisibleButton(
      "###area", size, ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
  plot.hovered = ImGui::IsItemHovered();
  const bool dragged = take_drag(plot, scale);
  if (plot.hovered) {
    const double x = ImPlot::GetPlotMousePos().x;
    next_cursor_ = x;
    find_near_run(plot, scale);
    take_wheel();
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      leave_zoom();
      drag_from_.reset(), drag_to_.reset();
    } else if (released && !dragged && ImGui::IsMouseReleased(ImGuiMouseButton_Left)) {
      take_click(context, plot, x);
    }
    if (released && ImGui::IsMouseReleased(ImGuiMouseButton_Right)) {
      selected_ = plot.card.metric;
      ImGui::OpenPopup(kMenu);
    }
  }
  draw_menu(context, plot);
}

void ViewMetrics::draw_menu(Context& context, const Plot& plot) {
  const WithFont body(Role::body);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(8), px(6)});
  if (ImGui::BeginPopup(kMenu)) {
    text(plot.card.metric, Role::heading);
    for (const MenuItem& item : kMenuItems) {
      const std::optional<std::string> refusal = context.commands.refusal(item.command, context);
      if (ImGui::MenuItem(item.label, nullptr, false, !refusal)) context.commands.run(item.command, context);
      if (refusal && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) ImGui::SetTooltip("%s", refusal->c_str());
    }
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

const ViewMetrics::Plot* ViewMetrics::selected_plot() const {
  const auto found = plots_.find(large_.empty() ? selected_ : large_);
  return found == plots_.end() ? nullptr : &found->second;
}

std::optional<std::string> ViewMetrics::no_plot_selected() const {
  return selected_plot() == nullptr ? std::optional<std::string>("click into a plot first, or go to it with the arrow keys") : std::nullopt;
}

void ViewMetrics::add_menu_commands(CommandRegistry& registry) {
  const auto refusal = [this](const Context&) { return no_plot_selected(); };
  const auto points_line = [this](const Context& context) {
    const Plot* plot = selected_plot();
    return fmt::format("ringwright runs metrics {} -m {}", context.selection.run, plot == nullptr ? "METRIC" : text::shell_word(plot->card.metric));
  };
  const auto csv_line = [points_line](const Context& context) { return points_line(context) + " --csv"; };
  registry.add({"metrics.copy", "Copy the value at the cursor's pin, or the last one", "Metrics", 0, "", refusal, points_line,
                [this](Context& context) { copy_value(context); }});
  registry.add(
      {"metrics.save_csv", "Save the selected plot as CSV", "Metrics", 0, "", refusal, csv_line, [this](Context& context) { ask_for_csv(context); }});
  registry.add({"metrics.save_png", "Save the selected plot as PNG", "Metrics", 0, "", refusal,
                [](const Context&) { return std::string("ringwright-console --screenshot FILE.png --view metrics"); },
                [this](Context& context) { ask_for_picture(context); }});
  registry.add({"metrics.alert", "Alert when the selected metric is above a value, in the open recipe", "Metrics", 0, "",
                [this](const Context& context) {
                  if (!context.recipe.is_open()) return std::optional<std::string>("alerts stand in a recipe: open one first");
                  return no_plot_selected();
                },
                [](const Context& context) { return recipe_set_line(context, kAlertsKey, "[...]"); },
                [this](Context& context) { ask_for_alert(context); }});
  registry.add({"metrics.query", "Open the selected plot in Query", "Metrics", 0, "", refusal,
                [this](const Context& context) {
                  const Plot* plot = selected_plot();
                  return fmt::format("ringwright sql {}{}", plot == nullptr ? "STATEMENT" : text::shell_word(text::one_line(query_of(*plot))),
                                     context.source.cli_arguments());
                },
                [this](Context& context) {
                  context.query_wanted = query_of(*selected_plot());
                  context.focus_view = "query";
                }});
}

void ViewMetrics::copy_value(Context& context) const {
  const Plot& plot = *selected_plot();
  const auto current = std::find_if(plot.lines.begin(), plot.lines.end(), [](const Line& line) { return line.current(); });
  const Line* line = current != plot.lines.end() ? &*current : plot.lines.empty() ? nullptr : &plot.lines.front();
  const std::optional<double> value = line == nullptr ? std::nullopt : value_at(*line, pin_a_.value_or(x_max_));
  if (!value) {
    context.notify(Notice::Level::warning, "There is no value to copy", "click into the plot where it has a line");
    return;
  }
  const std::string copied = fmt::format("{}", *value);
  ImGui::SetClipboardText(copied.c_str());
  context.notify(Notice::Level::good, fmt::format("Copied: {}", copied));
}

// Series that are in memory are copied here; those that are too long for it are read from the history. The file is written off the draw thread.
void ViewMetrics::ask_for_csv(Context& context) {
  const Plot& plot = *selected_plot();
  const std::string metric = plot.card.metric;
  std::vector<std::string> runs, unread;
  for (const Line& line : plot.lines) (line.series ? runs : unread).push_back(line.record().id);
  std::vector<std::string> all = runs;
  all.insert(all.end(), unread.begin(), unread.end());
  const auto cli = [all, metric](const std::string& file) {
    const std::string word = text::shell_word(metric);
    if (all.size() == 1) return fmt::format("ringwright runs metrics {} -m {} --csv > {}", all.front(), word, text::shell_word(file));
    return fmt::format("for run in {}; do ringwright runs metrics $run -m {} --csv; done > {}", fmt::join(all, " "), word, text::shell_word(file));
  };
  const auto act = [this, metric, unread](Context& target, const std::string& file) {
    const auto found = plots_.find(metric);
    std::vector<MetricCurve> curves;
    if (found != plots_.end())
      for (const Line& line : found->second.lines)
        if (line.series) curves.push_back(curve_of(line.record().id, *line.series));
    save_csv(target, metric, std::move(curves), unread, file);
  };
  context.prompt = {fmt::format("Save {} as CSV", metric), "the file's name", {file_name(metric, ".csv")}, cli, act};
}

void ViewMetrics::save_csv(Context& context, const std::string& metric, std::vector<MetricCurve> curves, const std::vector<std::string>& unread,
                           const std::string& file) {
  const auto write = [metric, file](const std::vector<MetricCurve>& all) { write_file(file, metric_csv(metric, all)); };
  if (!unread.empty()) {
    saved_file_ = file;
    saved_.ask(context.background, [metric, unread, write, curves = std::move(curves)](const Background::Access& access) {
      std::vector<MetricCurve> all = curves;
      for (const std::string& run : unread) all.push_back(curve_of(run, access.reader.metric(run, metric)));
      write(all);
      return true;
    });
    return;
  }
  const auto work = [write, curves = std::move(curves), file, &context]() -> BackgroundTasks::Outcome {
    write(curves);
    return [file, &context] { context.notify(Notice::Level::good, fmt::format("Saved: {}", file)); };
  };
  context.recipe.tasks().run(work, [&context](const ErrorParts& parts) { context.notify(parts); });
}

void ViewMetrics::take_saved(Context& context) {
  if (!saved_.take()) return;
  if (saved_.error()) {
    context.notify(*saved_.error());
  } else {
    context.notify(Notice::Level::good, fmt::format("Saved: {}", saved_file_));
  }
}

// The card as it is on the screen, once the question has gone from it.
void ViewMetrics::ask_for_picture(Context& context) {
  const std::string metric = selected_plot()->card.metric;
  const auto cli = [](const std::string& file) { return fmt::format("ringwright-console --view metrics --screenshot {}", text::shell_word(file)); };
  const auto act = [this, metric](Context& target, const std::string& file) {
    const auto found = plots_.find(metric);
    if (found == plots_.end()) return;
    target.picture = PictureWanted{file, found->second.low, found->second.high};
  };
  context.prompt = {fmt::format("Save {} as PNG", metric), "the file's name", {file_name(metric, ".png")}, cli, act};
}

void ViewMetrics::ask_for_alert(Context& context) const {
  const std::string metric = selected_plot()->card.metric;
  nlohmann::json rules = nlohmann::json::array();
  if (const auto& loaded = context.recipe.loaded(); loaded && loaded->recipe) {
    const nlohmann::ordered_json::json_pointer place("/ringwright/alerts");
    if (loaded->recipe->resolved.contains(place) && loaded->recipe->resolved.at(place).is_array()) rules = loaded->recipe->resolved.at(place);
  }
  const auto value_of = [rules, metric](const std::string& typed) {
    nlohmann::json all = rules;
    const nlohmann::json number = nlohmann::json::parse(typed, nullptr, false);
    all.push_back({{"kind", "threshold"}, {"metric", metric}, {"above", number.is_number() ? number : nlohmann::json(typed)}});
    return override_text(all);
  };
  context.prompt = {fmt::format("Alert when {} is above", metric),
                    "a number; the rule is written to the recipe",
                    {},
                    [value_of, &context](const std::string& typed) { return recipe_set_line(context, kAlertsKey, value_of(typed)); },
                    [value_of](Context& target, const std::string& typed) {
                      if (!nlohmann::json::parse(typed, nullptr, false).is_number()) {
                        target.notify(Notice::Level::warning, fmt::format("'{}' is no number", text::excerpt(typed)), "for example 2.5");
                        return;
                      }
                      target.recipe.set_key(kAlertsKey, value_of(typed), EditOrigin::form);
                    }};
}

std::string ViewMetrics::query_of(const Plot& plot) const {
  std::string runs;
  for (const Line& line : plot.lines) runs += fmt::format("{}'{}'", runs.empty() ? "" : ", ", line.record().id);
  std::string name = plot.card.metric;
  for (size_t at = name.find('\''); at != std::string::npos; at = name.find('\'', at + 2)) name.insert(at, 1, '\'');
  std::string range;
  if (range_ != Range::all && axis_ == XAxis::step)
    range = fmt::format(" AND step BETWEEN {} AND {}", std::llround(std::ceil(x_min_)), std::llround(std::floor(x_max_)));
  return fmt::format("SELECT run, rank, step, value FROM metric\nWHERE name = '{}' AND run IN ({}){}\nORDER BY run, rank, step", name, runs, range);
}

}  // namespace ringwright::gui
