#include "shared/exchange/import.h"

#include <optional>

#include "shared/exchange/run_archive.h"
#include "shared/exchange/tensorboard_files.h"
#include "shared/exchange/text_import.h"
#include "shared/fingerprint/inputs.h"
#include "shared/history/edits.h"
#include "shared/history/store.h"

namespace ringwright::exchange {
namespace {

namespace fs = std::filesystem;

constexpr size_t kIdDigits = 8;
constexpr int kColors = 8;  // in the console's series palette

// Puts each row where it belongs.
struct IntoHistory {
  history::RunImport& run;
  void operator()(const SeriesPoints& series) { run.add_points(series.metric, series.rank, series.segment, series.points); }
  void operator()(const history::SegmentRecord& segment) { run.add_segment(segment); }
  void operator()(const FingerprintRow& row) { run.add_fingerprint(row.segment, row.source, row.content); }
  void operator()(const history::LogLine& line) { run.add_log(line); }
  void operator()(const wire::Event& event) {
    const auto name = event.body.find("name");
    run.add_event(event, name != event.body.end() && name->is_string() ? name->get<std::string>() : "");
  }
  void operator()(const history::SampleRecord& sample) { run.add_sample(sample); }
  void operator()(const history::SpanRecord& span) { run.add_span(span); }
  void operator()(const history::CheckpointRecord& checkpoint) { run.add_checkpoint(checkpoint); }
  void operator()(const history::RankStatus& status) { run.add_rank_status(status); }
  void operator()(const history::NoteRecord& note) { run.add_note(note); }
  void operator()(const history::AlertRecord& alert) { run.add_alert(alert); }
  void operator()(const history::RunCounters& counters) { run.set_counters(counters); }
};

std::optional<history::RunRecord> find_by_id(const history::Reader& reader, const std::string& id) {
  try {
    history::RunRecord run = reader.run(id);
    if (run.id == id) return run;
  } catch (const Error& error) {
    if (error.parts().code != "RW-STORE-011") throw;
  }
  return std::nullopt;
}

// What tells one import from another, kept with the run's fingerprint.
std::string hash_of(const history::RunRecord& run) {
  for (const char* pointer : {"/imported/xxh3", "/workers/import/imported/xxh3"})
    if (const nlohmann::json::json_pointer place(pointer); run.fingerprint.contains(place) && run.fingerprint.at(place).is_string())
      return run.fingerprint.at(place).get<std::string>();
  return "";
}

struct Place {
  std::string id;  // free, or the run's that is there already
  bool taken_by_itself = false;
};

// The first of the ids that is free, or that the same run has.
template <class IsSame>
Place choose_id(const history::Reader& reader, const std::vector<std::string>& ids, IsSame is_same) {
  for (const std::string& id : ids) {
    const auto there = find_by_id(reader, id);
    if (!there) return {id, false};
    if (is_same(*there)) return {id, true};
  }
  throw Error({"RW-IMPORT-002", "other runs have the ids that this one could have", ids.front(), "a free id",
               "delete or archive the run with that id", ExitCode::store});
}

std::vector<std::string> ids_of_hash(const std::string& xxh3) { return {"r_" + xxh3.substr(0, kIdDigits), "r_" + xxh3.substr(kIdDigits, kIdDigits)}; }

std::string whole_path(const fs::path& place) {
  std::error_code failure;
  const fs::path whole = fs::absolute(place, failure);
  return (failure ? place : whole).lexically_normal().string();
}

TextExport read_whole_archive(const fs::path& file, const TakeRow& take) { return {read_archive(file, take), {}}; }

// One run in one file, which is read to its end first and then once more into the store.
ImportReport import_file(const fs::path& store, const fs::path& file, const std::string& name) {
  const auto read = begins_like_json(file) ? read_text_export : read_whole_archive;
  ImportReport report;
  TextExport content = read(file, [&](Row&& row) {
    if (const auto* series = std::get_if<SeriesPoints>(&row)) report.points += series->points.size();
  });
  history::RunRecord& run = content.run;
  report.notes = std::move(content.notes);
  if (!name.empty()) run.name = name;
  if (!history::is_final(run.state)) {
    report.notes.push_back("the run was " + std::string(history::to_string(run.state)) + " when it was exported");
    run.reason = "exported while it was " + std::string(history::to_string(run.state));
    run.state = history::RunState::lost;
  }
  history::Editor editor(store, history::Editor::Missing::create);
  const history::Reader reader(store);
  const std::string xxh3 = fingerprint::xxh3_of_file(file);
  std::vector<std::string> ids = ids_of_hash(xxh3);
  ids.insert(ids.begin(), run.id);
  const Place place = choose_id(reader, ids, [&](const history::RunRecord& there) {
    return (there.id == run.id && there.created_unix_ns == run.created_unix_ns && there.algorithm == run.algorithm) || hash_of(there) == xxh3;
  });
  if (place.id != run.id) report.notes.push_back("another run has the id " + run.id + " here");
  report.run = run.id = place.id;
  report.name = run.name;
  report.already_there = place.taken_by_itself;
  if (report.already_there) return report;
  run.imported_from = whole_path(file);
  run.fingerprint = nlohmann::json();  // comes with the rows
  run.archived = false;                // it is wanted now
  editor.import_run(run, [&](history::RunImport& import) {
    read(file, [&](Row&& row) { std::visit(IntoHistory{import}, row); });
    import.add_fingerprint(run.segment, "import", {{"imported", {{"xxh3", xxh3}}}});
  });
  return report;
}

ImportReport import_one(history::Editor& editor, const history::Reader& reader, const fs::path& source, TensorboardRun& content) {
  history::RunRecord& run = content.run;
  const Place place = choose_id(reader, ids_of_hash(content.xxh3), [&](const history::RunRecord& there) { return hash_of(there) == content.xxh3; });
  run.id = place.id;
  ImportReport report{run.id, run.name, place.taken_by_itself, 0, std::move(content.notes)};
  for (const SeriesPoints& series : content.series) report.points += series.points.size();
  if (report.already_there) return report;
  run.imported_from = whole_path(source);
  run.fingerprint = {{"imported", {{"format", "tensorboard"}, {"xxh3", content.xxh3}}}};
  run.color_index = std::stoi(content.xxh3.substr(0, 1), nullptr, 16) % kColors;
  editor.import_run(run, [&](history::RunImport& import) {
    IntoHistory into{import};
    for (const history::SegmentRecord& segment : content.segments) into(segment);
    for (const SeriesPoints& series : content.series) into(series);
  });
  return report;
}

std::vector<ImportReport> import_tensorboard(const fs::path& store, const fs::path& place, const std::string& name) {
  std::vector<TensorboardRun> runs = read_tensorboard(place);
  if (!name.empty() && runs.size() > 1)
    throw Error({"RW-IMPORT-001", "there are " + std::to_string(runs.size()) + " runs here, and one name for them", place.string(),
                 "a folder with one run", "import without --name, or name the folder of one run"});
  if (!name.empty()) runs.front().run.name = name;
  history::Editor editor(store, history::Editor::Missing::create);
  const history::Reader reader(store);
  std::vector<ImportReport> reports;
  for (TensorboardRun& run : runs) reports.push_back(import_one(editor, reader, place, run));
  return reports;
}

bool is_event_files(const fs::path& place) {
  std::error_code failure;
  return fs::is_directory(place, failure) || place.filename().string().find("tfevents") != std::string::npos;
}

}  // namespace

std::vector<ImportReport> import_runs(const fs::path& store, const fs::path& place, const std::string& name) {
  if (is_event_files(place)) return import_tensorboard(store, place, name);
  return {import_file(store, place, name)};
}

}  // namespace ringwright::exchange
