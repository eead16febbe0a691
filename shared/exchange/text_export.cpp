#include "shared/exchange/text_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "shared/exchange/record_json.h"
#include "shared/history/metric_value.h"

namespace ringwright::exchange {
namespace {

constexpr int kExportVersion = 1;
constexpr size_t kLogsPage = 10'000;
constexpr size_t kSamplesMax = 10'000'000;

// Oldest first.
std::vector<history::SampleRecord> samples_in_order(const history::Reader& reader, const std::string& run) {
  std::vector<history::SampleRecord> samples = reader.samples(run, kSamplesMax);
  std::reverse(samples.begin(), samples.end());
  return samples;
}

std::vector<history::SpanRecord> all_spans(const history::Reader& reader, const std::string& run) {
  return reader.spans(run, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
}

}  // namespace

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

void for_each_series(const history::Reader& reader, const std::string& run, const std::function<void(const std::string&, int)>& visit) {
  for (const std::string& name : reader.metric_names(run))
    for (const int rank : reader.metric_ranks(run, name)) visit(name, rank);
}

void for_each_log(const history::Reader& reader, const std::string& run, const std::function<void(const history::LogLine&)>& visit) {
  for (uint64_t after = 0;;) {
    const std::vector<history::LogLine> lines = reader.logs(run, after, kLogsPage, false);
    for (const history::LogLine& line : lines) visit(line);
    if (lines.size() < kLogsPage) return;
    after = lines.back().node_sequence;
  }
}

void export_csv(const history::Reader& reader, const history::RunRecord& run, const Write& write) {
  write("metric,rank,step,value,tokens,time_unix_ns\n");
  for_each_series(reader, run.id, [&](const std::string& name, int rank) {
    for (const history::MetricPoint& point : reader.metric(run.id, name, rank))
      write(fmt::format("{},{},{},{},{},{}\n", csv_field(name), rank, point.step, csv_number(point.value), point.tokens, point.time_unix_ns));
  });
}

void export_jsonl(const history::Reader& reader, const history::RunRecord& run, const Write& write) {
  const auto row = [&](const char* type, nlohmann::json json) {
    json["type"] = type;
    write(dump_line(json));
  };
  nlohmann::json first = to_whole_json(run);
  first["export_version"] = kExportVersion;
  row("run", std::move(first));
  for_each_series(reader, run.id, [&](const std::string& name, int rank) {
    for (const history::MetricPoint& point : reader.metric(run.id, name, rank)) {
      nlohmann::json json = to_json(point);
      json["metric"] = name;
      row("metric", std::move(json));
    }
  });
  for (const history::CheckpointRecord& checkpoint : reader.checkpoints(run.id)) row("checkpoint", to_json(checkpoint));
  for_each_log(reader, run.id, [&](const history::LogLine& line) { row("log", to_json(line)); });
  for (const history::SampleRecord& sample : samples_in_order(reader, run.id)) row("sample", to_json(sample));
  for (const history::SpanRecord& span : all_spans(reader, run.id)) row("span", to_json(span));
}

void export_json(const history::Reader& reader, const history::RunRecord& run, const Write& write) {
  nlohmann::json json = {{"export_version", kExportVersion}, {"run", to_whole_json(run)}};
  for (const char* list : {"metrics", "checkpoints", "logs", "samples", "spans"}) json[list] = nlohmann::json::array();
  for_each_series(reader, run.id, [&](const std::string& name, int rank) {
    nlohmann::json list = nlohmann::json::array();
    for (const history::MetricPoint& point : reader.metric(run.id, name, rank)) list.push_back(to_json(point));
    json["metrics"].push_back({{"metric", name}, {"rank", rank}, {"points", std::move(list)}});
  });
  for (const history::CheckpointRecord& checkpoint : reader.checkpoints(run.id)) json["checkpoints"].push_back(to_json(checkpoint));
  for_each_log(reader, run.id, [&](const history::LogLine& line) { json["logs"].push_back(to_json(line)); });
  for (const history::SampleRecord& sample : samples_in_order(reader, run.id)) json["samples"].push_back(to_json(sample));
  for (const history::SpanRecord& span : all_spans(reader, run.id)) json["spans"].push_back(to_json(span));
  write(dump_document(json));
}

}  // namespace ringwright::exchange
