#include "console/gui/data/history_feed.h"

#include <algorithm>

namespace ringwright::gui {
namespace {
constexpr size_t kEventsPerReadMax = 5'000;
constexpr size_t kLatestRunsMax = 200;  // beyond, the last values are read when a run is opened
}  // namespace

HistoryFeed::HistoryFeed(UpdateQueue& queue, const std::filesystem::path& file) : queue_(queue), reader_(file) {}

uint64_t HistoryFeed::node_sequence() {
  std::scoped_lock lock(mutex_);
  return reader_.node_sequence();
}

uint64_t HistoryFeed::read_runs() {
  std::scoped_lock lock(mutex_);
  const uint64_t sequence = reader_.node_sequence();
  std::vector<history::RunRecord> runs = reader_.runs();
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
}

void HistoryFeed::read_details(const std::string& run) {
  try {
    std::scoped_lock lock(mutex_);
    wanted_.insert(run);
    DetailsRead update{run, {}, reader_.logs(run, 0, kLogLinesMax, true)};
    for (const std::string& name : reader_.metric_names(run)) {
      auto series = std::make_shared<Series>();
      series->append(reader_.metric(run, name));
      update.metrics.emplace(name, std::move(series));
    }
    queue_.push(std::move(update));
  } catch (const Error& error) {
    queue_.push(DetailsFailed{run, error.parts()});
  } catch (const std::exception& error) {
    queue_.push(DetailsFailed{run, {"RW-GUI-006", error.what(), run, "", "open the run again", ExitCode::store}});
  }
}

void HistoryFeed::forward(const wire::Event& event) {
  if (!event.run.empty()) {
    std::scoped_lock lock(mutex_);
    if (!announced_.contains(event.run)) {
      try {
        queue_.push(RunsRead{{reader_.run(event.run)}});
        announced_.insert(event.run);
      } catch (const Error&) {
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
