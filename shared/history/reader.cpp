#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>

#include "shared/base/local_time.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"
#include "shared/history/reader_impl.h"

namespace ringwright::history {
namespace {

constexpr char kTagSeparator = '\x1f';  // as in the queries
constexpr size_t kCandidatesShownMax = 5, kNameBytesShownMax = 40;
constexpr int kJsonDepthMax = 256;  // printing a deeper document could exhaust the stack

// How deep the brackets of a JSON text go.
int depth_of(const std::string& text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') ++i;  // in a string, or no JSON at all
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

nlohmann::json parse(const std::string& text) {
  if (depth_of(text) > kJsonDepthMax) throw SQLite::Exception("JSON that is nested too deeply", 11);  // SQLITE_CORRUPT
  return nlohmann::json::parse(text);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

LogLine log_line_of(SQLite::Statement& row) {
  return {static_cast<uint64_t>(row.getColumn(0).getInt64()), row.getColumn(1).getInt64(), row.getColumn(2).getInt(), row.getColumn(3).getString(),
          row.getColumn(4).getString()};
}

int64_t as_limit(uint64_t limit) { return static_cast<int64_t>(std::min<uint64_t>(limit, INT64_MAX)); }

std::string_view blob_of(const SQLite::Column& column) {
  return {static_cast<const char*>(column.getBlob()), static_cast<size_t>(column.getBytes())};
}

wire::Event event_of(const std::string& run, SQLite::Statement& row) {
  wire::Event event;
  event.run = run;
  event.node_sequence = static_cast<uint64_t>(row.getColumn(0).getInt64());
  event.time_unix_ns = row.getColumn(1).getInt64();
  event.rank = row.getColumn(2).getInt();
  event.kind = static_cast<wire::Kind>(row.getColumn(3).getInt());
  event.body = wire::decode_body(blob_of(row.getColumn(5)));
  return event;
}

}  // namespace

RunRecord run_of(SQLite::Statement& row) {
  RunRecord run;
  run.id = row.getColumn(1).getString();
  run.name = row.getColumn(2).getString();
  run.algorithm = row.getColumn(3).getString();
  run.state = run_state_from_string(row.getColumn(4).getString());
  run.reason = row.getColumn(5).getString();
  run.created_unix_ns = row.getColumn(6).getInt64();
  run.started_unix_ns = row.getColumn(7).getInt64();
  run.ended_unix_ns = row.getColumn(8).getInt64();
  run.world_size = row.getColumn(9).getInt();
  run.mesh = parse(row.getColumn(10).getString());
  run.failed_rank = row.getColumn(11).getInt();
  run.last_step = row.getColumn(12).getInt64();
  run.color_index = row.getColumn(13).getInt();
  run.segment = row.getColumn(14).getInt64();
  run.archived = row.getColumn(15).getInt() != 0;
  run.duration_ns = row.getColumn(16).getInt64();
  run.imported_from = row.getColumn(17).getString();
  run.tags = split(row.getColumn(18).getString(), kTagSeparator);
  return run;
}

// A name never hides the keyword or an id, also one from before such names were refused.
std::optional<int64_t> Reader::Impl::find(const std::string& id_or_name) {
  if (auto key = number(sql::run_find_by_id, id_or_name)) return key;
  if (id_or_name == kNewestRun) return number(sql::run_find_last);
  if (id_or_name.empty()) return std::nullopt;
  const bool id_first = reads_like_an_id(id_or_name);
  if (!id_first)
    if (auto key = number(sql::run_find_by_name, id_or_name)) return key;
  if (auto key = find_by_prefix(id_or_name)) return key;
  return id_first ? number(sql::run_find_by_name, id_or_name) : std::nullopt;
}

std::optional<int64_t> Reader::Impl::find_by_prefix(const std::string& prefix) {
  std::optional<int64_t> only;
  size_t count = 0;
  std::string candidates;  // "r_12ab34cd (demo, failed, started 2026-11-30 14:05:01)"
  rows(
      [&](SQLite::Statement& row) {
        only = row.getColumn(0).getInt64();
        const int64_t started_unix_ns = row.getColumn(4).getInt64();
        const std::string start = started_unix_ns == 0 ? "not started" : "started " + text::format_local_time(started_unix_ns);
        if (++count <= kCandidatesShownMax)
          candidates += (count == 1 ? "" : ", ") + row.getColumn(1).getString() + " (" +
                        text::excerpt(text::printable(row.getColumn(2).getString()), kNameBytesShownMax) + ", " + row.getColumn(3).getString() +
                        ", " + start + ")";
      },
      sql::run_find_by_prefix, prefix);
  if (count <= 1) return only;
  if (count > kCandidatesShownMax) candidates += " and others";
  throw Error({"RW-STORE-011", "\"" + prefix + "\" is the beginning of more than one run's id", candidates, "a run's id, or enough of it",
               "add a digit", ExitCode::usage});
}

Error Reader::Impl::not_found(const std::string& id_or_name) {
  std::vector<std::string> known;
  rows([&](SQLite::Statement& row) { known.push_back(row.getColumn(0).getString()), known.push_back(row.getColumn(1).getString()); }, sql::run_names);
  const std::string nearest = text::nearest(id_or_name, known);
  return Error({"RW-STORE-011", "there is no run \"" + id_or_name + "\" in this history", database.file().string(),
                "a run's id, the beginning of one, a name, or \"last\"" + (nearest.empty() ? "" : "; the nearest is \"" + nearest + "\""),
                "list them with: ringwright runs list", ExitCode::usage});
}

void Reader::Impl::add_recipe(RunRecord& run, int64_t key) {
  rows(
      [&](SQLite::Statement& row) {
        run.recipe = parse(row.getColumn(0).getString());
        run.recipe_text = row.getColumn(1).getString();
        run.recipe_path = row.getColumn(2).getString();
        run.overrides = parse(row.getColumn(3).getString()).get<std::vector<std::string>>();
      },
      sql::recipe_get, key);
}

void Reader::Impl::add_fingerprint(RunRecord& run, int64_t key) {
  run.fingerprint = nlohmann::json::object();
  rows(
      [&](SQLite::Statement& row) {
        const std::string source = row.getColumn(0).getString();
        nlohmann::json content = parse(row.getColumn(1).getString());
        source == "daemon" ? run.fingerprint.update(content) : run.fingerprint["workers"][source].update(content);
      },
      sql::fingerprint_list, key);
}

Reader::Reader(const std::filesystem::path& file) : impl_(std::make_unique<Impl>(file)) {}
Reader::~Reader() = default;

std::string Reader::notice() const {
  const int schema = impl_->database.schema();
  if (schema <= newest_schema()) return "";
  return "the history file has schema " + std::to_string(schema) + ", newer than this program knows (" + std::to_string(newest_schema()) +
         "): it is read as far as this program knows it, and not written; update Ringwright";
}

std::vector<RunRecord> Reader::runs(size_t limit, Parts parts) const {
  std::vector<RunRecord> runs;
  std::vector<int64_t> keys;
  impl_->rows([&](SQLite::Statement& row) { keys.push_back(row.getColumn(0).getInt64()), runs.push_back(run_of(row)); }, sql::run_list,
              as_limit(limit));
  for (size_t i = 0; i < runs.size() && parts == Parts::all; ++i) impl_->add_recipe(runs[i], keys[i]), impl_->add_fingerprint(runs[i], keys[i]);
  return runs;
}

RunRecord Reader::run(const std::string& id_or_name) const {
  const std::optional<int64_t> key = impl_->find(id_or_name);
  if (!key) throw impl_->not_found(id_or_name);
  RunRecord run;
  impl_->rows([&](SQLite::Statement& row) { run = run_of(row); }, sql::run_by_key, *key);
  impl_->add_recipe(run, *key);
  impl_->add_fingerprint(run, *key);
  return run;
}

std::vector<LogLine> Reader::logs(const std::string& run, uint64_t after, size_t limit, bool tail) const {
  std::vector<LogLine> lines;
  impl_->rows([&](SQLite::Statement& row) { lines.push_back(log_line_of(row)); }, tail ? sql::log_tail : sql::log_first, impl_->key(run),
              as_limit(after), as_limit(limit));
  if (tail) std::reverse(lines.begin(), lines.end());
  return lines;
}

std::vector<SpanRecord> Reader::spans(const std::string& run, int64_t from_step, int64_t to_step) const {
  std::vector<SpanRecord> spans;
  impl_->rows(
      [&](SQLite::Statement& row) {
        spans.push_back({row.getColumn(0).getInt(), row.getColumn(1).getInt64(), row.getColumn(2).getString(), row.getColumn(3).getInt64(),
                         row.getColumn(4).getInt64()});
      },
      sql::span_list, impl_->key(run), from_step, to_step);
  return spans;
}

std::vector<CheckpointRecord> Reader::checkpoints(const std::string& run) const {
  std::vector<CheckpointRecord> checkpoints;
  impl_->rows(
      [&](SQLite::Statement& row) {
        checkpoints.push_back({row.getColumn(0).getInt64(), row.getColumn(1).getString(), static_cast<uint64_t>(row.getColumn(2).getInt64()),
                               row.getColumn(3).getInt64()});
      },
      sql::checkpoint_list, impl_->key(run));
  return checkpoints;
}

std::vector<RankStatus> Reader::rank_statuses(const std::string& run) const {
  std::vector<RankStatus> statuses;
  impl_->rows(
      [&](SQLite::Statement& row) {
        statuses.push_back({row.getColumn(0).getInt(), row.getColumn(1).getInt64(), row.getColumn(2).getInt64(),
                            static_cast<uint64_t>(row.getColumn(3).getInt64()), static_cast<uint64_t>(row.getColumn(4).getInt64()),
                            row.getColumn(5).getDouble()});
      },
      sql::rank_status_list, impl_->key(run));
  return statuses;
}

std::vector<SampleRecord> Reader::samples(const std::string& run, size_t limit) const {
  std::vector<SampleRecord> samples;
  impl_->rows(
      [&](SQLite::Statement& row) {
        samples.push_back({row.getColumn(0).getInt64(), row.getColumn(1).getInt(), parse(row.getColumn(2).getString())});
      },
      sql::sample_list, impl_->key(run), as_limit(limit));
  return samples;
}

std::vector<wire::Event> Reader::run_events(const std::string& run, size_t limit) const {
  std::vector<wire::Event> events;
  impl_->rows([&](SQLite::Statement& row) { events.push_back(event_of(run, row)); }, sql::event_list, impl_->key(run), as_limit(limit));
  return events;
}

std::vector<wire::Event> Reader::run_events(const std::string& run, const std::vector<std::string>& names, size_t limit) const {
  std::vector<wire::Event> events;
  impl_->rows([&](SQLite::Statement& row) { events.push_back(event_of(run, row)); }, sql::event_list_of_names, impl_->key(run),
              nlohmann::json(names).dump(), as_limit(limit));
  return events;
}

RunCounters Reader::counters(const std::string& run) const {
  RunCounters counters;
  impl_->rows(
      [&](SQLite::Statement& row) {
        int64_t* const fields[] = {&counters.segment,         &counters.metrics_replaced, &counters.logs_dropped, &counters.spans_dropped,
                                   &counters.samples_dropped, &counters.events_dropped,   &counters.duplicates};
        for (int i = 0; i < static_cast<int>(std::size(fields)); ++i) *fields[i] = row.getColumn(i).getInt64();
      },
      sql::run_counters, impl_->key(run));
  return counters;
}

std::vector<SegmentRecord> Reader::segments(const std::string& run) const {
  std::vector<SegmentRecord> segments;
  impl_->rows(
      [&](SQLite::Statement& row) {
        SegmentRecord segment{row.getColumn(0).getInt64(), std::nullopt, row.getColumn(2).getInt64()};
        if (!row.getColumn(1).isNull()) segment.first_step = row.getColumn(1).getInt64();
        segments.push_back(segment);
      },
      sql::segment_list, impl_->key(run));
  return segments;
}

std::vector<NoteRecord> Reader::notes(const std::string& run) const {
  std::vector<NoteRecord> notes;
  impl_->rows(
      [&](SQLite::Statement& row) {
        notes.push_back({row.getColumn(0).getInt64(), row.getColumn(1).getInt64(), row.getColumn(2).getString(), row.getColumn(3).getString()});
      },
      sql::note_list, impl_->key(run));
  return notes;
}

std::vector<AlertRecord> Reader::alerts(const std::string& run) const {
  std::vector<AlertRecord> alerts;
  impl_->rows(
      [&](SQLite::Statement& row) {
        alerts.push_back({row.getColumn(0).getString(), row.getColumn(1).getString(), row.getColumn(2).getString(),
                          parse(row.getColumn(3).getString()), row.getColumn(4).getInt64(), row.getColumn(5).getInt64(),
                          row.getColumn(6).getInt64()});
      },
      sql::alert_list, run.empty() ? 0 : impl_->key(run));
  return alerts;
}

int64_t Reader::last_sign_of_life_unix_ns(const std::string& run) const { return impl_->number(sql::run_last_sign, impl_->key(run)).value_or(0); }

std::vector<wire::Event> Reader::events(uint64_t from, uint64_t to, size_t limit) const {
  std::vector<wire::Event> events;
  impl_->rows(
      [&](SQLite::Statement& row) {
        wire::Event event;
        wire::decode_header(blob_of(row.getColumn(1)), event);
        event.run = row.getColumn(0).getString();
        event.body = wire::decode_body(blob_of(row.getColumn(2)));
        events.push_back(std::move(event));
      },
      sql::journal_range, as_limit(from), as_limit(to), as_limit(limit));
  return events;
}

uint64_t Reader::oldest_journal_sequence() const {
  uint64_t oldest = 1;
  impl_->rows([&](SQLite::Statement& row) { oldest = static_cast<uint64_t>(row.getColumn(1).getInt64()); }, sql::node_row);
  return oldest;
}

uint64_t Reader::node_sequence() const { return static_cast<uint64_t>(impl_->number(sql::node_row).value_or(0)); }

}  // namespace ringwright::history
