#include "console/cli/run_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "console/cli/terminal.h"
#include "shared/base/printable.h"
#include "shared/history/metric_value.h"

namespace ringwright::cli {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

struct StateStyle {
  history::RunState state;
  Style style;
};
constexpr StateStyle kStateStyles[] = {{history::RunState::paused, Style::warning},  {history::RunState::running, Style::accent},
                                       {history::RunState::starting, Style::accent}, {history::RunState::stopping, Style::warning},
                                       {history::RunState::finished, Style::good},   {history::RunState::failed, Style::bad},
                                       {history::RunState::lost, Style::bad},        {history::RunState::stopped, Style::warning}};

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

std::string format_time(int64_t time_unix_ns) {
  if (time_unix_ns == 0) return "-";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(time_unix_ns / kNsPerSecond)));
}

std::optional<double> elapsed_seconds(const history::RunRecord& run, int64_t now_unix_ns) {
  const int64_t end = run.ended_unix_ns ? run.ended_unix_ns : now_unix_ns;
  if (run.started_unix_ns == 0 || end < run.started_unix_ns) return std::nullopt;
  return static_cast<double>(end - run.started_unix_ns) / static_cast<double>(kNsPerSecond);
}

std::string format_mesh(const nlohmann::json& mesh) {
  std::string text;
  if (mesh.is_object())
    for (const char* axis : {"pp", "dp_replicate", "dp_shard", "cp", "tp"})
      if (const int size = mesh.value(axis, 1); size > 1) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, size);
  return text.empty() ? "1 rank" : text;
}

history::RunRecord printable(history::RunRecord run) {
  for (std::string* text : {&run.name, &run.algorithm, &run.reason, &run.recipe_path}) *text = text::printable(*text);
  for (std::string& text : run.overrides) text = text::printable(text);
  return run;
}

std::string tolerance_verdict(bool good, double tolerance) {
  return fmt::format("{} the tolerance {:g}", good ? styled("within", Style::good) : styled("beyond", Style::bad), tolerance);
}

std::string styled_state(history::RunState state) {
  for (const StateStyle& entry : kStateStyles)
    if (entry.state == state) return styled(history::to_string(state), entry.style);
  return std::string(history::to_string(state));
}

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
          {"world_size", run.world_size},
          {"mesh", run.mesh},
          {"recipe_path", run.recipe_path},
          {"overrides", run.overrides},
          {"last_step", run.last_step}};
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

}  // namespace ringwright::cli
