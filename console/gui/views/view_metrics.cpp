#include "console/gui/views/view_metrics.h"

#include <fmt/format.h>
#include <implot.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "console/gui/data/reduced.h"
#include "console/gui/data/run_text.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr float kCardHeightMin = 150, kCardWidthMin = 300, kTitleHeight = 26, kMarkDistance = 10;
constexpr double kRawAlpha = 0.17;
constexpr size_t kMarkersBelow = 100, kCursorRowsMax = 8;
constexpr std::array kSmoothings = {0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999};
constexpr std::array<const char*, 4> kAxisNames = {"step", "tokens", "elapsed", "clock"};
constexpr Icon kPin{"\xEF\x90\x83", "P"};
constexpr const char* kKeptPins = "pinned_metrics";
constexpr int kBandPoints = 240;

constexpr double kClockFrom = 1e9;  // seconds: no run takes thirty years, and no clock says 2001

struct MainMetric {
  const char* metric;
  const char* title;
};
constexpr std::array kMainMetrics = {MainMetric{"loss", "loss"}, MainMetric{"grad_norm", "gradient norm"}, MainMetric{"tokens_per_s", "tokens/s"},
                                     MainMetric{"lr", "learning rate"}};

int format_tick(double value, char* buffer, int size, void* elapsed) {
  std::string label;
  if (elapsed != nullptr && value > kClockFrom) {
    label = time_of_day_text(static_cast<int64_t>(value * 1e9)).substr(0, 5);
  } else if (elapsed != nullptr) {
    label = text::format_elapsed(value);
  } else {
    const double magnitude = std::abs(value);
    label = magnitude >= 1e4                        ? text::format_short(value)
            : magnitude < 1e-4 && magnitude > 1e-12 ? fmt::format("{:.2g}", value)
                                                    : text::format_value(magnitude < 1e-12 ? 0 : value);
  }
  return std::snprintf(buffer, static_cast<size_t>(size), "%s", label.c_str());
}

ImPlotSpec line_spec(Color ink, double alpha, float weight) {
  ImPlotSpec spec;
  spec.LineColor = to_vec4(with_alpha(ink, alpha));
  spec.LineWeight = weight;
  return spec;
}

// Each stretch between two breaks is a line of its own: a NaN must not become a corner of a triangle.
void plot_stretches(const char* id, const Decimated& drawn, const ImPlotSpec& spec, bool log) {
  const auto shows = [&](size_t i) { return std::isfinite(drawn.y[i]) && (!log || drawn.y[i] > 0); };
  for (size_t begin = 0; begin < drawn.y.size();) {
    size_t end = begin;
    while (end < drawn.y.size() && shows(end)) ++end;
    if (end > begin) ImPlot::PlotLine(id, drawn.x.data() + begin, drawn.y.data() + begin, static_cast<int>(end - begin), spec);
    begin = end + 1;
  }
}

void plot_decimated(const char* id, const Decimated& drawn, Color ink, double alpha, float weight, bool log) {
  ImPlotSpec spec = line_spec(ink, alpha, weight);
  if (drawn.points_in_view < kMarkersBelow && alpha > 0.5) {
    spec.Marker = ImPlotMarker_Circle;
    spec.MarkerSize = px(2);
    spec.MarkerFillColor = spec.MarkerLineColor = spec.LineColor;
  }
  plot_stretches(id, drawn, spec, log);
  if (drawn.lone_x.empty()) return;
  ImPlotSpec dot = spec;
  dot.Marker = ImPlotMarker_Circle;
  dot.MarkerSize = px(2.5F);
  dot.MarkerFillColor = dot.MarkerLineColor = to_vec4(ink);
  ImPlot::PlotScatter(id, drawn.lone_x.data(), drawn.lone_y.data(), static_cast<int>(drawn.lone_x.size()), dot);
}

// Nearest point at or before x.
std::optional<size_t> index_at(const Series& series, double x, XAxis axis, int64_t start) {
  if (series.empty()) return std::nullopt;
  const size_t after = series.upper_bound(x, axis, start);
  return after == 0 ? std::nullopt : std::optional(after - 1);
}

std::string x_text(double x, XAxis axis) {
  if (axis == XAxis::elapsed && x > kClockFrom) return clock_text(static_cast<int64_t>(x * 1e9));
  if (axis == XAxis::elapsed) return text::format_elapsed(x);
  return fmt::format("{} {}", kAxisNames[static_cast<size_t>(axis)], text::format_count(std::llround(x)));
}

