#include "shared/history/recorder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shared/base/failpoint.h"
#include "shared/history/metric_value.h"
#include "shared/history/run_rows.h"
#include "shared/history/sql.h"

namespace ringwright::history {
namespace {

int64_t as_integer(uint64_t value) { return static_cast<int64_t>(value); }

}  // namespace

// A table of a run that is kept to a number of rows.
struct Recorder::Bounded {
  int64_t Limits::* rows_max;
  const char* count;
  const char* rotate;
  const char* dropped;
};

const Recorder::Bounded Recorder::kLogs = {&Limits::logs_per_run_max, sql::log_count, sql::log_rotate, sql::log_dropped};
const Recorder::Bounded Recorder::kSpans = {&Limits::spans_per_run_max, sql::span_count, sql::span_rotate, sql::span_dropped};
const Recorder::Bounded Recorder::kSamples = {&Limits::samples_per_run_max, sql::sample_count, sql::sample_rotate, sql::sample_dropped};
const Recorder::Bounded Recorder::kEvents = {&Limits::events_per_run_max, sql::event_count, sql::event_rotate, sql::event_dropped};

// What is done with an event of each kind. A body that lacks what its kind needs is kept raw below `name_if_malformed`.
struct Recorder::KindHandler {
  wire::Kind kind;
  Handler store;
  const char* name_if_malformed;
};

const Recorder::KindHandler Recorder::kHandlers[] = {
    {wire::Kind::metric, &Recorder::store_metric, "malformed.metric"}, {wire::Kind::log, &Recorder::store_log, "malformed.log"},
    {wire::Kind::event, &Recorder::store_event, "malformed.event"},    {wire::Kind::span, &Recorder::store_span, "malformed.span"},
    {wire::Kind::sample, &Recorder::store_sample, "malformed.sample"}, {wire::Kind::heartbeat, &Recorder::store_heartbeat, "malformed.heartbeat"}};

Recorder::Recorder(Database& database, Limits limits) : database_(database), limits_(limits), points_(database) { load(); }

void Recorder::forget() {
  runs_.clear();
  points_.forget();
  loaded_ = false;
}

void Recorder::forget_run(const std::string& run) {
  const auto found = runs_.find(run);
  if (found == runs_.end()) return;
  points_.forget_run(found->second.key);
  runs_.erase(found);
}

void Recorder::load() {
  SQLite::Statement& row = database_.query(sql::node_row);
  if (!row.executeStep()) throw SQLite::Exception("the row of table node is missing", 11);  // SQLITE_CORRUPT
  node_sequence_ = static_cast<uint64_t>(row.getColumn(0).getInt64());
  journal_first_ = row.getColumn(1).getInt64();
  journal_bytes_ = row.getColumn(2).getInt64();
  row.reset();
  loaded_ = true;
}

void Recorder::store(std::vector<wire::Event>& events) {
  if (!loaded_) load();
  for (size_t i = 0; i < events.size(); ++i) {
    store_one(events[i]);
    if (i == events.size() / 2) failpoint("history.in_batch");
  }
  write_points();
  for (auto& [id, run] : runs_)
    if (run.changed) write_run(run);
  prune_journal();
  database_.run(sql::node_update, as_integer(node_sequence_), journal_first_, journal_bytes_);
}

void Recorder::store_one(wire::Event& event) {
  event.node_sequence = 0;
  RunCache* run = find_run(event.run);
  if (run && event.worker_sequence != 0) {
    RankSequences& received = sequences(*run, event.rank);
    run->changed = true;
    if (!received.ranges.add(event.worker_sequence)) {
      ++run->duplicates;
      return;
    }
    received.changed = true;
  }
  event.node_sequence = ++node_sequence_;
  append_journal(event);
  if (!run) return;  // of the node itself, or of a run that this file does not know: the journal has it
  const auto* handler = std::find_if(std::begin(kHandlers), std::end(kHandlers), [&](const KindHandler& entry) { return entry.kind == event.kind; });
  if (handler == std::end(kHandlers)) return store_raw(event, *run, "");
  try {
    (this->*handler->store)(event, *run);
  } catch (const nlohmann::json::exception&) {
    store_raw(event, *run, handler->name_if_malformed);
  }
}

void Recorder::store_metric(const wire::Event& event, RunCache& run) {
  const int64_t step = event.body.at("step").get<int64_t>();
  if (step < -kStepMax || step > kStepMax) return store_raw(event, run, "malformed.metric");
  const int64_t tokens = event.body.value("tokens", int64_t{-1});
  const size_t before = points_.pending();
  try {
    for (const auto& [name, value] : event.body.at("points").items())
      points_.add({run.key, points_.metric_key(name), event.rank, run.segment}, step, metric_value_from_json(value), tokens, event.time_unix_ns);
  } catch (const nlohmann::json::exception&) {
    points_.drop_pending_from(before);
    throw;
  }
  run.last_step = std::max(run.last_step, step);
  if (!run.segment_first_step || step < *run.segment_first_step) run.segment_first_step = step, run.first_step_changed = true;
  run.changed = true;
}

void Recorder::store_log(const wire::Event& event, RunCache& run) {
  std::string text = event.body.at("text").get<std::string>();
  if (text.size() > limits_.log_text_bytes_max) {
    const size_t cut = text.size() - limits_.log_text_bytes_max;
    text.resize(limits_.log_text_bytes_max);
    text += " ... (" + std::to_string(cut) + " bytes more)";
  }
  database_.run(sql::log_insert, run.key, as_integer(event.node_sequence), event.time_unix_ns, event.rank, event.body.value("level", "info"), text);
  count_row(run, kLogs);
}

void Recorder::store_event(const wire::Event& event, RunCache& run) {
  const std::string name = event.body.at("name").get<std::string>();
  if (name == "checkpoint.saved") {
    database_.run(sql::checkpoint_upsert, run.key, event.body.at("step").get<int64_t>(), event.body.at("path").get<std::string>(),
                  event.body.value("bytes", int64_t{0}), event.time_unix_ns);
  } else if (name == "fingerprint") {
    nlohmann::json content = event.body;
    content.erase("name");
    set_fingerprint(database_, run.key, run.segment, "rank " + std::to_string(event.rank), content);
  } else if (name == "run.segment") {
    open_segment(event, run);
  } else if (name == "alert") {
    store_alert(event, run);
  }
  store_raw(event, run, name);
}

// {segment, step?}: `step` is the last one that the run goes on from.
void Recorder::open_segment(const wire::Event& event, RunCache& run) {
  const int64_t segment = event.body.at("segment").get<int64_t>(), from_step = event.body.value("step", int64_t{kStepMax});
  write_run(run);
  run.segment = segment;
  run.received.clear();
  SQLite::Statement& insert = database_.query(sql::segment_insert, run.key, segment);
  from_step < kStepMax ? insert.bind(3, from_step + 1) : insert.bind(3);
  insert.bind(4, event.time_unix_ns);
  insert.exec();
  insert.reset();
  run.segment_first_step = first_step(run);
  database_.run(sql::run_set_segment, run.key, segment);
}

// {kind, topic?, text, ...}: what else the body has is detail.
void Recorder::store_alert(const wire::Event& event, RunCache& run) {
  AlertRecord alert;
  alert.kind = event.body.at("kind").get<std::string>();
  alert.topic = event.body.value("topic", "");
  alert.text = event.body.value("text", "");
  alert.count = std::max<int64_t>(1, event.body.value("times", int64_t{1}));
  alert.detail = event.body;
  for (const char* field : {"name", "kind", "topic", "text", "times"}) alert.detail.erase(field);
  alert.first_unix_ns = alert.last_unix_ns = event.time_unix_ns;
  upsert_alert(database_, run.key, alert);
}

void Recorder::store_span(const wire::Event& event, RunCache& run) {
  const nlohmann::json& body = event.body;
  database_.run(sql::span_insert, run.key, body.at("step").get<int64_t>(), event.rank, body.at("begin_ns").get<int64_t>(),
                body.at("phase").get<std::string>(), body.at("end_ns").get<int64_t>());
  count_row(run, kSpans);
}

void Recorder::store_sample(const wire::Event& event, RunCache& run) {
  database_.run(sql::sample_insert, run.key, as_integer(event.node_sequence), event.body.at("step").get<int64_t>(), event.rank,
                dump_json(event.body));
  count_row(run, kSamples);
}

void Recorder::store_heartbeat(const wire::Event& event, RunCache& run) {
  database_.run(sql::rank_status_upsert, run.key, event.rank, event.body.value("step", int64_t{-1}), event.time_unix_ns,
                event.body.value("resident_bytes", int64_t{0}), event.body.value("cpu_seconds", 0.0));
}

void Recorder::store_raw(const wire::Event& event, RunCache& run, const std::string& name) {
  std::string buffer;
  const std::string_view body = wire::body_frame_of(event, buffer);
  SQLite::Statement& insert = database_.query(sql::event_insert, run.key, as_integer(event.node_sequence), event.time_unix_ns, event.rank,
                                              static_cast<int>(event.kind), name);
  insert.bindNoCopy(7, body.data(), static_cast<int>(body.size()));
  insert.exec();
  count_row(run, kEvents);
}

void Recorder::append_journal(const wire::Event& event) {
  const std::string header = wire::encode_header(event);
  std::string buffer;
  const std::string_view body = wire::body_frame_of(event, buffer);
  SQLite::Statement& insert = database_.statement(sql::journal_insert);
  insert.bind(1, as_integer(event.node_sequence));
  insert.bindNoCopy(2, event.run);
  insert.bindNoCopy(3, header.data(), static_cast<int>(header.size()));
  insert.bindNoCopy(4, body.data(), static_cast<int>(body.size()));
  insert.exec();
  insert.reset();
  journal_bytes_ += as_integer(event.run.size() + header.size() + body.size());
}

void Recorder::write_points() {
  const std::unordered_map<int64_t, int64_t> replaced = points_.write();
  if (replaced.empty()) return;
  for (auto& [id, run] : runs_)
    if (const auto found = replaced.find(run.key); found != replaced.end()) run.replaced += found->second;
}

void Recorder::write_run(RunCache& run) {
  if (run.last_step >= 0) database_.run(sql::run_set_step, run.key, run.last_step);
  if (run.replaced || run.duplicates) database_.run(sql::run_count, run.key, run.replaced, run.duplicates);
  run.replaced = run.duplicates = 0;
  if (run.first_step_changed) database_.run(sql::segment_set_first_step, run.key, run.segment, *run.segment_first_step);
  run.first_step_changed = false;
  for (auto& [rank, received] : run.received) {
    if (!received.changed) continue;
    database_.run(sql::received_clear, run.key, run.segment, rank);
    for (const auto& [first, last] : received.ranges.ranges())
      database_.run(sql::received_insert, run.key, run.segment, rank, as_integer(first), as_integer(last));
    received.changed = false;
  }
  run.changed = false;
}

// A sixty-fourth of the journal at a time, so that it isn't done for each batch.
void Recorder::prune_journal() {
  const int64_t newest = as_integer(node_sequence_);
  while (newest >= journal_first_ && (newest - journal_first_ + 1 > limits_.journal_events_max || journal_bytes_ > limits_.journal_bytes_max)) {
    const int64_t count = newest - journal_first_ + 1;
    const int64_t removed = std::max({int64_t{1}, count / 64, count - limits_.journal_events_max});
    const int64_t through = std::min(newest - 1, journal_first_ + removed - 1);
    if (through < journal_first_) return;  // one event alone: it stays, however large
    SQLite::Statement& bytes = database_.query(sql::journal_bytes_between, journal_first_, through);
    if (bytes.executeStep()) journal_bytes_ -= bytes.getColumn(0).getInt64();
    bytes.reset();
    database_.run(sql::journal_delete_through, through);
    journal_first_ = through + 1;
  }
}

void Recorder::count_row(RunCache& run, const Bounded& bounded) {
  auto [entry, is_new] = run.counts.try_emplace(&bounded, 0);
  if (is_new) {
    SQLite::Statement& count = database_.query(bounded.count, run.key);
    if (count.executeStep()) entry->second = count.getColumn(0).getInt64();
    count.reset();
  } else {
    ++entry->second;
  }
  const int64_t rows_max = limits_.*bounded.rows_max;
  if (entry->second <= rows_max + rows_max / 64) return;
  const int64_t removed = database_.run(bounded.rotate, run.key, entry->second - rows_max);
  database_.run(bounded.dropped, run.key, removed);
  entry->second -= removed;
}

Recorder::RunCache* Recorder::find_run(const std::string& id) {
  if (id.empty()) return nullptr;
  if (const auto found = runs_.find(id); found != runs_.end()) return &found->second;
  SQLite::Statement& row = database_.query(sql::run_key, id);
  if (!row.executeStep()) return nullptr;
  RunCache& run = runs_[id];
  run.key = row.getColumn(0).getInt64();
  run.segment = row.getColumn(1).getInt64();
  row.reset();
  run.segment_first_step = first_step(run);
  return &run;
}

Recorder::RankSequences& Recorder::sequences(RunCache& run, int32_t rank) {
  const auto [entry, is_new] = run.received.try_emplace(rank);
  if (is_new) {
    SQLite::Statement& rows = database_.query(sql::received_list, run.key, run.segment, rank);
    while (rows.executeStep())
      entry->second.ranges.add_range(static_cast<uint64_t>(rows.getColumn(0).getInt64()), static_cast<uint64_t>(rows.getColumn(1).getInt64()));
    rows.reset();
  }
  return entry->second;
}

std::optional<int64_t> Recorder::first_step(const RunCache& run) {
  std::optional<int64_t> step;
  SQLite::Statement& row = database_.query(sql::segment_first_step, run.key, run.segment);
  if (row.executeStep() && !row.getColumn(0).isNull()) step = row.getColumn(0).getInt64();
  row.reset();
  return step;
}

}  // namespace ringwright::history
