// All that the console knows, and the one reducer through which live events and stored records come in (ARCHITECTURE.md, idea 6).
// Owned by the draw thread; sources hand it updates through a queue.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "console/gui/data/orders.h"
#include "console/gui/data/series.h"
#include "shared/base/error.h"
#include "shared/estimate/estimate.h"
#include "shared/history/records.h"
#include "shared/wire/device_report.h"
#include "shared/wire/message.h"

namespace ringwright::gui {

inline constexpr size_t kLogLinesMax = 1'000'000;  // kept per run; older ones are read from the history file
inline constexpr size_t kSpansMax = 20'000;
inline constexpr size_t kSamplesMax = 1'000;

enum class Loading { absent, reading, ready, failed };

// What a run has beside its metrics and log lines.
struct RunParts {
  std::deque<history::SpanRecord> spans = {};      // in order of their steps, as they came
  std::deque<history::SampleRecord> samples = {};  // oldest first
  std::map<int, history::RankStatus> ranks = {};
  std::vector<history::AlertRecord> alerts = {};  // newest first
  std::vector<history::SegmentRecord> segments = {};
  std::vector<history::NoteRecord> notes = {};  // oldest first
  std::vector<history::CheckpointRecord> checkpoints = {};
  std::optional<estimate::Estimate> estimate = {};                    // of the memory of each rank, as its worker reported it
  std::map<std::string, history::MetricSummary> unread_metrics = {};  // too long to be read whole: drawn from the file's pyramid
};

// A run with what has been read of it.
struct Run {
  history::RunRecord record;
  std::map<std::string, std::shared_ptr<Series>> metrics;
  std::map<std::string, history::MetricPoint> latest;  // last value of each metric, also while the series is not read
  std::deque<history::LogLine> logs;
  RunParts parts;
  uint64_t log_lines_dropped = 0;  // beyond kLogLinesMax
  uint64_t version = 0;            // changes with every update
  uint64_t spans_version = 0;      // changes with parts.spans
  Loading details = Loading::absent;
  ErrorParts details_error;
};

enum class LinkState { local, connecting, connected, stale, lost };

struct Link {
  LinkState state = LinkState::connecting;
  std::string place;  // the daemon's node, "ssh://host", the history file's name, "no daemon", "demonstration"
  uint64_t node_sequence = 0, gaps = 0, repaired = 0;
  int64_t last_message_unix_ns = 0;
  int attempt = 0;                   // the number of this one, or of the last that failed
  int64_t retry_unix_ns = 0;         // when the next attempt begins; 0: one is under way, or none is needed
  int64_t tunnel_since_unix_ns = 0;  // of a forwarded connection: since when it stands; 0: it does not
  std::string trouble;               // why the last attempt failed
};

struct Notice {
  enum class Level { info, good, warning, error } level = Level::info;
  std::string text;
  std::string action;  // what to do about it
  std::optional<Edit> undo = std::nullopt;
};
// "RW-GUI-001: what happened (where)", and what to do about it.
Notice notice_of(const ErrorParts& error);

// Updates, in the order in which a source produces them.
struct RunsRead {
  std::vector<history::RunRecord> runs;
};
struct LatestRead {
  std::string run;
  std::map<std::string, history::MetricPoint> latest;
};
struct DetailsRead {
  std::string run;
  std::map<std::string, std::shared_ptr<Series>> metrics;
  std::vector<history::LogLine> logs;
  RunParts parts = {};
};
struct AlertsRead {
  std::string run;
  std::vector<history::AlertRecord> alerts;
};
struct NotesRead {
  std::string run;
  std::vector<history::NoteRecord> notes;
};
struct RunsGone {
  std::vector<std::string> runs;
};
struct DetailsFailed {
  std::string run;
  ErrorParts error;
};
struct DevicesRead {
  std::shared_ptr<const wire::DeviceReport> report;  // null: the daemon sends none
};
struct LinkChanged {
  Link link;
};
struct SourceFailed {
  ErrorParts error;
};
using Update = std::variant<RunsRead, LatestRead, AlertsRead, NotesRead, RunsGone, DetailsRead, DetailsFailed, wire::Event, DevicesRead, LinkChanged,
                            Notice, SourceFailed>;

class State {
 public:
  // Takes one update in.
  void apply(Update update);

  bool runs_known() const { return runs_known_; }
  // Newest first.
  const std::vector<std::shared_ptr<Run>>& runs() const { return runs_; }
  // Changes whenever a run comes, goes, or has another record or alert.
  uint64_t runs_version() const { return runs_version_; }
  std::shared_ptr<Run> find(const std::string& id) const;
  void mark_reading(const std::string& id);

  const Link& link() const { return link_; }
  // Of the node that we are, or were last, connected to; null: it sends none.
  const std::shared_ptr<const wire::DeviceReport>& devices() const { return devices_; }
  const std::optional<ErrorParts>& failure() const { return failure_; }
  std::vector<Notice> take_notices();
  uint64_t events_applied() const { return events_applied_; }
  // Events of runs that nobody announced, and of kinds unknown to this version.
  uint64_t events_skipped() const { return events_skipped_; }

 private:
  void take(RunsRead& update);
  void take(LatestRead& update);
  void take(DetailsRead& update);
  void take(AlertsRead& update);
  void take(NotesRead& update);
  void take(RunsGone& update);
  void take(DetailsFailed& update);
  void take(wire::Event& event);
  void take(DevicesRead& update);
  void take(LinkChanged& update);
  void take(Notice& notice);
  void take(SourceFailed& update);
  void take_metric(Run& run, const wire::Event& event);
  void take_log(Run& run, const wire::Event& event);
  void take_named(Run& run, const wire::Event& event);
  void take_state(Run& run, const wire::Event& event);
  Run& upsert(const history::RunRecord& record);

  std::vector<std::shared_ptr<Run>> runs_;
  std::unordered_map<std::string, std::shared_ptr<Run>> by_id_;
  Link link_;
  std::shared_ptr<const wire::DeviceReport> devices_;
  std::optional<ErrorParts> failure_;
  std::vector<Notice> notices_;
  bool runs_known_ = false;
  uint64_t runs_version_ = 0;
  uint64_t events_applied_ = 0, events_skipped_ = 0;
};

}  // namespace ringwright::gui