std::vector<std::string> runs_drawn(const Context& context) {
  std::vector<std::string> ids(context.selection.shown.begin(), context.selection.shown.end());
  if (!context.selection.run.empty() && !context.selection.shown.contains(context.selection.run)) ids.push_back(context.selection.run);
  return ids;
}

// What a frame may spend on lines that have changed: about 3 ms.
constexpr int64_t kSmoothedPointsPerFrame = 60'000, kColumnsPerFrame = 4'000;

}  // namespace

void ViewMetrics::add_commands(CommandRegistry& registry) {
  const auto cli = [](const Context& context) { return "ringwright runs metrics " + context.selection.run; };
  registry.add(
      {"metrics.log", "Logarithmic y axis", "Metrics", ImGuiKey_L, "L", nullptr, cli, [this](Context&) { log_ = !log_; }, ImGuiKey_None, "metrics"});
  registry.add(
      {"metrics.fit", "Show all steps", "Metrics", ImGuiKey_F, "F", nullptr, cli, [this](Context&) { fitted_ = true; }, ImGuiKey_None, "metrics"});
  registry.add({"metrics.band", "Band from the smallest to the largest of the runs shown", "Metrics", ImGuiKey_B, "B", nullptr, nullptr,
                [this](Context&) { band_ = !band_; }, ImGuiKey_None, "metrics"});
  registry.add({"metrics.pin", "Show the metric that stands alone first among all", "Metrics", 0, "",
                [this](const Context&) {
                  return large_.empty() ? std::optional<std::string>("click a plot's title first: it then stands alone") : std::nullopt;
                },
                nullptr, [this](Context& context) { toggle_pinned(context, large_); }});
  registry.add(
      {"metrics.unpin", "Take the pins out of the plots", "Metrics", 0, "", nullptr, nullptr, [this](Context&) { pin_a_.reset(), pin_b_.reset(); }});
  registry.add({"metrics.clear", "Clear the filter of Metrics", "Metrics", 0, "", nullptr, nullptr, [this](Context&) { filter_.clear(); }});
  registry.add({"metrics.smooth_more", "More smoothing", "Metrics", 0, "", nullptr, nullptr, [this](Context&) {
                  const auto* next = std::upper_bound(kSmoothings.begin(), kSmoothings.end(), smoothing_);
                  if (next != kSmoothings.end()) smoothing_ = *next;
                }});
  registry.add({"metrics.smooth_less", "Less smoothing", "Metrics", 0, "", nullptr, nullptr, [this](Context&) {
                  const auto* same = std::lower_bound(kSmoothings.begin(), kSmoothings.end(), smoothing_);
                  if (same != kSmoothings.begin()) smoothing_ = *(same - 1);
                }});
}

void ViewMetrics::draw_controls(Context& context) {
  int axis = clock_ ? 3 : static_cast<int>(axis_);
  if (choice(
          "###metrics.x", "x", kAxisNames[static_cast<size_t>(axis)], 4, [](int i) { return std::string(kAxisNames[static_cast<size_t>(i)]); }, axis,
          92)) {
    clock_ = axis == 3;
    axis_ = static_cast<XAxis>(std::min(axis, 2));
    fitted_ = true;
    pin_a_.reset(), pin_b_.reset();
  }
  ImGui::SameLine(0, px(12));
  int index = static_cast<int>(std::lower_bound(kSmoothings.begin(), kSmoothings.end(), smoothing_) - kSmoothings.begin());
  const auto smoothing_name = [](int i) { return i == 0 ? std::string("off") : fmt::format("{:g}", kSmoothings[static_cast<size_t>(i)]); };
  if (choice("###metrics.smoothing", "Smoothing", smoothing_name(index), static_cast<int>(kSmoothings.size()), smoothing_name, index, 78)) {
    smoothing_ = kSmoothings[static_cast<size_t>(index)];
  }
  ImGui::SameLine(0, px(12));
  int log = log_ ? 1 : 0;
  if (choice("###metrics.scale", "y", log_ ? "log" : "linear", 2, [](int i) { return std::string(i == 0 ? "linear" : "log"); }, log, 84))
    log_ = log == 1;
  ImGui::SameLine(0, px(12));
  int band = band_ ? 1 : 0;
  if (ImGui::GetContentRegionAvail().x > px(420) &&
      choice("###metrics.band", "Band", band_ ? "runs" : "off", 2, [](int i) { return std::string(i == 0 ? "off" : "runs"); }, band, 70))
    band_ = band == 1;
  ImGui::SameLine(0, px(12));
  const float room = ImGui::GetContentRegionAvail().x - (fitted_ ? 0 : px(80));
  if (room > px(90)) filter_field("###metrics.filter", "Filter metrics", filter_, std::min(px(240), room), focus_filter_);
  if (!fitted_) {
    ImGui::SameLine(0, px(12));
    if (ImGui::Button("All steps###metrics.fit")) context.commands.run("metrics.fit", context);
  }
}

