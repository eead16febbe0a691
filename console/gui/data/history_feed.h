// Reads a history file for the console. Each call may come from any thread; one at a time is served.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "console/gui/data/source.h"
#include "shared/history/store.h"

namespace ringwright::gui {

class HistoryFeed {
 public:
  // Throws what history::Reader throws (exit code 6).
  HistoryFeed(UpdateQueue& queue, const std::filesystem::path& file);

  // The runs and the last values of their metrics. Returns the node sequence that they are at least as new as.
  uint64_t read_runs();
  // One run's metrics and logs, as DetailsRead or DetailsFailed.
  void read_details(const std::string& run);
  // Announces the event's run first when nobody has yet.
  void forward(const wire::Event& event);
  // What was committed after `sequence`; returns the new one. When the journal no longer reaches back, everything is read again.
  uint64_t catch_up(uint64_t sequence);
  uint64_t node_sequence();

 private:
  void push_latest(const history::RunRecord& run);
  RunParts parts_of(const std::string& run);
  // Series in full as far as kPointsReadMax goes, the plots that matter first; the rest is left to the pyramid.
  void read_series(const std::string& run, DetailsRead& update);

  UpdateQueue& queue_;
  std::mutex mutex_;
  history::Reader reader_;
  std::set<std::string> announced_, wanted_;
};

}  // namespace ringwright::gui
