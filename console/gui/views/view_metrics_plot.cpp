// One plot of the Metrics view.
#include <implot.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "console/gui/data/run_text.h"
#include "console/gui/views/metric_text.h"
#include "console/gui/views/view_metrics.h"
#include "console/gui/widgets/short_text.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr double kRawAlpha = 0.17, kBandAlpha = 0.16, kHiddenStrength = 0.6, kFarStrength = 0.25;
constexpr float kMarkDistance = 10, kNamedWidthMin = 560;
constexpr size_t kMarkersBelow = 100, kCursorRowsMax = 8, kLinesNamedMax = 6;

// `elapsed` is set for an axis of seconds.
int format_tick(double value, char* buffer, int size, void* elapsed) {
  const auto print = [&](std::string_view label) {
    return std::snprintf(buffer, static_cast<size_t>(size), "%.*s", static_cast<int>(label.size()), label.data());
  };
  if (elapsed != nullptr)
    return print(value > kClockFrom_s ? time_of_day_text(static_cast<int64_t>(value * 1e9)).substr(0, 5) : text::format_elapsed(value));
  const double magnitude = std::abs(value);
  if (magnitude >= 1e4) return print(text::format_short(value));
  if (magnitude < 1e-4 && magnitude > 1e-12) return std::snprintf(buffer, static_cast<size_t>(size), "%.2g", value);
  return print(text::format_value(magnitude < 1e-12 ? 0 : value));
}

// Of the plot that is being drawn.
PlotScale scale_of_plot(bool log) {
  const ImVec2 place = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  const ImPlotRect limits = ImPlot::GetPlotLimits();
  PlotScale scale;
  scale.log_y = log;
  scale.left = place.x - 2, scale.right = static_cast<double>(place.x) + size.x + 2;
  scale.x_scale = size.x / (limits.X.Max - limits.X.Min);
  scale.x_offset = place.x - limits.X.Min * scale.x_scale;
  const double low = log ? std::log10(limits.Y.Min) : limits.Y.Min, high = log ? std::log10(limits.Y.Max) : limits.Y.Max;
  scale.y_scale = -size.y / (high - low);
  scale.y_offset = static_cast<double>(place.y) + size.y - low * scale.y_scale;
  return scale;
}

// A swatch, a name and a number.
void tooltip_row(Color ink, std::string_view name, bool strong, double value, float width) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({start.x, start.y + px(3)}, {start.x + px(11), start.y + px(14)}, to_u32(ink), px(3));
  const ShortText shown("{}", text::format_value(value));
  const float value_width = text_width(shown, Role::number);
  text_at(list, {start.x + px(18), start.y}, name, strong ? Role::heading : Role::label, color(Token::text), width - value_width - px(30));
  text_at(list, {start.x + width - value_width, start.y}, shown, Role::number, color(std::isfinite(value) ? Token::text : Token::error));
  ImGui::Dummy({width, px(14)});
}

}  // namespace

std::pair<double, double> ViewMetrics::y_limits(const Plot& plot) const {
  if (plot.y_range) return *plot.y_range;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Line& line : plot.lines) {
    const Decimated& drawn = line.trace->raw;
    if (!drawn.has_finite || (log_ && !(drawn.y_max > 0))) continue;
    low = std::min(low, log_ ? drawn.y_positive_min : drawn.y_min);
    high = std::max(high, drawn.y_max);
  }
  if (!(high >= low)) low = log_ ? 0.1 : 0, high = 1;
  if (log_) return {low * 0.9, high * 1.1};
  const double pad = high > low ? (high - low) * 0.06 : std::max(std::abs(high) * 0.1, 1e-12);
  return {low >= 0 && low < pad * 2 ? 0 : low - pad, high + pad};
}

void ViewMetrics::draw_lines(ImDrawList* list, const Plot& plot, const PlotScale& scale) const {
  const bool banded = bands_ == Bands::runs && plot.lines.size() > 1;
  for (const Line& line : plot.lines) {
    const Drawn& drawn = *line.drawn;
    double strength = drawn.hidden ? kHiddenStrength : 1;
    if (!near_run_.empty() && near_run_ != line.record().id) strength *= kFarStrength;
    const Trace& trace = *line.trace;
    const auto look = [&](double alpha, float weight) { return LineLook{to_u32(with_alpha(drawn.ink, alpha)), px(weight), drawn.dash}; };
    // Under a band single lines are the background, but for the one that is looked at.
    const bool thin = banded && near_run_ != line.record().id;
    if (smoothing_ > 0) draw_line(list, trace.raw, scale, {to_u32(with_alpha(drawn.ink, kRawAlpha * strength)), px(1)});
    const Decimated& main = smoothing_ > 0 ? trace.smooth : trace.raw;
    LineLook main_look = look(thin ? strength * 0.45 : strength, thin            ? 1
                                                                 : drawn.current ? (smoothing_ > 0 ? 2.2F : 1.8F)
                                                                                 : (smoothing_ > 0 ? 1.5F : 1.2F));
    if (main.points_in_view < kMarkersBelow && !thin) main_look.dot_radius_px = px(2);
    draw_line(list, main, scale, main_look);
  }
}