std::vector<ViewMetrics::Card> ViewMetrics::cards(const Context& context) const {
  std::vector<Card> main;
  std::set<std::string> seen;
  for (const MainMetric& entry : kMainMetrics) {
    for (const std::string& id : context.selection.shown) {
      const auto run = context.state.find(id);
      const std::string name = run ? metric_name(*run, entry.metric) : "";
      if (name.empty() || !seen.insert(name).second) continue;
      if (filter_.empty() || matches_words(name + " " + entry.title, filter_)) main.push_back({name, name});
    }
  }
  std::set<std::string> rest;
  for (const std::string& id : context.selection.shown) {
    const auto run = context.state.find(id);
    if (!run) continue;
    const auto consider = [&](const std::string& name) {
      if (!seen.contains(name) && (filter_.empty() || matches_words(name, filter_))) rest.insert(name);
    };
    for (const auto& [name, series] : run->metrics) consider(name);
    for (const auto& [name, summary] : run->parts.unread_metrics) consider(name);
  }
  for (const std::string& name : rest) main.push_back({name, name});
  std::stable_partition(main.begin(), main.end(), [&](const Card& card) { return is_pinned(context, card.metric); });
  return main;
}

bool ViewMetrics::leaves_out(const Context& context, const std::string& metric) const {
  if (axis_ == XAxis::step) return false;
  const std::vector<std::string> ids = runs_drawn(context);
  return std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
    const auto run = context.state.find(id);
    return run && run->parts.unread_metrics.contains(metric);
  });
}

std::vector<ViewMetrics::Line> ViewMetrics::lines_of(const Context& context, const std::string& metric) {
  std::vector<Line> lines;
  for (const std::string& id : runs_drawn(context)) {
    const auto run = context.state.find(id);
    if (!run) continue;
    const bool current = id == context.selection.run;
    const auto found = run->metrics.find(metric);
    if (run->parts.unread_metrics.contains(metric) && axis_ == XAxis::step) {
      lines.push_back({run, nullptr, &traces_[{id, metric}], current});
    } else if (found != run->metrics.end() && !found->second->empty()) {
      lines.push_back({run, found->second, &traces_[{id, metric}], current});
    }
  }
  // The current run last, so that it lies on top.
  std::stable_partition(lines.begin(), lines.end(), [](const Line& line) { return !line.current; });
  return lines;
}

// Whether it is this trace's turn in this frame. One that was never drawn does not wait.
bool ViewMetrics::may_refresh(const Trace& trace) {
  const int turn = turns_.asked++;
  if (trace.version == 0) return true;
  if (turn >= turns_.first && turns_.columns > 0 && turns_.points > 0) return true;
  if (turn >= turns_.first && !turns_.first_waiting) turns_.first_waiting = turn;
  return false;
}

void ViewMetrics::refresh(Line& line, double x_min, double x_max, float width) {
  Trace& trace = *line.trace;
  const PlotRange range{x_min, x_max, static_cast<size_t>(std::max(width, 1.0F)), axis_, start_of(*line.run)};
  const bool caught_up = smoothing_ <= 0 || trace.smoothed.has_followed(*line.series, smoothing_);
  if (caught_up && trace.version == line.series->version() && trace.key == range && trace.weight == smoothing_) return;
  if (!may_refresh(trace)) return;
  if (!caught_up) {
    const size_t before = trace.smoothed.points_done();
    trace.smoothed.follow(*line.series, smoothing_, static_cast<size_t>(std::max<int64_t>(turns_.points, 1)));
    turns_.points -= static_cast<int64_t>(std::max(trace.smoothed.points_done(), before) - before);
  }
  turns_.columns -= static_cast<int64_t>(range.columns) * (smoothing_ > 0 ? 2 : 1);
  trace.raw = decimate(*line.series, range);
  trace.smooth = smoothing_ > 0 ? decimate(trace.smoothed.series(), range) : Decimated{};
  trace.version = line.series->version();
  trace.key = range;
  trace.weight = smoothing_;
}

