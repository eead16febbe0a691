#include "console/gui/data/state.h"

#include <algorithm>

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

history::RunState state_in(const nlohmann::json& body, history::RunState otherwise) {
  try {
    return history::run_state_from_string(body.value("state", ""));
  } catch (const Error&) {
    return otherwise;  // a state that a later version knows
  }
}

}  // namespace

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
  std::deque<history::LogLine> later = std::exchange(run->logs, {});
  for (history::LogLine& line : update.logs) append_log(*run, std::move(line));
  for (history::LogLine& line : later) append_log(*run, std::move(line));
  run->details = Loading::ready;
  ++run->version;
}

void State::take(DetailsFailed& update) {
  if (const auto run = find(update.run)) {
    run->details = Loading::failed;
    run->details_error = update.error;
    ++run->version;
  }
}

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
  run->last_event_unix_ns = std::max(run->last_event_unix_ns, event.time_unix_ns);
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
    case wire::Kind::sample:
    case wire::Kind::heartbeat:
      break;  // no view reads them
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
  if (name != "run.state") return;
  history::RunRecord& record = run.record;
  record.state = state_in(event.body, record.state);
  record.reason = event.body.value("reason", "");
  if (event.body.contains("failed_rank") && event.body["failed_rank"].is_number_integer()) record.failed_rank = event.body["failed_rank"].get<int>();
  if (record.state == history::RunState::running && record.started_unix_ns == 0) record.started_unix_ns = event.time_unix_ns;
  if (history::is_final(record.state)) record.ended_unix_ns = event.time_unix_ns;
}

}  // namespace ringwright::gui
