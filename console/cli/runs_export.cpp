#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>

#include "console/cli/metric_series.h"
#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"

namespace ringwright::cli {
namespace {

constexpr int kExportVersion = 1;

struct Options {
  StoreOption store;
  std::string run, format, output;
};

using Write = std::function<void(const std::string&)>;

Error cannot_write(const std::string& file) {
  return Error({"RW-CLI-011", "the export cannot be written: " + std::string(std::strerror(errno)), file, "a place with room where you may write",
                "name another file with -o FILE", ExitCode::usage});
}

// Calls `visit` with each metric and rank that the run has, and the points.
void for_each_series(const history::Reader& reader, const std::string& run,
                     const std::function<void(const std::string&, int, const std::vector<history::MetricPoint>&)>& visit) {
  for (const std::string& name : reader.metric_names(run))
    for (const int rank : reader.metric_ranks(run, name)) visit(name, rank, reader.metric(run, name, rank));
}

void for_each_log(const history::Reader& reader, const std::string& run, const std::function<void(const history::LogLine&)>& visit) {
  constexpr size_t kPage = 10'000;
  for (uint64_t after = 0;;) {
    const std::vector<history::LogLine> lines = reader.logs(run, after, kPage, false);
    for (const history::LogLine& line : lines) visit(line);
    if (lines.size() < kPage) return;
    after = lines.back().node_sequence;
  }
}

nlohmann::json head(const history::RunRecord& run) {
  nlohmann::json json = to_json(run);
  json["recipe"] = run.recipe;
  json["recipe_text"] = run.recipe_text;
  json["fingerprint"] = run.fingerprint;
  return json;
}

nlohmann::json checkpoint_json(const history::CheckpointRecord& checkpoint) {
  return {{"step", checkpoint.step}, {"path", checkpoint.path}, {"bytes", checkpoint.bytes}, {"time_unix_ns", checkpoint.time_unix_ns}};
}

void export_csv(const history::Reader& reader, const history::RunRecord& run, const Write& write) {
  write("metric,rank,step,value,tokens,time_unix_ns\n");
  for_each_series(reader, run.id, [&](const std::string& name, int rank, const auto& points) {
    for (const history::MetricPoint& point : points)
      write(fmt::format("{},{},{},{},{},{}\n", csv_field(name), rank, point.step, csv_number(point.value), point.tokens, point.time_unix_ns));
  });
}

void export_jsonl(const history::Reader& reader, const history::RunRecord& run, const Write& write) {
  const auto row = [&](const char* type, nlohmann::json json) {
    json["type"] = type;
    write(dump_line(json));
  };
  nlohmann::json first = head(run);
  first["export_version"] = kExportVersion;
  row("run", std::move(first));
  for_each_series(reader, run.id, [&](const std::string& name, int, const auto& points) {
    for (const history::MetricPoint& point : points) {
      nlohmann::json json = to_json(point);
      json["metric"] = name;
      row("metric", std::move(json));
    }
  });
  for (const history::CheckpointRecord& checkpoint : reader.checkpoints(run.id)) row("checkpoint", checkpoint_json(checkpoint));
  for_each_log(reader, run.id, [&](const history::LogLine& line) { row("log", to_json(line)); });
}

void export_json(const history::Reader& reader, const history::RunRecord& run, const Write& write) {
  nlohmann::json json = {{"export_version", kExportVersion}, {"run", head(run)}};
  for (const char* list : {"metrics", "checkpoints", "logs"}) json[list] = nlohmann::json::array();
  for_each_series(reader, run.id, [&](const std::string& name, int rank, const auto& points) {
    nlohmann::json list = nlohmann::json::array();
    for (const history::MetricPoint& point : points) list.push_back(to_json(point));
    json["metrics"].push_back({{"metric", name}, {"rank", rank}, {"points", std::move(list)}});
  });
  for (const history::CheckpointRecord& checkpoint : reader.checkpoints(run.id)) json["checkpoints"].push_back(checkpoint_json(checkpoint));
  for_each_log(reader, run.id, [&](const history::LogLine& line) { json["logs"].push_back(to_json(line)); });
  write(dump_document(json));
}

struct Format {
  const char* name;
  void (*write)(const history::Reader&, const history::RunRecord&, const Write&);
};
constexpr Format kFormats[] = {{"csv", export_csv}, {"json", export_json}, {"jsonl", export_jsonl}};

void write_in_format(const Options& options, const history::Reader& reader, const history::RunRecord& run, std::FILE* stream,
                     const std::string& place) {
  const Write write = [&](const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stream) != text.size()) throw cannot_write(place);
  };
  for (const Format& format : kFormats)
    if (options.format == format.name) format.write(reader, run, write);
  if (std::fflush(stream) != 0) throw cannot_write(place);
}

// A device or a pipe is written as it is: renaming would put a file in its place.
void write_to_device(const Options& options, const history::Reader& reader, const history::RunRecord& run) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(options.output.c_str(), "w"), &std::fclose);
  if (!stream) throw cannot_write(options.output);
  write_in_format(options, reader, run, stream.get(), options.output);
}

// Beside the target first, so that a failed export leaves what was there. A link stays one.
void write_to_file(const Options& options, const history::Reader& reader, const history::RunRecord& run) {
  std::error_code failure;
  const std::filesystem::file_status there = std::filesystem::status(options.output, failure);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) return write_to_device(options, reader, run);
  const std::string target = std::filesystem::exists(there) ? std::filesystem::canonical(options.output, failure).string() : options.output;
  const std::string part = target + ".part";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(part.c_str(), "w"), &std::fclose);
  if (!stream) throw cannot_write(options.output);
  try {
    write_in_format(options, reader, run, stream.get(), options.output);
    if (std::fclose(stream.release()) != 0 || std::rename(part.c_str(), target.c_str()) != 0) throw cannot_write(options.output);
  } catch (const Error&) {
    std::remove(part.c_str());
    throw;
  }
}

std::string format_of(const std::filesystem::path& output) {
  for (const Format& format : kFormats)
    if (output.extension() == std::string(".") + format.name) return format.name;
  return "json";
}

int export_run(Options options, const Invocation& invocation) {
  if (options.format.empty()) options.format = format_of(options.output);
  if (invocation.json) options.format = "json";
  const history::Reader reader = options.store.open();
  const history::RunRecord run = reader.run(options.run);
  options.output.empty() || options.output == "-" ? write_in_format(options, reader, run, stdout, "stdout") : write_to_file(options, reader, run);
  return 0;
}

}  // namespace

void build_runs_export(CLI::App& runs, Invocation& invocation) {
  CLI::App& command = add_subverb(runs, "export", "A run as CSV (metrics) or JSON (all of it); NaN and infinities as texts");
  auto options = std::make_shared<Options>();
  command.add_option("run", options->run, "the run's id, the beginning of one, a name, or last")->required();
  command.add_option("--format", options->format, "csv, json or jsonl (default: as FILE ends, else json)")
      ->check(CLI::IsMember({"csv", "json", "jsonl"}));
  command.add_option("-o,--output", options->output, "where to (default: stdout)")->type_name("FILE");
  options->store.add_to(command);
  set_action(command, invocation, [options, &invocation] { return export_run(*options, invocation); });
}

}  // namespace ringwright::cli