void ViewMetrics::refresh_reduced(Context& context, const Card& card, Line& line, double x_min, double x_max, float width) {
  Trace& trace = *line.trace;
  const PlotRange range{x_min, x_max, static_cast<size_t>(std::max(width, 1.0F)), axis_, 0};
  if (!(trace.asked == range) && !trace.reduced.waiting()) {
    trace.asked = range;
    const history::StepRange steps{static_cast<int64_t>(std::floor(x_min)), static_cast<int64_t>(std::ceil(x_max))};
    trace.reduced.ask(context.background, [id = line.run->record.id, metric = card.metric, steps, pixels = range.columns](
                                              const Background::Access& access) { return access.reader.reduce(id, metric, -1, steps, pixels); });
  }
  const bool answered = trace.reduced.take();
  if (!trace.reduced.value() || (!answered && trace.weight == smoothing_)) return;
  trace.raw = decimate(*trace.reduced.value());
  trace.smooth = smoothing_ > 0 ? smooth(*trace.reduced.value(), smoothing_) : Decimated{};
  trace.weight = smoothing_;
}

// The value of what is drawn at x, or of the last point before it.
std::optional<double> ViewMetrics::value_at(const Line& line, double x) const {
  if (line.series) {
    const Series& series = smoothing_ > 0 ? line.trace->smoothed.series() : *line.series;
    const auto index = index_at(series, x, axis_, start_of(*line.run));
    return index ? std::optional(series.value(*index)) : std::nullopt;
  }
  const Decimated& drawn = smoothing_ > 0 ? line.trace->smooth : line.trace->raw;
  const auto after = std::upper_bound(drawn.x.begin(), drawn.x.end(), x);
  if (after == drawn.x.begin()) return std::nullopt;
  return drawn.y[static_cast<size_t>(after - drawn.x.begin()) - 1];
}

void ViewMetrics::fit_x(const Context& context) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const std::string& id : context.selection.shown) {
    const auto run = context.state.find(id);
    if (!run) continue;
    for (const auto& [name, series] : run->metrics) {
      if (series->empty()) continue;
      low = std::min(low, series->x(0, axis_, start_of(*run)));
      high = std::max(high, series->x(series->size() - 1, axis_, start_of(*run)));
    }
    if (axis_ != XAxis::step) continue;
    for (const auto& [name, summary] : run->parts.unread_metrics) {
      low = std::min(low, static_cast<double>(summary.first_step));
      high = std::max(high, static_cast<double>(summary.last_step));
    }
  }
  if (!(high >= low)) low = 0, high = 1;
  if (low > 0 && low < high * 0.05) low = 0;
  if (high <= low) high = low + 1;
  x_min_ = low;
  x_max_ = high + (high - low) * 0.01;
}

void ViewMetrics::draw_lines(const Context& context, const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    ImGui::PushID(line.run->record.id.c_str());
    const Color ink = theme().series_color(line.run->record.color_index);
    const bool hidden = !context.selection.shown.contains(line.run->record.id);
    const double strength = hidden ? 0.6 : 1;
    const float weight = line.current ? px(2.2F) : px(1.5F);
    if (smoothing_ > 0) {
      plot_decimated("###raw", line.trace->raw, ink, kRawAlpha * strength, px(1), log_);
      plot_decimated("###line", line.trace->smooth, ink, strength, weight, log_);
    } else {
      plot_decimated("###line", line.trace->raw, ink, strength, line.current ? px(1.8F) : px(1.2F), log_);
    }
    ImGui::PopID();
  }
}

void ViewMetrics::draw_marks(const std::vector<Line>& lines) const {
  const ImVec2 place = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  ImDrawList* list = ImPlot::GetPlotDrawList();
  ImPlot::PushPlotClipRect();
  const ImU32 ink = color(Token::error);
  for (const Line& line : lines) {
    const double distance = (x_max_ - x_min_) / std::max(1.0F, size.x) * px(kMarkDistance);
    for (const NonFiniteMark& mark : merge_marks(line.trace->raw.marks, distance)) {
      const float x = std::round(ImPlot::PlotToPixels(mark.x, 0).x);
      for (float y = place.y + px(14); y < place.y + size.y; y += px(6)) list->AddLine({x, y}, {x, y + px(3)}, ink, px(1));
      draw_icon(list, icons::triangle, {x, place.y + px(9)}, 13, ink);
      const std::string label = fmt::format("NaN x {}", text::format_count(static_cast<int64_t>(mark.count)));
      const float width = text_width(label, Role::axis);
      const bool left = x + px(10) + width > place.x + size.x;
      text_at(list, {left ? x - px(9) - width : x + px(9), place.y + px(2)}, label, Role::axis, ink);
    }
    if (!log_) continue;
    size_t below = 0;
    for (const double value : line.trace->raw.y) below += std::isfinite(value) && value <= 0 ? 1 : 0;
    if (below == 0) continue;
    const std::string label = fmt::format("{} x <= 0", text::format_count(static_cast<int64_t>(below)));
    text_at(list, {place.x + px(4), place.y + size.y - font_px(Role::axis) - px(4)}, label, Role::axis, color(Token::warn));
  }
  ImPlot::PopPlotClipRect();
}

