// What the plots of the Metrics view are made of: smoothed, decimated and summed up a little in each frame, as much as there is time for.
#include <algorithm>
#include <cmath>
#include <limits>

#include "console/gui/data/reduced.h"
#include "console/gui/views/view_metrics.h"

namespace ringwright::gui {
namespace {

// What a frame may spend on lines that have changed: about 3 ms.
constexpr int64_t kSmoothedPointsPerFrame = 60'000, kColumnsPerFrame = 4'000;
constexpr double kMovingSeconds = 0.2;
constexpr size_t kBandColumns = 300;
constexpr double kEndShare = 0.01;    // of the range, free behind the last point
constexpr double kStartShare = 0.05;  // a range that begins so near to 0 begins there

history::StepRange steps_of(const PlotRange& range) {
  return {static_cast<int64_t>(std::floor(range.x_min)) + range.origin, static_cast<int64_t>(std::ceil(range.x_max)) + range.origin};
}

}  // namespace

void ViewMetrics::begin_turns(Context& context) {
  is_moving_ = !context.still && moved_at_s_ >= 0 && ImGui::GetTime() - moved_at_s_ < kMovingSeconds;
  if (is_moving_) context.redraw_within_s = std::min(context.redraw_within_s, kMovingSeconds);
  const int64_t unlimited = std::numeric_limits<int64_t>::max() / 2;
  turns_ = {context.still ? unlimited : kSmoothedPointsPerFrame, context.still ? unlimited : kColumnsPerFrame, 0, turns_.first_waiting.value_or(0),
            std::nullopt};
}

// Whether it is this trace's turn in this frame. One that was never drawn does not wait.
bool ViewMetrics::may_refresh(const Trace& trace) {
  const int turn = turns_.asked++;
  if (trace.version == 0) return true;
  if (turn >= turns_.first && turns_.columns > 0 && turns_.points > 0) return true;
  if (turn >= turns_.first && !turns_.first_waiting) turns_.first_waiting = turn;
  return false;
}

void ViewMetrics::refresh(const Line& line, const PlotRange& range) {
  Trace& trace = *line.trace;
  const std::vector<int64_t>& resumed_at = line.drawn->resumed_at;
  const bool caught_up = smoothing_ <= 0 || trace.smoothed.has_followed(*line.series, smoothing_, resumed_at);
  if (caught_up && trace.version == line.series->version() && trace.key == range && trace.weight == smoothing_) return;
  if (!may_refresh(trace)) return;
  if (!caught_up) {
    const size_t before = trace.smoothed.points_done();
    trace.smoothed.follow(*line.series, smoothing_, resumed_at, static_cast<size_t>(std::max<int64_t>(turns_.points, 1)));
    turns_.points -= static_cast<int64_t>(std::max(trace.smoothed.points_done(), before) - before);
  }
  turns_.columns -= static_cast<int64_t>(range.columns) * (smoothing_ > 0 ? 2 : 1);
  decimate_into(trace.raw, *line.series, range);
  if (smoothing_ > 0) {
    decimate_into(trace.smooth, trace.smoothed.series(), range);
  } else {
    trace.smooth.clear();
  }
  trace.version = line.series->version();
  trace.key = range;
  trace.weight = smoothing_;
  ++trace.drawn;
}

void ViewMetrics::refresh_reduced(Context& context, const Plot& plot, const Line& line, const PlotRange& range) {
  Trace& trace = *line.trace;
  if (!(trace.asked == range) && !trace.reduced.waiting()) {
    trace.asked = range;
    trace.reduced.ask(context.background, [id = line.record().id, metric = plot.card.metric, steps = steps_of(range), pixels = range.columns](
                                              const Background::Access& access) { return access.reader.reduce(id, metric, -1, steps, pixels); });
  }
  const bool answered = trace.reduced.take();
  const bool same = trace.weight == smoothing_ && trace.key.origin == range.origin;
  if (!trace.reduced.value() || (!answered && same)) return;
  trace.raw = decimate(*trace.reduced.value(), range.origin);
  trace.smooth = smoothing_ > 0 ? smooth(*trace.reduced.value(), smoothing_, range.origin, line.drawn->resumed_at) : Decimated{};
  trace.weight = smoothing_;
  trace.key.origin = range.origin;
  ++trace.drawn;
}

void ViewMetrics::refresh_bands(Plot& plot) {
  uint64_t state = bands_ == Bands::runs && plot.lines.size() > 1 ? 1 : 0;
  if (state == 0) {
    plot.bands.clear();
    plot.bands_of = 0;
    return;
  }
  // Changes with every trace that is made anew, with what belongs together, and with smoothing.
  const auto mix = [&](uint64_t value) { state = (state ^ value) * 0x9E3779B97F4A7C15ULL, state ^= state >> 29; };
  for (const Line& line : plot.lines) mix(line.trace->drawn), mix(line.drawn->group + 1), mix(reinterpret_cast<uintptr_t>(line.trace));
  mix(groups_.size() + 1);
  if (plot.bands_of == state) return;
  plot.bands_of = state;
  plot.bands.resize(std::max<size_t>(1, groups_.size()));
  for (size_t group = 0; group < plot.bands.size(); ++group) {
    MetricBand& band = plot.bands[group];
    band.begin(x_min_, x_max_, kBandColumns);
    for (const Line& line : plot.lines)
      if (line.drawn->group == group) band.add(smoothing_ > 0 ? line.trace->smooth : line.trace->raw);
    band.finish();
  }
}

// Every rank's own curve of the current run, from the history.
void ViewMetrics::refresh_rank_band(Context& context, Plot& plot, const PlotRange& range) {
  RankBand& band = plot.rank_band;
  const auto current = std::find_if(plot.lines.begin(), plot.lines.end(), [](const Line& line) { return line.current(); });
  if (bands_ != Bands::ranks || current == plot.lines.end() || (axis_ != XAxis::step && axis_ != XAxis::since_resume)) {
    if (!band.run.empty()) band = {};
    return;
  }
  band.ranks.take();
  const std::string& run = current->record().id;
  const uint64_t version = current->series ? current->series->version() : 0;
  PlotRange asked = range;
  asked.origin = current->drawn->origin;
  if (band.ranks.waiting() || (band.run == run && band.asked == asked && band.version == version)) return;
  band.run = run, band.asked = asked, band.version = version;
  band.ranks.ask(context.background, [run, metric = plot.card.metric, asked](const Background::Access& access) {
    std::vector<Decimated> ranks;
    for (const int rank : access.reader.metric_ranks(run, metric))
      if (rank >= 0) ranks.push_back(decimate(access.reader.reduce(run, metric, rank, steps_of(asked), asked.columns), asked.origin));
    return ranks;
  });
}

void ViewMetrics::refresh_plot(Context& context, Plot& plot, float width) {
  PlotRange range{x_min_, x_max_, static_cast<size_t>(std::max(is_moving_ ? width / 2 : width, 1.0F)), axis_, 0};
  for (const Line& line : plot.lines) {
    range.origin = line.series || axis_ == XAxis::since_resume ? line.drawn->origin : 0;
    line.series ? refresh(line, range) : refresh_reduced(context, plot, line, range);
  }
  refresh_bands(plot);
  refresh_rank_band(context, plot, range);
}

// Over the runs with a swatch, all of their metrics.
void ViewMetrics::fit_x() {
  if (range_ == Range::zoomed) return;
  const double width = x_max_ - x_min_;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto take = [&](double first, double last) { low = std::min(low, first), high = std::max(high, last); };
  for (const Drawn& drawn : drawn_) {
    if (drawn.hidden && drawn_.size() > 1) continue;
    for (const auto& [name, series] : drawn.run->metrics) {
      if (series->empty()) continue;
      const size_t end = series->size() - 1;
      const double since = static_cast<double>(series->step(end) - last_steps_);
      const size_t first = range_ == Range::last ? std::min(end, series->upper_bound(since, XAxis::step)) : 0;
      take(series->x(first, axis_, drawn.origin), series->x(end, axis_, drawn.origin));
    }
    if (axis_ != XAxis::step && axis_ != XAxis::since_resume) continue;
    const int64_t origin = axis_ == XAxis::step ? 0 : drawn.origin;
    for (const auto& [name, summary] : drawn.run->parts.unread_metrics) {
      const int64_t first = range_ == Range::last ? std::max(summary.first_step, summary.last_step - last_steps_ + 1) : summary.first_step;
      take(static_cast<double>(first - origin), static_cast<double>(summary.last_step - origin));
    }
  }
  if (!(high >= low)) low = 0, high = 1;
  if (range_ == Range::all && low > 0 && low < high * kStartShare) low = 0;
  if (high <= low) high = low + 1;
  x_max_ = high + (high - low) * kEndShare;
  x_min_ = low;
  if (range_ == Range::follow) x_max_ = high + width * kEndShare, x_min_ = x_max_ - width;
}

std::optional<size_t> ViewMetrics::index_at(const Line& line, double x) const {
  if (!line.series || line.series->empty()) return std::nullopt;
  const size_t after = line.series->upper_bound(x, axis_, line.drawn->origin);
  return after == 0 ? std::nullopt : std::optional(after - 1);
}

// The value of what is drawn at x, or of the last point before it.
std::optional<double> ViewMetrics::value_at(const Line& line, double x) const {
  if (line.series) {
    const auto index = index_at(line, x);
    const Series& series = smoothing_ > 0 ? line.trace->smoothed.series() : *line.series;
    return index && *index < series.size() ? std::optional(series.value(*index)) : std::nullopt;
  }
  const Decimated& drawn = smoothing_ > 0 ? line.trace->smooth : line.trace->raw;
  const auto after = std::upper_bound(drawn.x.begin(), drawn.x.end(), x);
  if (after == drawn.x.begin()) return std::nullopt;
  return drawn.y[static_cast<size_t>(after - drawn.x.begin()) - 1];
}

}  // namespace ringwright::gui
