#include "shared/exchange/row_json.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "shared/exchange/record_json.h"
#include "shared/history/metric_value.h"

namespace ringwright::exchange {
namespace {

using nlohmann::json;

constexpr int64_t kRankMax = 1'000'000;

// A fraction, or what 64 bits do not hold, is no whole number.
int64_t integer(const json& value) {
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX))
    throw std::invalid_argument("a value is no whole number of 64 bits");
  return value.get<int64_t>();
}

int64_t at_least(int64_t smallest, const json& row, const char* name) {
  const int64_t value = integer(row.at(name));
  if (value < smallest) throw std::invalid_argument(std::string(name) + " is " + std::to_string(value));
  return value;
}

int rank_of(const json& row) {
  const int64_t rank = at_least(-1, row, "rank");
  if (rank > kRankMax) throw std::invalid_argument("rank is " + std::to_string(rank));
  return static_cast<int>(rank);
}

std::string text_of(const json& row, const char* name) { return row.at(name).get<std::string>(); }
uint64_t bytes_of(const json& row, const char* name) { return static_cast<uint64_t>(at_least(0, row, name)); }

json series_to_json(const SeriesPoints& series) {
  json row = {{"metric", series.metric}, {"rank", series.rank}, {"segment", series.segment}};
  for (const char* list : {"steps", "values", "tokens", "times_unix_ns"}) row[list] = json::array();
  for (const history::MetricPoint& point : series.points) {
    row["steps"].push_back(point.step);
    row["values"].push_back(history::metric_value_to_json(point.value));
    row["tokens"].push_back(point.tokens);
    row["times_unix_ns"].push_back(point.time_unix_ns);
  }
  return row;
}

history::MetricPoint checked(history::MetricPoint point) {
  if (point.step < 0) throw std::invalid_argument("a point has step " + std::to_string(point.step));
  return point;
}

SeriesPoints series_from_json(const json& row) {
  SeriesPoints series{text_of(row, "metric"), rank_of(row), at_least(1, row, "segment"), {}};
  if (series.metric.empty()) throw std::invalid_argument("a metric has no name");
  const json &steps = row.at("steps"), &values = row.at("values"), &tokens = row.at("tokens"), &times = row.at("times_unix_ns");
  if (!steps.is_array() || values.size() != steps.size() || tokens.size() != steps.size() || times.size() != steps.size())
    throw std::invalid_argument("the lists of a series differ in length");
  series.points.reserve(steps.size());
  for (size_t i = 0; i < steps.size(); ++i)
    series.points.push_back(
        checked({integer(steps.at(i)), history::metric_value_from_json(values.at(i)), integer(tokens.at(i)), integer(times.at(i)), series.rank}));
  return series;
}

history::SegmentRecord segment_from_json(const json& row) {
  history::SegmentRecord segment;
  segment.segment = at_least(1, row, "segment");
  if (!row.at("first_step").is_null()) segment.first_step = integer(row.at("first_step"));
  segment.opened_unix_ns = integer(row.at("opened_unix_ns"));
  return segment;
}

wire::Event event_from_json(const json& row) {
  wire::Event event;
  const int64_t kind = at_least(0, row, "kind_number");
  if (kind > UINT8_MAX) throw std::invalid_argument("an event of kind " + std::to_string(kind));
  event.kind = static_cast<wire::Kind>(kind);
  event.rank = rank_of(row);
  event.time_unix_ns = integer(row.at("time_unix_ns"));
  event.body = row.at("body");
  if (!event.body.is_object()) throw std::invalid_argument("an event whose body is no map");
  return event;
}

json event_to_json(const wire::Event& event) {
  json row = to_json(event);
  row["kind_number"] = static_cast<int>(event.kind);
  row.erase("run");
  return row;
}

history::AlertRecord alert_from_json(const json& row) {
  history::AlertRecord alert;
  alert.kind = text_of(row, "kind"), alert.topic = text_of(row, "topic"), alert.text = text_of(row, "text");
  alert.detail = row.at("detail");
  alert.count = at_least(1, row, "count");
  alert.first_unix_ns = integer(row.at("first_unix_ns")), alert.last_unix_ns = integer(row.at("last_unix_ns"));
  return alert;
}

history::RunCounters counters_from_json(const json& row) {
  history::RunCounters counters;
  counters.segment = at_least(1, row, "segment");
  counters.metrics_replaced = at_least(0, row, "metrics_replaced");
  counters.logs_dropped = at_least(0, row, "logs_dropped");
  counters.spans_dropped = at_least(0, row, "spans_dropped");
  counters.samples_dropped = at_least(0, row, "samples_dropped");
  counters.events_dropped = at_least(0, row, "events_dropped");
  counters.duplicates = at_least(0, row, "duplicates");
  return counters;
}

// One entry for each alternative of Row, in its order.
struct RowFile {
  const char* name;
  const char* type;
  json (*write)(const Row& row);
  Row (*read)(const json& row);
};

template <class Record>
json write_row(const Row& row) {
  return to_json(std::get<Record>(row));
}

