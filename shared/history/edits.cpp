#include "shared/history/edits.h"

#include <optional>

#include "shared/history/point_store.h"
#include "shared/history/run_rows.h"
#include "shared/history/sql.h"

namespace ringwright::history {
namespace {

// Where no daemon has the file, it is held for as long as it takes to open it, since it may have to be migrated.
std::optional<WriterLock> lock_unless_daemon(const std::filesystem::path& file, Editor::Missing missing) {
  std::error_code failure;
  if (missing == Editor::Missing::create && file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), failure);
  if (missing == Editor::Missing::refuse && !std::filesystem::exists(file, failure))
    throw Error({"RW-STORE-001", "there is no history file", file.string(), "a history file of Ringwright",
                 "start a run with: ringwright run RECIPE; or name another file with --store FILE", ExitCode::store});
  try {
    return std::make_optional<WriterLock>(file);
  } catch (const Error& error) {
    if (error.parts().code != "RW-STORE-003") throw;
    const Database as_it_is(file, Database::Access::read);  // refuses a schema that would have to be migrated
    return std::nullopt;
  }
}

void bind_blob(SQLite::Statement& statement, int index, const std::string& bytes) {
  statement.bindNoCopy(index, bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

struct Editor::Impl {
  Impl(const std::filesystem::path& file, Missing missing) : lock(lock_unless_daemon(file, missing)), database(file, Database::Access::write) {
    lock.reset();
  }

  // One transaction; SQLite's errors become ours.
  void change(const std::function<void()>& act) {
    try {
      database.transact(act);
    } catch (const SQLite::Exception& error) {
      throw Error(database.describe(error));
    }
  }

  // Whether the statement, whose first parameter is the run, changed anything.
  template <class Value>
  bool change_of_run(const char* statement, const std::string& run, const Value& value) {
    int rows = 0;
    change([&] { rows = database.run(statement, run_key(database, run), value); });
    return rows > 0;
  }

  std::optional<WriterLock> lock;
  Database database;
};

struct RunImport::Impl {
  Impl(Database& in, int64_t of) : database(in), points(in), run(of) {}

  Database& database;
  PointStore points;
  int64_t run;
  int64_t order = 0;  // of logs, events and samples
};

Editor::Editor(const std::filesystem::path& file, Missing missing) : impl_(std::make_unique<Impl>(file, missing)) {}
Editor::~Editor() = default;

bool Editor::add_tag(const std::string& run, const std::string& tag) { return impl_->change_of_run(sql::tag_insert, run, tag); }
bool Editor::remove_tag(const std::string& run, const std::string& tag) { return impl_->change_of_run(sql::tag_delete, run, tag); }

int64_t Editor::add_note(const std::string& run, const std::string& author, const std::string& text) {
  int64_t key = 0;
  impl_->change([&] {
    impl_->database.run(sql::note_insert, run_key(impl_->database, run), wire::now_unix_ns(), author, text);
    key = impl_->database.connection().getLastInsertRowid();
  });
  return key;
}

void Editor::remove_note(const std::string& run, int64_t key) {
  impl_->change([&] { impl_->database.run(sql::note_delete, run_key(impl_->database, run), key); });
}

bool Editor::set_archived(const std::string& run, bool archived) {
  return impl_->change_of_run(sql::run_set_archived, run, static_cast<int>(archived));
}

void Editor::delete_run(const std::string& run) {
  impl_->change([&] {
    const int64_t key = run_key(impl_->database, run);
    SQLite::Statement& row = impl_->database.query(sql::run_state, key);
    row.executeStep();
    const std::string state = row.getColumn(0).getString();
    row.reset();
    if (!is_final(run_state_from_string(state)))
      throw Error({"RW-STORE-012", "the run is " + state + ", not over", run, "a run that is finished, failed, stopped or lost",
                   "stop it with: ringwright stop " + run, ExitCode::usage});
    delete_run_rows(impl_->database, key);
  });
}

void Editor::import_run(const RunRecord& run, const std::function<void(RunImport&)>& fill) {
  impl_->change([&] {
    RunImport::Impl rows(impl_->database, insert_run(impl_->database, run));
    if (run.fingerprint.is_object() && !run.fingerprint.empty()) {
      nlohmann::json daemon = run.fingerprint;
      daemon.erase("workers");
      set_fingerprint(impl_->database, rows.run, 1, "daemon", daemon);
      const nlohmann::json workers = run.fingerprint.value("workers", nlohmann::json::object());
      for (const auto& [source, content] : workers.items()) set_fingerprint(impl_->database, rows.run, 1, source, content);
    }
    RunImport import(rows);
    fill(import);
  });
}

void RunImport::add_points(const std::string& metric, int rank, int64_t segment, const std::vector<MetricPoint>& points) {
  const SeriesId id{impl_.run, impl_.points.metric_key(metric), rank, segment};
  for (const MetricPoint& point : points) {
    if (point.step < -kStepMax || point.step > kStepMax)
      throw Error({"RW-STORE-013", "a point of " + metric + " has step " + std::to_string(point.step), metric, "steps within +-2^53",
                   "correct the file that is imported", ExitCode::usage});
    impl_.points.add(id, point.step, point.value, point.tokens, point.time_unix_ns);
  }
  impl_.points.write();
}

void RunImport::add_segment(const SegmentRecord& segment) {
  SQLite::Statement& insert = impl_.database.query(sql::segment_replace, impl_.run, segment.segment);
  segment.first_step ? insert.bind(3, *segment.first_step) : insert.bind(3);
  insert.bind(4, segment.opened_unix_ns);
  insert.exec();
  insert.reset();
}

void RunImport::add_fingerprint(int64_t segment, const std::string& source, const nlohmann::json& content) {
  set_fingerprint(impl_.database, impl_.run, segment, source, content);
}

void RunImport::add_log(const LogLine& line) {
  impl_.database.run(sql::log_insert, impl_.run, ++impl_.order, line.time_unix_ns, line.rank, line.level, line.text);
}

void RunImport::add_event(const wire::Event& event, const std::string& name) {
  const std::string body = wire::encode_body(event.body);
  SQLite::Statement& insert =
      impl_.database.query(sql::event_insert, impl_.run, ++impl_.order, event.time_unix_ns, event.rank, static_cast<int>(event.kind), name);
  bind_blob(insert, 7, body);
  insert.exec();
  insert.reset();
}

void RunImport::add_sample(const SampleRecord& sample) {
  impl_.database.run(sql::sample_insert, impl_.run, ++impl_.order, sample.step, sample.rank, dump_json(sample.body));
}

void RunImport::add_span(const SpanRecord& span) {
  impl_.database.run(sql::span_insert, impl_.run, span.step, span.rank, span.begin_ns, span.phase, span.end_ns);
}

void RunImport::add_checkpoint(const CheckpointRecord& checkpoint) {
  impl_.database.run(sql::checkpoint_upsert, impl_.run, checkpoint.step, checkpoint.path, static_cast<int64_t>(checkpoint.bytes),
                     checkpoint.time_unix_ns);
}

void RunImport::add_rank_status(const RankStatus& status) {
  impl_.database.run(sql::rank_status_upsert, impl_.run, status.rank, status.step, status.time_unix_ns,
                     static_cast<int64_t>(status.resident_bytes_max), status.cpu_seconds);
  impl_.database.run(sql::rank_status_upsert, impl_.run, status.rank, status.step, status.time_unix_ns, static_cast<int64_t>(status.resident_bytes),
                     status.cpu_seconds);
}

void RunImport::add_tag(const std::string& tag) { impl_.database.run(sql::tag_insert, impl_.run, tag); }

void RunImport::add_note(const NoteRecord& note) { impl_.database.run(sql::note_insert, impl_.run, note.time_unix_ns, note.author, note.text); }

void RunImport::add_alert(const AlertRecord& alert) { upsert_alert(impl_.database, impl_.run, alert); }

void RunImport::set_counters(const RunCounters& counters) {
  impl_.database.run(sql::run_set_counters, impl_.run, counters.metrics_replaced, counters.logs_dropped, counters.spans_dropped,
                     counters.samples_dropped, counters.events_dropped, counters.duplicates);
}

}  // namespace ringwright::history