// From the smallest to the largest of what belongs together, with the mean.
void ViewMetrics::draw_bands(Plot& plot) {
  if (bands_ == Bands::off) return;
  ImDrawList* list = ImPlot::GetPlotDrawList();
  const PlotScale scale = scale_of_plot(log_);
  for (size_t i = 0; i < plot.bands.size(); ++i) {
    const MetricBand& band = plot.bands[i];
    const Color ink = band_ink(i);
    gui::draw_band(list, band.x().data(), band.low().data(), band.high().data(), band.x().size(), scale, to_u32(with_alpha(ink, kBandAlpha)));
  }
  draw_rank_band(list, plot, scale);
}

Color ViewMetrics::band_ink(size_t band) const { return groups_.empty() ? theme()[Token::text] : theme().series_color(static_cast<int>(band)); }

void ViewMetrics::draw_means(ImDrawList* list, const Plot& plot, const PlotScale& scale) const {
  for (size_t i = 0; i < plot.bands.size(); ++i) {
    const MetricBand& band = plot.bands[i];
    draw_curve(list, band.x().data(), band.mean().data(), band.x().size(), scale, {to_u32(band_ink(i)), px(2)});
  }
}

void ViewMetrics::draw_rank_band(ImDrawList* list, const Plot& plot, const PlotScale& scale) {
  const std::optional<std::vector<Decimated>>& ranks = plot.rank_band.ranks.value();
  const auto current = std::find_if(plot.lines.begin(), plot.lines.end(), [](const Line& line) { return line.current(); });
  if (bands_ != Bands::ranks || !ranks || ranks->size() < 2 || current == plot.lines.end()) return;
  rank_curve_.begin(x_min_, x_max_, static_cast<size_t>(std::max(1.0F, ImPlot::GetPlotSize().x)));
  for (const Decimated& rank : *ranks) rank_curve_.add(rank);
  rank_curve_.finish();
  const MetricBand& band = rank_curve_;
  gui::draw_band(list, band.x().data(), band.low().data(), band.high().data(), band.x().size(), scale,
                 to_u32(with_alpha(current->drawn->ink, 2 * kBandAlpha)));
}

// The names at the right edge, each as near to its line's end as the others let it.
void ViewMetrics::draw_line_ends(ImDrawList* list, const Plot& plot, const PlotScale& scale) const {
  const ImVec2 place = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  if (plot.lines.size() > kLinesNamedMax || plot.lines.size() < 2 || size.x < px(kNamedWidthMin) || !groups_.empty()) return;
  struct End {
    const Line* line;
    float y;
  };
  std::array<End, kLinesNamedMax> ends{};
  size_t count = 0;
  for (const Line& line : plot.lines) {
    const Decimated& drawn = smoothing_ > 0 ? line.trace->smooth : line.trace->raw;
    for (size_t i = drawn.y.size(); i-- > 0;) {
      if (!scale.shows(drawn.y[i])) continue;
      ends[count++] = {&line, static_cast<float>(scale.y(drawn.y[i]))};
      break;
    }
  }
  std::sort(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(count), [](const End& a, const End& b) { return a.y < b.y; });
  const float row = px(17);
  float top = place.y + px(2);
  for (size_t i = 0; i < count; ++i) {
    const float last = place.y + size.y - row * static_cast<float>(count - i);  // the others need room below
    const float y = std::clamp(ends[i].y - row / 2, top, std::max(top, last));
    const std::string& name = ends[i].line->record().name;
    const float width = std::min(text_width(name, Role::hint), px(190)), left = place.x + size.x - width - px(20);
    list->AddRectFilled({left - px(4), y}, {place.x + size.x, y + row}, to_u32(with_alpha(theme()[Token::bg1], 0.85)), px(3));
    list->AddRectFilled({left, y + px(4)}, {left + px(9), y + px(13)}, to_u32(ends[i].line->drawn->ink), px(2));
    text_at(list, {left + px(14), y}, name, Role::hint, color(Token::text2), width + 1);
    top = y + row;
  }
}

