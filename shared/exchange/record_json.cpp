#include "shared/exchange/record_json.h"

#include <fmt/format.h>

#include "shared/history/metric_value.h"

namespace ringwright::exchange {
namespace {

struct KindName {
  wire::Kind kind;
  const char* name;
};
constexpr KindName kKindNames[] = {{wire::Kind::metric, "metric"}, {wire::Kind::log, "log"},       {wire::Kind::event, "event"},
                                   {wire::Kind::span, "span"},     {wire::Kind::sample, "sample"}, {wire::Kind::heartbeat, "heartbeat"}};

std::string kind_name(wire::Kind kind) {
  for (const KindName& entry : kKindNames)
    if (entry.kind == kind) return entry.name;
  return fmt::format("unknown {}", static_cast<int>(kind));
}

// JSON has no NaN; nlohmann would print null.
nlohmann::json with_printable_numbers(nlohmann::json json) {
  if (json.is_number_float()) return history::metric_value_to_json(json.get<double>());
  if (json.is_structured())
    for (auto& item : json) item = with_printable_numbers(std::move(item));
  return json;
}

}  // namespace

nlohmann::json to_json(const history::RunRecord& run) {
  return {{"id", run.id},
          {"name", run.name},
          {"algorithm", run.algorithm},
          {"state", std::string(history::to_string(run.state))},
          {"reason", run.reason},
          {"failed_rank", run.failed_rank},
          {"created_unix_ns", run.created_unix_ns},
          {"started_unix_ns", run.started_unix_ns},
          {"ended_unix_ns", run.ended_unix_ns},
          {"duration_ns", run.duration_ns},
          {"world_size", run.world_size},
          {"mesh", run.mesh},
          {"recipe_path", run.recipe_path},
          {"overrides", run.overrides},
          {"last_step", run.last_step},
          {"segment", run.segment},
          {"archived", run.archived},
          {"imported_from", run.imported_from},
          {"tags", run.tags}};
}

nlohmann::json to_whole_json(const history::RunRecord& run) {
  nlohmann::json json = to_json(run);
  json["recipe"] = run.recipe;
  json["recipe_text"] = run.recipe_text;
  json["fingerprint"] = run.fingerprint;
  json["color_index"] = run.color_index;
  return json;
}

nlohmann::json to_json(const history::MetricPoint& point) {
  return {{"step", point.step},
          {"value", history::metric_value_to_json(point.value)},
          {"tokens", point.tokens},
          {"time_unix_ns", point.time_unix_ns},
          {"rank", point.rank}};
}

nlohmann::json to_json(const history::LogLine& line) {
  return {
      {"node_sequence", line.node_sequence}, {"time_unix_ns", line.time_unix_ns}, {"rank", line.rank}, {"level", line.level}, {"text", line.text}};
}

nlohmann::json to_json(const history::SpanRecord& span) {
  return {{"rank", span.rank}, {"step", span.step}, {"phase", span.phase}, {"begin_ns", span.begin_ns}, {"end_ns", span.end_ns}};
}

nlohmann::json to_json(const history::CheckpointRecord& checkpoint) {
  return {{"step", checkpoint.step}, {"path", checkpoint.path}, {"bytes", checkpoint.bytes}, {"time_unix_ns", checkpoint.time_unix_ns}};
}

nlohmann::json to_json(const history::RankStatus& status) {
  return {{"rank", status.rank},
          {"step", status.step},
          {"time_unix_ns", status.time_unix_ns},
          {"resident_bytes", status.resident_bytes},
          {"resident_bytes_max", status.resident_bytes_max},
          {"cpu_seconds", status.cpu_seconds}};
}

nlohmann::json to_json(const history::SampleRecord& sample) { return {{"step", sample.step}, {"rank", sample.rank}, {"body", sample.body}}; }

nlohmann::json to_json(const history::SegmentRecord& segment) {
  return {{"segment", segment.segment},
          {"first_step", segment.first_step ? nlohmann::json(*segment.first_step) : nlohmann::json()},
          {"opened_unix_ns", segment.opened_unix_ns}};
}

nlohmann::json to_json(const history::NoteRecord& note) {
  return {{"key", note.key}, {"time_unix_ns", note.time_unix_ns}, {"author", note.author}, {"text", note.text}};
}

nlohmann::json to_json(const history::AlertRecord& alert) {
  return {{"kind", alert.kind},
          {"topic", alert.topic},
          {"text", alert.text},
          {"detail", with_printable_numbers(alert.detail)},
          {"count", alert.count},
          {"first_unix_ns", alert.first_unix_ns},
          {"last_unix_ns", alert.last_unix_ns}};
}

nlohmann::json to_json(const history::RunCounters& counters) {
  return {{"segment", counters.segment},
          {"metrics_replaced", counters.metrics_replaced},
          {"logs_dropped", counters.logs_dropped},
          {"spans_dropped", counters.spans_dropped},
          {"samples_dropped", counters.samples_dropped},
          {"events_dropped", counters.events_dropped},
          {"duplicates", counters.duplicates}};
}

nlohmann::json to_json(const wire::Event& event) {
  return {{"kind", kind_name(event.kind)},
          {"run", event.run},
          {"rank", event.rank},
          {"node_sequence", event.node_sequence},
          {"time_unix_ns", event.time_unix_ns},
          {"body", with_printable_numbers(event.body)}};
}

std::string dump_line(const nlohmann::json& json) { return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"; }
std::string dump_document(const nlohmann::json& json) { return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"; }
std::string dump_ordered_document(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace ringwright::exchange