void ViewMetrics::draw_cursor_card(const std::vector<Line>& lines, double x) const {
  struct Row {
    double value;
    const Line* line;
  };
  std::vector<Row> rows;
  double elapsed = -1;
  for (const Line& line : lines) {
    const auto value = value_at(line, x);
    if (!value) continue;
    rows.push_back({*value, &line});
    if (!line.series || (!line.current && elapsed >= 0)) continue;
    if (const auto index = index_at(*line.series, x, axis_, start_of(*line.run)))
      elapsed = line.series->x(*index, XAxis::elapsed, line.run->record.started_unix_ns);
  }
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return std::isnan(b.value) || a.value > b.value; });
  ImGui::BeginTooltip();
  text(x_text(x, axis_) + (elapsed >= 0 && axis_ != XAxis::elapsed ? "    " + text::format_elapsed(elapsed) : ""), Role::heading);
  const float width = px(230);
  for (size_t i = 0; i < std::min(rows.size(), kCursorRowsMax); ++i) {
    const history::RunRecord& run = rows[i].line->run->record;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled({start.x, start.y + px(3)}, {start.x + px(11), start.y + px(14)}, to_u32(theme().series_color(run.color_index)), px(3));
    const std::string value = text::format_value(rows[i].value);
    const float value_width = text_width(value, Role::number);
    text_at(list, {start.x + px(18), start.y}, run.name, rows[i].line->current ? Role::heading : Role::label, color(Token::text),
            width - value_width - px(30));
    text_at(list, {start.x + width - value_width, start.y}, value, Role::number, color(std::isfinite(rows[i].value) ? Token::text : Token::error));
    ImGui::Dummy({width, px(14)});
  }
  if (rows.size() > kCursorRowsMax) text(fmt::format("+{} more", rows.size() - kCursorRowsMax), Role::hint, Token::text3);
  ImGui::EndTooltip();
}

void ViewMetrics::draw_cursor(Context& context, const std::vector<Line>& lines) {
  const bool hovered = ImPlot::IsPlotHovered();
  if (hovered) next_cursor_ = ImPlot::GetPlotMousePos().x;
  const std::optional<double> x = context.selection.cursor_x;
  if (!x || *x < x_min_ || *x > x_max_) return;
  const ImVec2 place = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  ImPlot::PushPlotClipRect();
  ImDrawList* list = ImPlot::GetPlotDrawList();
  const float at = std::round(ImPlot::PlotToPixels(*x, 0).x);
  list->AddLine({at, place.y}, {at, place.y + size.y}, color(Token::text3), px(1));
  for (const Line& line : lines) {
    const auto value = value_at(line, *x);
    const std::vector<double>& drawn = line.trace->raw.x;
    if (!value || !std::isfinite(*value) || drawn.empty() || *x > drawn.back()) continue;
    list->AddCircleFilled(ImPlot::PlotToPixels(*x, *value), px(3), to_u32(theme().series_color(line.run->record.color_index)));
  }
  ImPlot::PopPlotClipRect();
  if (hovered) draw_cursor_card(lines, *x);
}