// Where a run was resumed, a short tick at the bottom edge in its colour.
void ViewMetrics::draw_segments(const Plot& plot) const {
  const ImVec2 place = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  for (const Line& line : plot.lines) {
    for (const int64_t step : line.drawn->resumed_at) {
      double at = static_cast<double>(axis_ == XAxis::since_resume ? step - line.drawn->origin : step);
      if (axis_ != XAxis::step && axis_ != XAxis::since_resume) {
        if (!line.series) continue;
        const size_t index = line.series->lower_bound(at, XAxis::step);
        if (index >= line.series->size()) continue;
        at = line.series->x(index, axis_, line.drawn->origin);
      }
      const float x = std::round(ImPlot::PlotToPixels(at, 0).x);
      ImPlot::GetPlotDrawList()->AddLine({x, place.y + size.y - px(8)}, {x, place.y + size.y}, to_u32(line.drawn->ink), px(2));
    }
  }
}

void ViewMetrics::draw_marks(const Plot& plot) {
  const ImVec2 place = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  ImDrawList* list = ImPlot::GetPlotDrawList();
  const ImU32 ink = color(Token::error);
  const double pixel = (x_max_ - x_min_) / std::max(1.0F, size.x);
  size_t below = 0;
  float label_end = place.x;
  for (const Line& line : plot.lines) {
    const Decimated& drawn = line.trace->raw;
    merge_marks_into(marks_, drawn.marks, pixel * px(kMarkDistance));
    const int rank = line.series && line.record().world_size > 1 ? line.series->rank() : -1;
    for (const NonFiniteMark& mark : marks_) {
      const float x = std::round(ImPlot::PlotToPixels(mark.x, 0).x);
      for (float y = place.y + px(14); y < place.y + size.y; y += px(6)) list->AddLine({x, y}, {x, y + px(3)}, ink, px(1));
      draw_icon(list, icons::triangle, {x, place.y + px(9)}, 13, ink);
      const std::string label = mark_text(mark, rank);
      const float width = text_width(label, Role::axis);
      const bool left = x + px(10) + width > place.x + size.x;
      const float label_x = left ? x - px(9) - width : x + px(9);
      if (label_x < label_end) continue;  // on the label before: its triangle stays
      text_at(list, {label_x, place.y + px(2)}, label, Role::axis, ink);
      label_end = label_x + width + px(6);
    }
    if (!log_) continue;
    below += drawn.nonpositive_in_view > 0 ? drawn.nonpositive_in_view : drawn.nonpositive_x.size();
    float last = -1e6F;
    for (const double at : drawn.nonpositive_x) {
      const float x = std::round(ImPlot::PlotToPixels(at, 0).x), bottom = place.y + size.y;
      if (x - last < px(3)) continue;
      list->AddTriangleFilled({x - px(3), bottom - px(6)}, {x + px(3), bottom - px(6)}, {x, bottom - px(1)}, to_u32(line.drawn->ink));
      last = x;
    }
  }
  if (below == 0) return;
  const ShortText label("{} x <= 0", text::format_count(static_cast<int64_t>(below)));
  const ImVec2 at{place.x + px(6), place.y + size.y - font_px(Role::axis) - px(10)};
  list->AddRectFilled({at.x - px(3), at.y}, {at.x + text_width(label, Role::axis) + px(3), at.y + font_px(Role::axis) + px(3)}, color(Token::bg1));
  text_at(list, at, label, Role::axis, color(Token::warn));
}

void ViewMetrics::draw_cursor_card(const Plot& plot, double x) {
  struct Row {
    double value;
    const Line* line;
  };
  std::vector<Row> rows;
  double elapsed = -1;
  for (const Line& line : plot.lines) {
    const auto value = value_at(line, x);
    if (!value) continue;
    rows.push_back({*value, &line});
    if (!line.series || (!line.current() && elapsed >= 0)) continue;
    if (const auto index = index_at(line, x)) elapsed = line.series->x(*index, XAxis::elapsed, line.record().started_unix_ns);
  }
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return std::isnan(b.value) || a.value > b.value; });
  ImGui::BeginTooltip();
  text(metric_x_text(x, axis_) + (elapsed >= 0 && axis_ != XAxis::elapsed ? "    " + text::format_elapsed(elapsed) : ""), Role::heading);
  for (size_t i = 0; i < std::min(rows.size(), kCursorRowsMax); ++i) {
    const Line& line = *rows[i].line;
    tooltip_row(line.drawn->ink, line.record().name, line.current() || line.record().id == near_run_, rows[i].value, px(230));
  }
  if (rows.size() > kCursorRowsMax) text(fmt::format("+{} more", rows.size() - kCursorRowsMax), Role::hint, Token::text3);
  ImGui::EndTooltip();
}

