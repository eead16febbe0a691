#include "console/gui/data/history_feed.h"

#include <algorithm>

#include "console/gui/data/guarded.h"
#include "shared/estimate/reported.h"

namespace ringwright::gui {
namespace {
constexpr size_t kEventsPerReadMax = 5'000;
constexpr size_t kRunsMax = 100'000;
constexpr int64_t kPointsReadMax = 400'000, kSeriesPointsMax = 100'000;
constexpr int64_t kSpanStepsRead = 40;
constexpr size_t kLatestRunsMax = 200;  // beyond, the last values are read when a run is opened
}  // namespace

HistoryFeed::HistoryFeed(UpdateQueue& queue, const std::filesystem::path& file) : queue_(queue), reader_(file) {
  if (const std::string notice = reader_.notice(); !notice.empty()) queue_.push(Notice{Notice::Level::warning, notice, ""});
}

uint64_t HistoryFeed::node_sequence() {
  std::scoped_lock lock(mutex_);
  return reader_.node_sequence();
}

uint64_t HistoryFeed::read_runs() {
  std::scoped_lock lock(mutex_);
  const uint64_t sequence = reader_.node_sequence();
  std::vector<history::RunRecord> runs = reader_.runs(kRunsMax);
  for (const history::RunRecord& run : runs) announced_.insert(run.id);
  queue_.push(RunsRead{runs});
  if (runs.size() > kLatestRunsMax) runs.resize(kLatestRunsMax);
  for (const history::RunRecord& run : runs) push_latest(run);
  return sequence;
}

void HistoryFeed::push_latest(const history::RunRecord& run) {
  LatestRead update{run.id, {}};
  for (const std::string& name : reader_.metric_names(run.id)) {
    if (auto point = reader_.last_metric(run.id, name)) update.latest.emplace(name, *point);
  }
  if (!update.latest.empty()) queue_.push(std::move(update));
  if (auto alerts = reader_.alerts(run.id); !alerts.empty()) queue_.push(AlertsRead{run.id, std::move(alerts)});
}

RunParts HistoryFeed::parts_of(const std::string& run) {
  RunParts parts;
  const int64_t newest = reader_.run(run).last_step;
  for (history::SpanRecord& span : reader_.spans(run, std::max<int64_t>(0, newest - kSpanStepsRead), newest + 1))
    parts.spans.push_back(std::move(span));
  std::vector<history::SampleRecord> samples = reader_.samples(run, kSamplesMax);
  parts.samples.assign(std::make_move_iterator(samples.rbegin()), std::make_move_iterator(samples.rend()));
  for (const history::RankStatus& status : reader_.rank_statuses(run)) parts.ranks[status.rank] = status;
  parts.alerts = reader_.alerts(run);
  parts.segments = reader_.segments(run);
  parts.notes = reader_.notes(run);
  parts.checkpoints = reader_.checkpoints(run);
  if (const auto reported = reader_.run_events(run, {"run.estimate"}, 1); !reported.empty())
    parts.estimate = estimate::estimate_in(reported.front().body);
  return parts;
}

void HistoryFeed::read_series(const std::string& run, DetailsRead& update) {
  int64_t room = kPointsReadMax;
  for (history::MetricSummary& summary : reader_.metric_summaries(run)) {
    const int64_t points = summary.finite + summary.nans + summary.positive_infinities + summary.negative_infinities;
    if (points > kSeriesPointsMax || points > room) {
      const std::string name = summary.name;
      update.parts.unread_metrics.emplace(name, std::move(summary));
      continue;
    }
    room -= points;
    auto series = std::make_shared<Series>();
    series->append(reader_.metric(run, summary.name));
    update.metrics.emplace(summary.name, std::move(series));
  }
}

void HistoryFeed::read_details(const std::string& run) {
  const auto read = [&] {
    std::scoped_lock lock(mutex_);
    wanted_.insert(run);
    DetailsRead update{run, {}, reader_.logs(run, 0, kLogLinesMax, true), parts_of(run)};
    read_series(run, update);
    queue_.push(std::move(update));
  };
  guarded(read, [&](const ErrorParts& parts) { queue_.push(DetailsFailed{run, parts}); });
}

void HistoryFeed::forward(const wire::Event& event) {
  if (!event.run.empty()) {
    std::scoped_lock lock(mutex_);
    if (!announced_.contains(event.run)) {
      try {
        queue_.push(RunsRead{{reader_.run(event.run)}});
        announced_.insert(event.run);
      } catch (const std::exception&) {
        // The run is not in the history yet; its next event asks again.
      }
    }
  }
  queue_.push(event);
}

uint64_t HistoryFeed::catch_up(uint64_t sequence) {
  uint64_t newest = 0, oldest = 0;
  std::vector<wire::Event> events;
  {
    std::scoped_lock lock(mutex_);
    newest = reader_.node_sequence();
    if (newest <= sequence) return sequence;
    oldest = reader_.oldest_journal_sequence();
    if (oldest <= sequence + 1) events = reader_.events(sequence + 1, newest, kEventsPerReadMax);
  }
  if (oldest > sequence + 1) {
    const uint64_t read = read_runs();
    for (const std::string& run : std::set<std::string>(wanted_)) read_details(run);
    return read;
  }
  for (const wire::Event& event : events) forward(event);
  return events.size() < kEventsPerReadMax ? newest : events.back().node_sequence;
}

}  // namespace ringwright::gui