// From the smallest to the largest of the runs shown, with their mean.
void ViewMetrics::draw_band(const std::vector<Line>& lines) const {
  if (!band_ || lines.size() < 2) return;
  std::vector<double> x, low, high, mean;
  for (int i = 0; i < kBandPoints; ++i) {
    const double at = x_min_ + (x_max_ - x_min_) * i / (kBandPoints - 1);
    double smallest = 0, largest = 0, sum = 0;
    int count = 0;
    for (const Line& line : lines) {
      const auto value = value_at(line, at);
      if (!value || !std::isfinite(*value) || line.trace->raw.x.empty() || at > line.trace->raw.x.back()) continue;
      smallest = count == 0 ? *value : std::min(smallest, *value);
      largest = count == 0 ? *value : std::max(largest, *value);
      sum += *value;
      ++count;
    }
    if (count == 0) continue;
    x.push_back(at), low.push_back(smallest), high.push_back(largest), mean.push_back(sum / count);
  }
  if (x.empty()) return;
  ImPlotSpec fill;
  fill.FillColor = to_vec4(with_alpha(theme()[Token::text2], 0.16));
  fill.FillAlpha = 1;
  ImPlot::PlotShaded("###band", x.data(), low.data(), high.data(), static_cast<int>(x.size()), fill);
  ImPlot::PlotLine("###mean", x.data(), mean.data(), static_cast<int>(x.size()), line_spec(theme()[Token::text], 1, px(1.5F)));
}

// Where a run was resumed, a short tick at the bottom edge in its colour.
void ViewMetrics::draw_segments(const std::vector<Line>& lines) const {
  const ImVec2 place = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  ImPlot::PushPlotClipRect();
  for (const Line& line : lines) {
    for (const history::SegmentRecord& segment : line.run->parts.segments) {
      if (segment.segment < 2 || !segment.first_step) continue;
      double at = static_cast<double>(*segment.first_step);
      if (axis_ != XAxis::step) {
        if (!line.series) continue;
        const size_t index = line.series->lower_bound(at, XAxis::step);
        if (index >= line.series->size()) continue;
        at = line.series->x(index, axis_, start_of(*line.run));
      }
      const float x = std::round(ImPlot::PlotToPixels(at, 0).x);
      ImPlot::GetPlotDrawList()->AddLine({x, place.y + size.y - px(8)}, {x, place.y + size.y},
                                         to_u32(theme().series_color(line.run->record.color_index)), px(2));
    }
  }
  ImPlot::PopPlotClipRect();
}

// A click pins A and makes its step the current one; Shift and a click pins B.
void ViewMetrics::take_click(Context& context, const std::vector<Line>& lines) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool clicked = ImPlot::IsPlotHovered() && ImGui::IsMouseReleased(ImGuiMouseButton_Left) && io.MouseDragMaxDistanceSqr[0] < px(3) * px(3);
  if (!clicked) return;
  const double x = ImPlot::GetPlotMousePos().x;
  if (io.KeyShift && pin_a_) {
    pin_b_ = x;
    return;
  }
  pin_a_ = x;
  pin_b_.reset();
  for (const Line& line : lines) {
    if (!line.current) continue;
    if (axis_ == XAxis::step) context.selection.step = std::llround(x);
    if (!line.series) continue;
    const auto index = index_at(*line.series, x, axis_, start_of(*line.run));
    if (index) context.selection.step = line.series->step(*index), context.selection.time_unix_ns = line.series->time_unix_ns(*index);
  }
}

void ViewMetrics::draw_pins(const std::vector<Line>& lines) const {
  if (!pin_a_) return;
  const ImVec2 place = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  ImDrawList* list = ImPlot::GetPlotDrawList();
  ImPlot::PushPlotClipRect();
  const auto draw_pin = [&](double at, const char* name) {
    const float x = std::round(ImPlot::PlotToPixels(at, 0).x);
    list->AddLine({x, place.y}, {x, place.y + size.y}, color(Token::accent), px(1));
    text_at(list, {x + px(4), place.y + size.y - font_px(Role::axis) - px(14)}, name, Role::axis, color(Token::accent));
  };
  draw_pin(*pin_a_, "A");
  if (pin_b_) draw_pin(*pin_b_, "B");
  ImPlot::PopPlotClipRect();
  if (!pin_b_ || !ImPlot::IsPlotHovered()) return;
  ImGui::BeginTooltip();
  text(fmt::format("A {}  to  B {}", x_text(*pin_a_, axis_), x_text(*pin_b_, axis_)), Role::heading);
  for (size_t i = 0; i < std::min(lines.size(), kCursorRowsMax); ++i) {
    const auto a = value_at(lines[i], *pin_a_), b = value_at(lines[i], *pin_b_);
    if (!a || !b) continue;
    text(fmt::format("{:>12}  {}", text::format_value(*b - *a), lines[i].run->record.name), Role::code);
  }
  ImGui::EndTooltip();
}

void ViewMetrics::toggle_pinned(Context& context, const std::string& metric) {
  nlohmann::json names = nlohmann::json::array();
  if (const auto kept = context.kept.find(kKeptPins); kept != context.kept.end() && kept->is_array()) names = *kept;
  const auto found = std::find(names.begin(), names.end(), metric);
  if (found != names.end()) {
    names.erase(found);
  } else {
    names.push_back(metric);
  }
  context.kept[kKeptPins] = std::move(names);
  context.keep_wanted = true;
}

