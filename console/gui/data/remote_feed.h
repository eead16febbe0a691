// Reads a daemon for a console that cannot open its history file: the runs as the daemon lists them, and of a run what the daemon's journal still
// has. One thread at a time; forward() may run beside it.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>

#include "console/gui/data/source.h"
#include "shared/wire/control.h"

namespace ringwright::gui {

class RemoteFeed {
 public:
  // `place` is what messages call the node.
  RemoteFeed(UpdateQueue& queue, const wire::Endpoints& endpoints, std::string place);

  // What the daemon says of itself. This and the next two throw what ControlClient::request throws.
  nlohmann::json hello();
  // The runs, and the last values of those that go on.
  void read_runs();
  // One run's metrics, logs and all else, by way of a State of its own, so that what is read and what comes live are reduced alike. Says so where the
  // journal does not reach back to the run's beginning. Nothing once `stop` was asked for.
  void read_details(const std::string& run, const std::stop_token& stop);
  // Announces the event's run first when its beginning is seen.
  void forward(const wire::Event& event);
  // Whether an event came of a run that nobody has announced: read_runs() then does.
  bool take_unannounced() { return unannounced_.exchange(false); }

 private:
  // All events of the run that the journal has, in order. Whether the run's beginning is among them.
  bool reduce(const std::string& run, State& state, const std::stop_token& stop);
  void announce(const history::RunRecord& run);

  UpdateQueue& queue_;
  wire::ControlClient client_;
  const std::string place_;
  std::atomic<bool> unannounced_{false};
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, history::RunRecord> records_;
};

}  // namespace ringwright::gui
