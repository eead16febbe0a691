#include "shared/exchange/text_export.h"

#include <fmt/format.h>

#include "shared/exchange/record_json.h"
#include "shared/exchange/row_json.h"
#include "shared/exchange/run_content.h"
#include "shared/history/metric_value.h"

namespace ringwright::exchange {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_number(double value) {
  const nlohmann::json json = history::metric_value_to_json(value);
  return json.is_string() ? json.get<std::string>() : fmt::format("{}", value);
}

void export_csv(const history::Reader& reader, const history::RunRecord& run, const Write& write) {
  write("metric,rank,step,value,tokens,time_unix_ns\n");
  for_each_series(reader, run.id, [&](const std::string& name, int rank) {
    for (const history::MetricPoint& point : reader.metric(run.id, name, rank))
      write(fmt::format("{},{},{},{},{},{}\n", csv_field(name), rank, point.step, csv_number(point.value), point.tokens, point.time_unix_ns));
  });
}

void export_jsonl(const history::Reader& reader, const history::RunRecord& run, const Write& write) {
  uint64_t rows = 0;
  const auto line = [&](const std::string& type, nlohmann::json json) {
    json["type"] = type;
    write(dump_line(json));
    ++rows;
  };
  const TakeRow take = [&](Row&& row) { line(type_of(row), row_to_json(row)); };
  nlohmann::json first = to_whole_json(run);
  first["export_version"] = kExportVersion;
  line("run", std::move(first));
  for_each_row_before_points(reader, run, take);
  for_each_series(reader, run.id, [&](const std::string& name, int rank) {
    for (const history::MetricPoint& point : reader.metric(run.id, name, rank)) {
      nlohmann::json json = to_json(point);
      json["metric"] = name;
      line("metric", std::move(json));
    }
  });
  for_each_row_after_points(reader, run, take);
  line("end", {{"lines", rows}});
}

void export_json(const history::Reader& reader, const history::RunRecord& run, const Write& write) {
  nlohmann::json json = {{"export_version", kExportVersion}, {"run", to_whole_json(run)}};
  for (const char* list : {"segments", "metrics", "logs", "events", "samples", "spans", "checkpoints", "ranks", "notes", "alerts"})
    json[list] = nlohmann::json::array();
  const TakeRow take = [&](Row&& row) {
    if (std::holds_alternative<history::RunCounters>(row))
      json["counters"] = row_to_json(row);
    else
      json[file_of(row)].push_back(row_to_json(row));
  };
  for_each_row_before_points(reader, run, take);
  for_each_series(reader, run.id, [&](const std::string& name, int rank) {
    nlohmann::json list = nlohmann::json::array();
    for (const history::MetricPoint& point : reader.metric(run.id, name, rank)) list.push_back(to_json(point));
    json["metrics"].push_back({{"metric", name}, {"rank", rank}, {"points", std::move(list)}});
  });
  for_each_row_after_points(reader, run, take);
  write(dump_document(json));
}

}  // namespace ringwright::exchange