void ViewMetrics::draw_cursor(const Context& context, const Plot& plot) {
  const std::optional<double> x = context.selection.cursor_x;
  if (!x || *x < x_min_ || *x > x_max_) return;
  const ImVec2 place = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  ImDrawList* list = ImPlot::GetPlotDrawList();
  const float at = std::round(ImPlot::PlotToPixels(*x, 0).x);
  list->AddLine({at, place.y}, {at, place.y + size.y}, color(Token::text3), px(1));
  for (const Line& line : plot.lines) {
    const auto value = value_at(line, *x);
    const std::vector<double>& drawn = line.trace->raw.x;
    if (!value || !std::isfinite(*value) || (log_ && *value <= 0) || drawn.empty() || *x > drawn.back()) continue;
    list->AddCircleFilled(ImPlot::PlotToPixels(*x, *value), px(3), to_u32(line.drawn->ink));
  }
}

void ViewMetrics::draw_pins(const Plot& plot) const {
  if (!pin_a_) return;
  const ImVec2 place = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  ImDrawList* list = ImPlot::GetPlotDrawList();
  const auto draw_pin = [&](double at, const char* name) {
    const float x = std::round(ImPlot::PlotToPixels(at, 0).x);
    list->AddLine({x, place.y}, {x, place.y + size.y}, color(Token::accent), px(1));
    text_at(list, {x + px(4), place.y + size.y - font_px(Role::axis) - px(14)}, name, Role::axis, color(Token::accent));
  };
  draw_pin(*pin_a_, "A");
  if (!pin_b_) return;
  draw_pin(*pin_b_, "B");
  if (!plot.hovered) return;
  ImGui::BeginTooltip();
  text(fmt::format("A {}  to  B {}", metric_x_text(*pin_a_, axis_), metric_x_text(*pin_b_, axis_)), Role::heading);
  for (size_t i = 0; i < std::min(plot.lines.size(), kCursorRowsMax); ++i) {
    const Line& line = plot.lines[plot.lines.size() - 1 - i];
    const auto a = value_at(line, *pin_a_), b = value_at(line, *pin_b_);
    if (a && b) tooltip_row(line.drawn->ink, line.record().name, line.current(), *b - *a, px(230));
  }
  ImGui::EndTooltip();
}

// The range that is being drawn with the mouse, in all plots.
void ViewMetrics::draw_selection() const {
  if (!drag_from_ || !drag_to_) return;
  const ImVec2 place = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  const float a = ImPlot::PlotToPixels(*drag_from_, 0).x, b = ImPlot::PlotToPixels(*drag_to_, 0).x;
  ImPlot::GetPlotDrawList()->AddRectFilled({std::min(a, b), place.y}, {std::max(a, b), place.y + size.y},
                                           to_u32(with_alpha(theme()[Token::accent], 0.18)));
}

void ViewMetrics::draw_plot(Context& context, Plot& plot, float width, float height) {
  refresh_plot(context, plot, width);
  const auto [low, high] = y_limits(plot);
  const WithFont axis_font(Role::axis);
  // What the mouse does is done by this view: a drag chooses a range in all plots.
  constexpr ImPlotFlags kFlags = ImPlotFlags_NoTitle | ImPlotFlags_NoLegend | ImPlotFlags_NoMenus | ImPlotFlags_NoMouseText | ImPlotFlags_NoInputs;
  if (!ImPlot::BeginPlot("###plot", {width, height}, kFlags)) return;
  constexpr ImPlotAxisFlags kAxisFlags = ImPlotAxisFlags_NoHighlight | ImPlotAxisFlags_NoTickMarks;
  ImPlot::SetupAxes(nullptr, nullptr, kAxisFlags, kAxisFlags | ImPlotAxisFlags_Lock);
  ImPlot::SetupAxisLimits(ImAxis_X1, x_min_, x_max_, ImPlotCond_Always);
  static int elapsed_marker = 0;
  ImPlot::SetupAxisFormat(ImAxis_X1, format_tick, axis_ == XAxis::elapsed ? &elapsed_marker : nullptr);
  ImPlot::SetupAxisFormat(ImAxis_Y1, format_tick);
  if (log_) ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
  ImPlot::SetupAxisLimits(ImAxis_Y1, low, high, ImPlotCond_Always);
  ImPlot::SetupFinish();
  const PlotScale scale = scale_of_plot(log_);
  take_mouse(context, plot, scale);
  ImDrawList* list = ImPlot::GetPlotDrawList();
  ImPlot::PushPlotClipRect();
  draw_bands(plot);
  draw_lines(list, plot, scale);
  draw_means(list, plot, scale);
  draw_segments(plot);
  draw_marks(plot);
  draw_line_ends(list, plot, scale);
  draw_selection();
  draw_pins(plot);
  draw_cursor(context, plot);
  ImPlot::PopPlotClipRect();
  if (plot.hovered && !drag_from_ && context.selection.cursor_x && !(pin_a_ && pin_b_)) draw_cursor_card(plot, *context.selection.cursor_x);
  ImPlot::EndPlot();
}

}  // namespace ringwright::gui