const RowFile kFiles[] = {
    {"metrics", "metric", [](const Row& row) { return series_to_json(std::get<SeriesPoints>(row)); },
     [](const json& row) { return Row(series_from_json(row)); }},
    {"segments", "segment", write_row<history::SegmentRecord>, [](const json& row) { return Row(segment_from_json(row)); }},
    {"fingerprints", "fingerprint",
     [](const Row& row) {
       const auto& print = std::get<FingerprintRow>(row);
       return json{{"segment", print.segment}, {"source", print.source}, {"content", print.content}};
     },
     [](const json& row) { return Row(FingerprintRow{at_least(1, row, "segment"), text_of(row, "source"), row.at("content")}); }},
    {"logs", "log", write_row<history::LogLine>,
     [](const json& row) {
       return Row(history::LogLine{0, integer(row.at("time_unix_ns")), rank_of(row), text_of(row, "level"), text_of(row, "text")});
     }},
    {"events", "event", [](const Row& row) { return event_to_json(std::get<wire::Event>(row)); },
     [](const json& row) { return Row(event_from_json(row)); }},
    {"samples", "sample", write_row<history::SampleRecord>,
     [](const json& row) { return Row(history::SampleRecord{integer(row.at("step")), rank_of(row), row.at("body")}); }},
    {"spans", "span", write_row<history::SpanRecord>,
     [](const json& row) {
       return Row(
           history::SpanRecord{rank_of(row), integer(row.at("step")), text_of(row, "phase"), integer(row.at("begin_ns")), integer(row.at("end_ns"))});
     }},
    {"checkpoints", "checkpoint", write_row<history::CheckpointRecord>,
     [](const json& row) {
       return Row(history::CheckpointRecord{at_least(0, row, "step"), text_of(row, "path"), bytes_of(row, "bytes"), integer(row.at("time_unix_ns"))});
     }},
    {"ranks", "rank", write_row<history::RankStatus>,
     [](const json& row) {
       return Row(history::RankStatus{rank_of(row), integer(row.at("step")), integer(row.at("time_unix_ns")), bytes_of(row, "resident_bytes"),
                                      bytes_of(row, "resident_bytes_max"), row.at("cpu_seconds").get<double>()});
     }},
    {"notes", "note", write_row<history::NoteRecord>,
     [](const json& row) { return Row(history::NoteRecord{0, integer(row.at("time_unix_ns")), text_of(row, "author"), text_of(row, "text")}); }},
    {"alerts", "alert", write_row<history::AlertRecord>, [](const json& row) { return Row(alert_from_json(row)); }},
    {"counters", "counters", write_row<history::RunCounters>, [](const json& row) { return Row(counters_from_json(row)); }}};
static_assert(std::size(kFiles) == std::variant_size_v<Row>);

}  // namespace

std::string file_of(const Row& row) { return kFiles[row.index()].name; }
std::string type_of(const Row& row) { return kFiles[row.index()].type; }

std::string file_of_type(std::string_view type) {
  for (const RowFile& file : kFiles)
    if (type == file.type) return file.name;
  return "";
}

json row_to_json(const Row& row) { return kFiles[row.index()].write(row); }

Row row_from_json(std::string_view name, const json& row) {
  for (const RowFile& file : kFiles)
    if (name == file.name) return file.read(row);
  throw std::out_of_range("no file of ours");
}

history::MetricPoint point_from_json(const json& row) {
  return checked({integer(row.at("step")), history::metric_value_from_json(row.at("value")), integer(row.at("tokens")),
                  integer(row.at("time_unix_ns")), rank_of(row)});
}

history::RunRecord run_from_json(const json& row) {
  history::RunRecord run;
  run.id = text_of(row, "id");
  const bool good_id = run.id.size() == 10 && run.id.starts_with("r_") &&
                       std::all_of(run.id.begin() + 2, run.id.end(), [](unsigned char c) { return std::isdigit(c) || (c >= 'a' && c <= 'f'); });
  if (!good_id) throw std::invalid_argument("a run's id is r_ and 8 hexadecimal digits");
  run.name = text_of(row, "name"), run.algorithm = text_of(row, "algorithm"), run.reason = text_of(row, "reason");
  run.state = history::run_state_from_string(text_of(row, "state"));
  run.created_unix_ns = integer(row.at("created_unix_ns"));
  run.started_unix_ns = integer(row.at("started_unix_ns"));
  run.ended_unix_ns = integer(row.at("ended_unix_ns"));
  run.duration_ns = integer(row.at("duration_ns"));
  const int64_t world_size = at_least(1, row, "world_size");
  if (world_size > kRankMax) throw std::invalid_argument("world_size is " + std::to_string(world_size));
  run.world_size = static_cast<int>(world_size);
  run.mesh = row.at("mesh"), run.recipe = row.at("recipe");
  if (!run.mesh.is_object() || !run.recipe.is_object()) throw std::invalid_argument("mesh or recipe is no map");
  run.recipe_text = text_of(row, "recipe_text"), run.recipe_path = text_of(row, "recipe_path");
  run.overrides = row.at("overrides").get<std::vector<std::string>>();
  run.fingerprint = row.at("fingerprint");
  run.failed_rank = static_cast<int>(std::min(at_least(-1, row, "failed_rank"), kRankMax));
  run.last_step = at_least(-1, row, "last_step");
  run.color_index = static_cast<int>(at_least(0, row, "color_index") % 8);
  run.segment = at_least(1, row, "segment");
  run.archived = row.at("archived").get<bool>();
  run.tags = row.at("tags").get<std::vector<std::string>>();
  return run;
}

}  // namespace ringwright::exchange