bool ViewMetrics::is_pinned(const Context& context, const std::string& metric) {
  const auto kept = context.kept.find(kKeptPins);
  return kept != context.kept.end() && kept->is_array() && std::find(kept->begin(), kept->end(), metric) != kept->end();
}

void ViewMetrics::draw_plot(Context& context, const Card& card, std::vector<Line>& lines, float width, float height) {
  for (Line& line : lines) line.series ? refresh(line, x_min_, x_max_, width) : refresh_reduced(context, card, line, x_min_, x_max_, width);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Line& line : lines) {
    const Decimated& drawn = line.trace->raw;
    if (!drawn.has_finite) continue;
    low = std::min(low, drawn.y_min);
    high = std::max(high, drawn.y_max);
  }
  if (!(high >= low)) low = 0, high = 1;
  if (log_) {
    high = std::max(high, 1e-12);
    low = low > 0 ? low * 0.9 : high * 1e-4;
    high *= 1.1;
  } else {
    const double pad = high > low ? (high - low) * 0.06 : std::max(std::abs(high) * 0.1, 1e-12);
    if (low >= 0 && low < pad * 2) {
      low = 0;
    } else {
      low -= pad;
    }
    high += pad;
  }
  const WithFont axis_font(Role::axis);
  if (!ImPlot::BeginPlot("###plot", {width, height}, ImPlotFlags_NoTitle | ImPlotFlags_NoLegend | ImPlotFlags_NoMenus | ImPlotFlags_NoMouseText))
    return;
  ImPlot::SetupAxes(nullptr, nullptr, ImPlotAxisFlags_NoHighlight | ImPlotAxisFlags_NoTickMarks,
                    ImPlotAxisFlags_NoHighlight | ImPlotAxisFlags_NoTickMarks | ImPlotAxisFlags_Lock);
  ImPlot::SetupAxisLinks(ImAxis_X1, &x_min_, &x_max_);
  static int elapsed_marker = 0;
  ImPlot::SetupAxisFormat(ImAxis_X1, format_tick, axis_ == XAxis::elapsed ? &elapsed_marker : nullptr);
  ImPlot::SetupAxisFormat(ImAxis_Y1, format_tick);
  if (log_) ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
  ImPlot::SetupAxisLimits(ImAxis_Y1, low, high, ImPlotCond_Always);
  ImPlot::SetupFinish();
  if (ImPlot::IsPlotHovered()) {
    const ImGuiIO& io = ImGui::GetIO();
    if (io.MouseWheel != 0 || ImGui::IsMouseDragging(ImGuiMouseButton_Left)) fitted_ = false;
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) fitted_ = true;
  }
  draw_band(lines);
  draw_lines(context, lines);
  draw_segments(lines);
  draw_marks(lines);
  draw_pins(lines);
  draw_cursor(context, lines);
  take_click(context, lines);
  ImPlot::EndPlot();
}

void ViewMetrics::draw_card_title(Context& context, const Card& card, const std::vector<Line>& lines, float width) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (ImGui::InvisibleButton("###title", {width - px(28), px(kTitleHeight)})) large_ = large_.empty() ? card.metric : "";
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", large_.empty() ? "Click for this plot alone" : "Click for all plots");
  size_t visible = 0, nonfinite = 0;
  for (const Line& line : lines) {
    visible += line.trace->raw.columns_with_points;
    nonfinite += line.trace->raw.columns_nonfinite;
  }
  const float y = start.y + px(kTitleHeight) / 2;
  ImGui::SetCursorScreenPos({start.x + width - px(28), start.y});
  if (ImGui::InvisibleButton("###metrics.pin", {px(24), px(kTitleHeight)})) toggle_pinned(context, card.metric);
  const bool pin_hovered = ImGui::IsItemHovered(), pinned = is_pinned(context, card.metric);
  if (pin_hovered) ImGui::SetTooltip("%s", pinned ? "Let it go back to its place" : "Show it first");
  draw_icon(list, kPin, {start.x + width - px(16), y}, 14, color(pinned ? Token::accent : pin_hovered ? Token::text : Token::text3));
  float right = start.x + width - px(32);
  if (const auto run = context.run()) {
    const auto latest = run->latest.find(card.metric);
    if (latest != run->latest.end()) {
      const double value = latest->second.value;
      const std::string shown = text::format_value(value);
      right -= text_width(shown, Role::number);
      text_at(list, {right, y - font_px(Role::number) / 2 - px(1)}, shown, Role::number, color(std::isfinite(value) ? Token::text2 : Token::error));
      right -= px(12);
    }
  }
  std::string warning;
  if (nonfinite * 2 > visible) warning = "mostly NaN";
  const bool left_out = leaves_out(context, card.metric);
  if (left_out) warning = "too long: only steps can be drawn";
  const float warning_width = warning.empty() ? 0 : text_width(warning, Role::hint) + px(8);
  const float title_width = std::min(text_width(card.title, Role::heading), right - start.x - px(10) - warning_width);
  text_at(list, {start.x + px(10), y - font_px(Role::heading) / 2 - px(1)}, card.title, Role::heading, color(Token::text), title_width + 1);
  if (!warning.empty())
    text_at(list, {start.x + px(18) + title_width, y - font_px(Role::hint) / 2 - px(1)}, warning, Role::hint,
            color(left_out ? Token::warn : Token::error));
}

