#include "console/gui/data/timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/median.h"

namespace ringwright::gui {
namespace {

constexpr double kBehindFrom = 1.05;  // of the others' median

int64_t overlap_ns(const history::SpanRecord& span, TimeRange range) {
  return std::max<int64_t>(0, std::min(span.end_ns, range.end_ns) - std::max(span.begin_ns, range.begin_ns));
}

int64_t median_or_zero(std::vector<int64_t> values) { return values.empty() ? 0 : median(std::move(values)); }

// By rank, then by phase.
using Busy = std::map<int, std::map<std::string, int64_t>>;

int64_t computing_ns(const std::map<std::string, int64_t>& phases) {
  int64_t sum = 0;
  for (const auto& [phase, time_ns] : phases) sum += is_wait(phase) ? 0 : time_ns;
  return sum;
}

// The phase in which the rank lies farthest behind the others.
void find_phase(Straggler& straggler, const Busy& busy) {
  int64_t most = -1;
  for (const auto& [phase, its_ns] : busy.at(straggler.rank)) {
    if (is_wait(phase)) continue;
    std::vector<int64_t> others;
    for (const auto& [rank, phases] : busy) {
      const auto found = phases.find(phase);
      if (rank != straggler.rank) others.push_back(found == phases.end() ? 0 : found->second);
    }
    const int64_t middle = median_or_zero(others);
    if (its_ns - middle <= most) continue;
    most = its_ns - middle;
    straggler.phase = phase;
    straggler.its_ns = its_ns;
    straggler.others_median_ns = middle;
  }
}

// Where the ranks say that they waited, that; else by how much less they computed.
void add_waits(Straggler& straggler, const Busy& busy) {
  bool said = false;
  for (const auto& [rank, phases] : busy)
    for (const auto& [phase, time_ns] : phases) said = said || (is_wait(phase) && time_ns > 0);
  const int64_t longest = computing_ns(busy.at(straggler.rank));
  for (const auto& [rank, phases] : busy) {
    if (rank == straggler.rank) continue;
    int64_t waited = said ? 0 : longest - computing_ns(phases);
    if (said)
      for (const auto& [phase, time_ns] : phases) waited += is_wait(phase) ? time_ns : 0;
    straggler.waited_ns += std::max<int64_t>(0, waited);
    straggler.waiting += waited > 0 ? 1 : 0;
  }
}

std::optional<Straggler> find_straggler(const Busy& busy) {
  if (busy.size() < 2) return std::nullopt;
  const auto slowest =
      std::max_element(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return computing_ns(a.second) < computing_ns(b.second); });
  std::vector<int64_t> others;
  for (const auto& [rank, phases] : busy)
    if (rank != slowest->first) others.push_back(computing_ns(phases));
  const int64_t middle = median_or_zero(others);
  if (static_cast<double>(computing_ns(slowest->second)) < kBehindFrom * static_cast<double>(middle)) return std::nullopt;
  Straggler straggler;
  straggler.rank = slowest->first;
  find_phase(straggler, busy);
  add_waits(straggler, busy);
  return straggler;
}

}  // namespace

bool is_wait(const std::string& phase) { return phase.find("wait") != std::string::npos; }

Timeline make_timeline(const std::deque<history::SpanRecord>& spans) {
  Timeline timeline;
  std::map<int, Lane> lanes;
  for (const history::SpanRecord& span : spans) {
    if (span.end_ns < span.begin_ns) continue;  // a clock that was set back (T33)
    Lane& lane = lanes[span.rank];
    lane.rank = span.rank;
    lane.spans.push_back(span);
    if (std::find(timeline.phases.begin(), timeline.phases.end(), span.phase) == timeline.phases.end()) timeline.phases.push_back(span.phase);
    const auto [step, is_new] = timeline.steps.try_emplace(span.step, TimeRange{span.begin_ns, span.end_ns});
    step->second.begin_ns = std::min(step->second.begin_ns, span.begin_ns);
    step->second.end_ns = std::max(step->second.end_ns, span.end_ns);
    if (timeline.whole.end_ns == 0) timeline.whole = step->second;
    timeline.whole.begin_ns = std::min(timeline.whole.begin_ns, span.begin_ns);
    timeline.whole.end_ns = std::max(timeline.whole.end_ns, span.end_ns);
  }
  for (auto& [rank, lane] : lanes) {
    std::stable_sort(lane.spans.begin(), lane.spans.end(), [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    timeline.lanes.push_back(std::move(lane));
  }
  return timeline;
}

RangeStatistics statistics(const Timeline& timeline, TimeRange range) {
  RangeStatistics result;
  Busy busy;
  std::map<std::string, int64_t> totals;
  for (const Lane& lane : timeline.lanes) {
    auto& phases = busy[lane.rank];
    for (const history::SpanRecord& span : lane.spans) {
      const int64_t time_ns = overlap_ns(span, range);
      if (time_ns == 0) continue;
      phases[span.phase] += time_ns;
      totals[span.phase] += time_ns;
      result.total_ns += time_ns;
    }
  }
  for (const auto& [phase, total_ns] : totals) result.phases.push_back({phase, total_ns});
  std::stable_sort(result.phases.begin(), result.phases.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  result.straggler = find_straggler(busy);
  return result;
}

std::string straggler_sentence(const RangeStatistics& of) {
  if (!of.straggler || of.straggler->waiting == 0) return "";
  const Straggler& slow = *of.straggler;
  return fmt::format("{} rank{} waited {} in all for rank {} ({} {} against {})", slow.waiting, slow.waiting == 1 ? "" : "s",
                     duration_text(slow.waited_ns), slow.rank, slow.phase, duration_text(slow.its_ns), duration_text(slow.others_median_ns));
}

std::string duration_text(int64_t nanoseconds) {
  const double ns = static_cast<double>(nanoseconds);
  if (ns >= 99.5e9) return fmt::format("{:.0f} s", ns / 1e9);
  if (ns >= 1e9) return fmt::format("{:.1f} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.0f} ms", ns / 1e6);
  return fmt::format("{:.0f} us", ns / 1e3);
}

}  // namespace ringwright::gui
