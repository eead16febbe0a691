// The daemon's way into the history: a bounded stretch between receiving an event and handing it on after its commit. The writer's thread
// commits; everything else here belongs to the daemon's loop.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/error.h"
#include "shared/history/store.h"
#include "shared/wire/message.h"

namespace ringwright::service {

class Ledger {
 public:
  // Throws the writer's Error when the file cannot be used.
  explicit Ledger(const std::filesystem::path& store);
  ~Ledger();  // records what it can, and logs what is lost

  // False: too much waits for its commit. Whoever can make a sender wait does not take more then.
  bool has_room() const;
  // Queues the event. The daemon's own events (few, rank -1) are taken also when there is no room.
  void append(wire::Event event);
  // `time_unix_ns` 0: now.
  void append_own(const std::string& run, nlohmann::json body, int64_t time_unix_ns = 0);
  // Readable when take_committed() has something.
  int fd() const { return fd_; }
  std::vector<wire::Event> take_committed();

  // Throws when the store refuses: a run that cannot be recorded is not started.
  void create_run(const history::RunRecord& run);
  // Recorded as soon as the store can; never throws, never waits while the store fails. Until then it is among unrecorded().
  void set_state(const std::string& run, history::RunState state, const std::string& reason, int failed_rank, int64_t time_unix_ns);
  void set_fingerprint(const std::string& run, const nlohmann::json& fingerprint);
  std::vector<std::string> mark_unfinished_as_lost(const std::string& reason);

  // A reader on the same file, made when first asked for.
  const history::Reader& reader();
  uint64_t node_sequence() const { return writer_->node_sequence(); }
  // Why the last commit failed; nothing when it did not.
  std::optional<ErrorParts> failing() const;
  // The same where it stays so until somebody acts: what happens from now on is never recorded.
  std::optional<ErrorParts> broken() const;
  struct UnrecordedState {
    history::RunState state;
    std::string reason;
    int failed_rank;
    int64_t time_unix_ns;
  };
  // By run: the newest state that the store has not taken yet.
  std::map<std::string, UnrecordedState> unrecorded() const;
  // Counters by name.
  nlohmann::json counters() const;

 private:
  struct Load {
    size_t events = 0, bytes = 0, points = 0;
  };
  static Load load_of(const wire::Event& event);
  void committed(std::vector<wire::Event>& events);
  void failed(const ErrorParts& error);
  void settled(const std::string& run, history::RunState state);
  void name_what_is_lost() const;

  std::filesystem::path store_;
  int fd_;
  Load in_flight_;
  mutable std::atomic<uint64_t> full_count_{0};
  mutable bool was_full_ = false;

  mutable std::mutex mutex_;  // guards what follows
  std::vector<wire::Event> committed_;
  std::optional<ErrorParts> failing_;
  std::map<std::string, UnrecordedState> unrecorded_;
  uint64_t commit_failures_ = 0;

  std::unique_ptr<history::Reader> reader_;
  std::unique_ptr<history::Writer> writer_;  // last: its thread ends before the rest goes
};

}  // namespace ringwright::service