void ViewMetrics::draw_card(Context& context, const Card& card, float width, float height) {
  push_name_id(card.metric);
  std::vector<Line> lines = lines_of(context, card.metric);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRect(start, {start.x + width, start.y + height}, color(Token::line), px(4), px(1));
  ImGui::BeginGroup();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  draw_card_title(context, card, lines, width);
  const float left = px(4);
  ImGui::SetCursorScreenPos({start.x + left, start.y + px(kTitleHeight)});
  draw_plot(context, card, lines, width - left - px(6), height - px(kTitleHeight) - px(4));
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy({width, height});
  ImGui::PopStyleVar();
  ImGui::EndGroup();
  ImGui::PopID();
}

void ViewMetrics::draw_grid(Context& context, const std::vector<Card>& list) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = px(8);
  const bool single = !large_.empty();
  const int count = single ? 1 : static_cast<int>(list.size());
  int across = single ? 1 : std::max(1, static_cast<int>((room.x + gap) / (px(kCardWidthMin) + gap)));
  across = std::min(across, count);
  if (count == 4 && across == 3) across = 2;
  const int down = (count + across - 1) / across;
  const float width = std::floor((room.x - gap * static_cast<float>(across - 1)) / static_cast<float>(across));
  const float height = std::max(px(kCardHeightMin), std::floor((room.y - gap * static_cast<float>(down - 1)) / static_cast<float>(down)));
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  int place = 0;
  for (const Card& card : list) {
    if (single && card.metric != large_) continue;
    const int column = place % across, row = place / across;
    ++place;
    const ImVec2 corner{origin.x + static_cast<float>(column) * (width + gap), origin.y + static_cast<float>(row) * (height + gap)};
    ImGui::SetCursorScreenPos(corner);
    if (!ImGui::IsRectVisible(corner, {corner.x + width, corner.y + height})) {
      ImGui::Dummy({width, height});  // a plot that is scrolled away asks for no data
      continue;
    }
    draw_card(context, card, width, height);
  }
}

void ViewMetrics::draw(Context& context) {
  draw_controls(context);
  const auto current = context.run();
  if (current && current->details == Loading::failed) {
    error_state(current->details_error);
    return;
  }
  const std::vector<Card> list = cards(context);
  if (!large_.empty()) {
    const bool there = std::any_of(list.begin(), list.end(), [&](const Card& card) { return card.metric == large_; });
    if (!there || (ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) && ImGui::IsKeyPressed(ImGuiKey_Escape))) large_.clear();
  }
  if (list.empty()) {
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
    return;
  }
  if (fitted_) fit_x(context);
  next_cursor_.reset();
  const bool was_waiting = turns_.first_waiting.has_value();
  turns_ = {context.still ? INT64_MAX / 2 : kSmoothedPointsPerFrame, context.still ? INT64_MAX / 2 : kColumnsPerFrame, 0,
            turns_.first_waiting.value_or(0), std::nullopt};
  if (ImGui::BeginChild("###metrics.grid", {0, 0})) draw_grid(context, list);
  ImGui::EndChild();
  if (was_waiting || turns_.first > 0 || turns_.first_waiting) context.redraw_within_s = 0;
  if (!context.still) context.selection.cursor_x = next_cursor_;
}

namespace {
const RegisterView registration({"metrics", "Metrics", "M", make_view<ViewMetrics>});
}

}  // namespace ringwright::gui
