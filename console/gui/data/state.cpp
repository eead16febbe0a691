#include "console/gui/data/state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shared/estimate/reported.h"

namespace ringwright::gui {
namespace {

void append_log(Run& run, history::LogLine line) {
  // A line that was read from the history may come again with the stream.
  if (!run.logs.empty() && line.node_sequence != 0 && line.node_sequence <= run.logs.back().node_sequence) return;
  run.logs.push_back(std::move(line));
  if (run.logs.size() > kLogLinesMax) run.logs.pop_front(), ++run.log_lines_dropped;
}

// JSON has no NaN: a value that is no number was one that JSON could not carry.
double number_of(const nlohmann::json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string text = json.is_string() ? json.get<std::string>() : "NaN";
  if (text == "Infinity" || text == "+inf" || text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity" || text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

template <class T>
void keep_newest(std::deque<T>& list, T item, size_t most) {
  list.push_back(std::move(item));
  if (list.size() > most) list.pop_front();
}

void take_heartbeat(std::map<int, history::RankStatus>& ranks, const wire::Event& event) {
  history::RankStatus& status = ranks[event.rank];
  status.rank = event.rank;
  status.step = event.body.value("step", int64_t{-1});
  status.time_unix_ns = event.time_unix_ns;
  status.resident_bytes = event.body.value("resident_bytes", uint64_t{0});
  status.resident_bytes_max = std::max(status.resident_bytes_max, status.resident_bytes);
  status.cpu_seconds = event.body.value("cpu_seconds", 0.0);
}

// The same trouble again raises the count of its alert.
void take_alert(std::vector<history::AlertRecord>& alerts, const wire::Event& event) {
  const std::string kind = event.body.value("kind", ""), topic = event.body.value("topic", "");
  history::AlertRecord alert{kind, topic, "", nlohmann::json::object(), 0, event.time_unix_ns, 0};
  const auto known = std::find_if(alerts.begin(), alerts.end(), [&](const auto& other) { return other.kind == kind && other.topic == topic; });
  if (known != alerts.end()) {
    if (event.time_unix_ns <= known->last_unix_ns) return;  // read from the history already
    alert = *known;
    alerts.erase(known);
  }
  alert.text = event.body.value("text", "");
  alert.count += std::max<int64_t>(event.body.value("times", int64_t{1}), 1);
  alert.last_unix_ns = event.time_unix_ns;
  alerts.insert(alerts.begin(), std::move(alert));
}

void take_checkpoint(std::vector<history::CheckpointRecord>& checkpoints, const wire::Event& event) {
  const int64_t step = event.body.value("step", int64_t{0});
  std::erase_if(checkpoints, [&](const history::CheckpointRecord& other) { return other.step == step; });
  checkpoints.push_back({step, event.body.value("path", ""), event.body.value("bytes", uint64_t{0}), event.time_unix_ns});
}

void take_segment(Run& run, const wire::Event& event) {
  history::SegmentRecord segment{event.body.value("segment", int64_t{1}), std::nullopt, event.time_unix_ns};
  if (event.body.contains("step")) segment.first_step = event.body.value("step", int64_t{0}) + 1;
  if (!run.parts.segments.empty() && run.parts.segments.back().segment >= segment.segment) return;
  run.record.segment = segment.segment;
  run.parts.segments.push_back(segment);
}

// A point that came after a series was summed up. Its step may be one of those that were summed up (T29): which of them it replaces the sums do not
// tell, so it then only widens the extremes.
void add_to_summary(history::MetricSummary& summary, const history::MetricPoint& point) {
  if (point.time_unix_ns <= summary.last_time_unix_ns) return;  // read from the history already
  const bool is_new = point.step > summary.last_step;
  if (std::isfinite(point.value)) {
    const double count = static_cast<double>(summary.finite);
    if (is_new) summary.mean = (summary.mean.value_or(0) * count + point.value) / (count + 1);
    summary.minimum = std::min(summary.minimum.value_or(point.value), point.value);
    summary.maximum = std::max(summary.maximum.value_or(point.value), point.value);
  }
  if (is_new)
    ++(std::isfinite(point.value) ? summary.finite
       : std::isnan(point.value)  ? summary.nans
       : point.value > 0          ? summary.positive_infinities
                                  : summary.negative_infinities);
  if (point.step < summary.last_step) return;
  summary.last_step = point.step;
  summary.last = point.value;
  summary.last_time_unix_ns = point.time_unix_ns;
}

// A series that is too long to be read: of its points that are in memory, those that the sums do not hold yet go into them.
void take_into_summary(const Series& series, history::MetricSummary& summary) {
  for (size_t i = 0; i < series.size(); ++i) add_to_summary(summary, {series.step(i), series.value(i), series.tokens(i), series.time_unix_ns(i), -1});
}

void merge_alerts(std::vector<history::AlertRecord>& known, std::vector<history::AlertRecord>& read) {
  for (history::AlertRecord& alert : known) {
    const auto same =
        std::find_if(read.begin(), read.end(), [&](const auto& other) { return other.kind == alert.kind && other.topic == alert.topic; });
    if (same == read.end()) {
      read.push_back(std::move(alert));
    } else if (alert.last_unix_ns > same->last_unix_ns) {
      alert.count = std::max(alert.count, same->count);
      *same = std::move(alert);
    }
  }
  std::stable_sort(read.begin(), read.end(), [](const auto& a, const auto& b) { return a.last_unix_ns > b.last_unix_ns; });
}

// What was read from the history comes before what has arrived since; where both have a thing, the newer one holds.
void merge_parts(RunParts& known, RunParts& read) {
  const auto newest = [](const auto& list) { return list.empty() ? std::numeric_limits<int64_t>::min() : list.back().step; };
  const int64_t spans_to = newest(read.spans), samples_to = newest(read.samples);
  for (history::SpanRecord& span : known.spans)
    if (span.step > spans_to) read.spans.push_back(std::move(span));
  for (history::SampleRecord& sample : known.samples)
    if (sample.step > samples_to) read.samples.push_back(std::move(sample));
  for (const auto& [rank, status] : known.ranks)
    if (!read.ranks.contains(rank) || read.ranks[rank].time_unix_ns < status.time_unix_ns) read.ranks[rank] = status;
  merge_alerts(known.alerts, read.alerts);
  const int64_t segments_to = read.segments.empty() ? 0 : read.segments.back().segment;
  for (const history::SegmentRecord& segment : known.segments)
    if (segment.segment > segments_to) read.segments.push_back(segment);
  int64_t saved_to_unix_ns = 0;
  for (const history::CheckpointRecord& checkpoint : read.checkpoints) saved_to_unix_ns = std::max(saved_to_unix_ns, checkpoint.time_unix_ns);
  for (history::CheckpointRecord& checkpoint : known.checkpoints) {
    if (checkpoint.time_unix_ns <= saved_to_unix_ns) continue;  // known when it was read, or deleted since
    std::erase_if(read.checkpoints, [&](const auto& other) { return other.step == checkpoint.step; });
    read.checkpoints.push_back(std::move(checkpoint));
  }
  if (!read.estimate) read.estimate = std::move(known.estimate);
  known = std::move(read);
}

history::RunState state_in(const nlohmann::json& body, history::RunState otherwise) {
  try {
    return history::run_state_from_string(body.value("state", ""));
  } catch (const Error&) {
    return otherwise;  // a state that a later version knows
  }
}

}  // namespace

Notice notice_of(const ErrorParts& error) {
  return {Notice::Level::error, error.code + ": " + error.what + (error.where.empty() ? "" : " (" + error.where + ")"), error.action};
}

void State::apply(Update update) {
  std::visit([this](auto& part) { take(part); }, update);
}

std::shared_ptr<Run> State::find(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

void State::mark_reading(const std::string& id) {
  if (const auto run = find(id)) run->details = Loading::reading, ++run->version;
}

std::vector<Notice> State::take_notices() { return std::exchange(notices_, {}); }

Run& State::upsert(const history::RunRecord& record) {
  std::shared_ptr<Run>& run = by_id_[record.id];
  if (!run) {
    run = std::make_shared<Run>();
    runs_.push_back(run);
  }
  run->record = record;
  ++run->version;
  ++runs_version_;
  return *run;
}

void State::take(RunsRead& update) {
  for (const history::RunRecord& record : update.runs) upsert(record);
  std::stable_sort(runs_.begin(), runs_.end(), [](const auto& a, const auto& b) { return a->record.created_unix_ns > b->record.created_unix_ns; });
  runs_known_ = true;
  failure_.reset();
}

void State::take(LatestRead& update) {
  const auto run = find(update.run);
  if (!run) return;
  for (auto& [name, point] : update.latest) {
    const auto known = run->latest.find(name);
    if (known == run->latest.end() || known->second.step <= point.step) run->latest[name] = point;
  }
  ++run->version;
}

void State::take(DetailsRead& update) {
  const auto run = find(update.run);
  if (!run) return;
  // Points that arrived while the history was read are newer than what it held: they are kept on top of it.
  for (auto& [name, series] : update.metrics) {
    std::shared_ptr<Series>& known = run->metrics[name];
    if (known) {
      for (size_t i = 0; i < known->size(); ++i) {
        series->append({known->step(i), known->value(i), known->tokens(i), known->time_unix_ns(i), -1});
      }
    }
    known = std::move(series);
  }
  // Of a series that is too long, sums are kept, and no tail that would look like the whole.
  for (auto& [name, summary] : update.parts.unread_metrics) {
    const auto sums = run->parts.unread_metrics.find(name);
    if (sums != run->parts.unread_metrics.end() && sums->second.last_time_unix_ns > summary.last_time_unix_ns) summary = sums->second;
    const auto tail = run->metrics.find(name);
    if (tail == run->metrics.end()) continue;
    take_into_summary(*tail->second, summary);
    run->metrics.erase(tail);
  }
  merge_parts(run->parts, update.parts);
  ++run->spans_version;
  std::deque<history::LogLine> later = std::exchange(run->logs, {});
  for (history::LogLine& line : update.logs) append_log(*run, std::move(line));
  for (history::LogLine& line : later) append_log(*run, std::move(line));
  run->details = Loading::ready;
  ++run->version;
}

void State::take(AlertsRead& update) {
  const auto run = find(update.run);
  if (!run) return;
  run->parts.alerts = std::move(update.alerts);
  ++run->version;
  ++runs_version_;
}

void State::take(NotesRead& update) {
  const auto run = find(update.run);
  if (!run) return;
  run->parts.notes = std::move(update.notes);
  ++run->version;
}

void State::take(RunsGone& update) {
  for (const std::string& id : update.runs) by_id_.erase(id);
  std::erase_if(runs_, [this](const auto& run) { return !by_id_.contains(run->record.id); });
  ++runs_version_;
}

void State::take(DetailsFailed& update) {
  if (const auto run = find(update.run)) {
    run->details = Loading::failed;
    run->details_error = update.error;
    ++run->version;
  }
}

void State::take(DevicesRead& update) { devices_ = std::move(update.report); }
void State::take(LinkChanged& update) { link_ = update.link; }
void State::take(Notice& notice) { notices_.push_back(std::move(notice)); }
void State::take(SourceFailed& update) { failure_ = update.error; }

void State::take(wire::Event& event) {
  link_.node_sequence = std::max(link_.node_sequence, event.node_sequence);
  const auto run = find(event.run);
  if (!run) {
    ++events_skipped_;
    return;
  }
  ++events_applied_;
  ++run->version;
  switch (event.kind) {
    case wire::Kind::metric:
      take_metric(*run, event);
      break;
    case wire::Kind::log:
      take_log(*run, event);
      break;
    case wire::Kind::event:
      take_named(*run, event);
      break;
    case wire::Kind::span:
      keep_newest(run->parts.spans,
                  {event.rank, event.body.value("step", int64_t{0}), event.body.value("phase", ""), event.body.value("begin_ns", int64_t{0}),
                   event.body.value("end_ns", int64_t{0})},
                  kSpansMax);
      ++run->spans_version;
      break;
    case wire::Kind::sample:
      keep_newest(run->parts.samples, {event.body.value("step", int64_t{-1}), event.rank, event.body}, kSamplesMax);
      break;
    case wire::Kind::heartbeat:
      take_heartbeat(run->parts.ranks, event);
      break;
    default:
      ++events_skipped_;
      break;
  }
}

void State::take_metric(Run& run, const wire::Event& event) {
  if (event.rank > 0 || !event.body.contains("points")) return;  // rank 0 speaks for the run
  history::MetricPoint point{event.body.value("step", int64_t{0}), 0, event.body.value("tokens", int64_t{-1}), event.time_unix_ns, event.rank};
  run.record.last_step = std::max(run.record.last_step, point.step);
  for (const auto& [name, value] : event.body["points"].items()) {
    point.value = number_of(value);
    run.latest[name] = point;
    if (run.details == Loading::absent) continue;
    if (const auto sums = run.parts.unread_metrics.find(name); sums != run.parts.unread_metrics.end()) {
      add_to_summary(sums->second, point);
      continue;
    }
    std::shared_ptr<Series>& series = run.metrics[name];
    if (!series) series = std::make_shared<Series>();
    series->append(point);
  }
}

void State::take_log(Run& run, const wire::Event& event) {
  append_log(run, {event.node_sequence, event.time_unix_ns, event.rank, event.body.value("level", "info"), event.body.value("text", "")});
}

void State::take_named(Run& run, const wire::Event& event) {
  const std::string name = event.body.value("name", "");
  if (name == "run.state") take_state(run, event);
  if (name == "alert") take_alert(run.parts.alerts, event), ++runs_version_;
  if (name == "checkpoint.saved") take_checkpoint(run.parts.checkpoints, event);
  if (name == "run.segment") take_segment(run, event);
  if (name == "run.estimate") run.parts.estimate = estimate::estimate_in(event.body);
}

void State::take_state(Run& run, const wire::Event& event) {
  ++runs_version_;
  history::RunRecord& record = run.record;
  record.state = state_in(event.body, record.state);
  record.reason = event.body.value("reason", "");
  if (event.body.contains("failed_rank") && event.body["failed_rank"].is_number_integer()) record.failed_rank = event.body["failed_rank"].get<int>();
  if (record.state == history::RunState::running && record.started_unix_ns == 0) record.started_unix_ns = event.time_unix_ns;
  if (history::is_final(record.state)) record.ended_unix_ns = event.time_unix_ns;
}

}  // namespace ringwright::gui
