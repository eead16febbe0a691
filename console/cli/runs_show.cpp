#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "console/cli/run_estimate.h"
#include "console/cli/run_guards.h"
#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"

namespace ringwright::cli {
namespace {

struct Options {
  StoreOption store;
  std::string run;
  bool recipe = false;
};

void line(const char* title, const std::string& value) {
  if (!value.empty()) fmt::print("{} {}\n", styled(fmt::format("{:<12}", title), Style::dim), value);
}

std::string join(const std::vector<std::string>& texts) { return fmt::format("{}", fmt::join(texts, " ")); }

// What the run's workers said of themselves; the first that says anything of `name` speaks for all.
nlohmann::json said_by_workers(const nlohmann::json& fingerprint, const char* name) {
  for (const nlohmann::json& worker : fingerprint.value("workers", nlohmann::json::object()))
    if (worker.contains(name) && worker.at(name).is_object()) return worker.at(name);
  return nlohmann::json::object();
}

std::string text_of(const nlohmann::json& value) { return text::printable(value.is_string() ? value.get<std::string>() : value.dump()); }

void print_libraries(const nlohmann::json& fingerprint) {
  nlohmann::json all = fingerprint.value("libraries", nlohmann::json::object());
  all.update(said_by_workers(fingerprint, "libraries"));
  std::string text;
  for (const auto& [name, version] : all.items()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", text::printable(name), text_of(version));
  line("libraries", text);
}

void print_head(const history::RunRecord& run) {
  const auto elapsed = history::elapsed_seconds(run, wire::now_unix_ns());
  line("run", run.id + "  " + styled(run.name, Style::bold));
  line("state", styled_state(run.state) + (run.reason.empty() ? "" : ": " + run.reason));
  if (run.failed_rank >= 0) line("failed rank", std::to_string(run.failed_rank));
  line("algorithm", run.algorithm);
  line("ranks", fmt::format("{} ({})", run.world_size, format_mesh(run.mesh)));
  line("tags", join(run.tags));
  if (run.archived) line("archived", "yes: lists leave it out");
  line("imported", run.imported_from);
  line("recipe", run.recipe_path);
  line("overrides", join(run.overrides));
  line("created", format_time(run.created_unix_ns));
  line("started", format_time(run.started_unix_ns));
  line("ended", format_time(run.ended_unix_ns));
  line("elapsed", elapsed ? text::format_elapsed(*elapsed) : "-");
  if (run.last_step >= 0) line("last step", std::to_string(run.last_step));
  if (run.fingerprint.contains("node"))
    line("node", fmt::format("{}, {}, Ringwright {}", run.fingerprint.value("node", ""), run.fingerprint.value("kernel", ""),
                             run.fingerprint.value("ringwright", "")));
  print_libraries(run.fingerprint);
}

// One row for each file that went in, with the hash that tells it from another.
void print_inputs(const nlohmann::json& fingerprint) {
  Table table({{"input"}, {"size", Align::right}, {"xxh3"}, {"file", Align::left, true}});
  const auto add = [&](const std::string& input, const nlohmann::json& entry, const std::string& file) {
    const std::string size = entry.contains("bytes") ? text::format_bytes(entry.at("bytes").get<uint64_t>()) : "";
    table.add_row({input, size, text_of(entry.contains("xxh3") ? entry.at("xxh3") : entry.value("error", nlohmann::json("-"))), file});
  };
  const nlohmann::json inputs = said_by_workers(fingerprint, "inputs");
  for (const auto& [name, entry] : inputs.items()) {
    const std::string input = text::printable(name), path = entry.contains("path") ? text_of(entry.at("path")) : "";
    if (!entry.contains("files")) add(input, entry, path);
    const nlohmann::json files = entry.value("files", nlohmann::json::object());
    for (const auto& [file, part] : files.items()) add(input, part, path + "/" + text::printable(file));
  }
  if (table.empty()) return;
  std::puts("");
  table.print();
}

void print_metrics(const history::Reader& reader, const std::string& run) {
  Table table({{"metric"}, {"last", Align::right}, {"at step", Align::right}});
  for (const history::MetricSummary& metric : reader.metric_summaries(run))
    table.add_row({text::printable(metric.name), text::format_value(metric.last), std::to_string(metric.last_step)});
  if (table.empty()) return;
  std::puts("");
  table.print();
}

// Measured memory is the whole process's, with the program and its libraries; the estimate is of the training step alone.
void print_ranks(const history::Reader& reader, const std::string& run) {
  const std::string estimate = estimate_cell(run_estimate(reader, run), "memory_bytes");
  Table table({{"rank", Align::right},
               {"step", Align::right},
               {"memory", Align::right},
               {"peak", Align::right},
               {"estimate", Align::right},
               {"CPU time", Align::right},
               {"last heard of"}});
  for (const history::RankStatus& status : reader.rank_statuses(run))
    table.add_row({std::to_string(status.rank), status.step < 0 ? "-" : std::to_string(status.step), text::format_bytes(status.resident_bytes),
                   text::format_bytes(status.resident_bytes_max), estimate, text::format_elapsed(status.cpu_seconds),
                   format_time(status.time_unix_ns)});
  if (table.empty()) return;
  std::puts("");
  table.print();
}

void print_checkpoints(const history::Reader& reader, const std::string& run) {
  Table table({{"checkpoint at step", Align::right}, {"size", Align::right}, {"path"}});
  for (const history::CheckpointRecord& checkpoint : reader.checkpoints(run))
    table.add_row({std::to_string(checkpoint.step), text::format_bytes(checkpoint.bytes), text::printable(checkpoint.path)});
  if (table.empty()) return;
  std::puts("");
  table.print();
}

// What somebody asked of the run while it went on, and what came of it; oldest first.
std::vector<wire::Event> steering_events(const history::Reader& reader, const std::string& run) {
  constexpr size_t kEventsMax = 100'000;
  std::vector<wire::Event> events = reader.run_events(run, {"run.steering", "run.setting", "run.paused", "run.resumed", "run.stopping"}, kEventsMax);
  std::erase_if(events, [](const wire::Event& event) { return !event.body.is_object(); });
  std::reverse(events.begin(), events.end());
  return events;
}

void print_steering(const history::Reader& reader, const std::string& run) {
  Table table({{"steered at"}, {"what"}, {"who", Align::left, true}});
  for (const wire::Event& event : steering_events(reader, run)) {
    const nlohmann::json& body = event.body;
    const std::string name = body.value("name", "");
    std::string what = name == "run.steering" ? "asked: " + body.value("action", "") : name.substr(name.find('.') + 1);
    if (body.contains("key")) what += fmt::format(" {}={}", body.value("key", ""), text_of(body.value("value", nlohmann::json())));
    if (body.contains("step")) what += fmt::format(" after step {}", text_of(body.at("step")));
    if (body.contains("as")) what += fmt::format(" of {} as {}", text_of(body.value("of", nlohmann::json())), text_of(body.at("as")));
    table.add_row({format_time(event.time_unix_ns), text::printable(what), text::printable(body.value("who", ""))});
  }
  if (table.empty()) return;
  std::puts("");
  table.print();
}

void print_notes(const history::Reader& reader, const std::string& run) {
  Table table({{"note", Align::right}, {"time"}, {"by"}, {"text", Align::left, true}});
  for (const history::NoteRecord& note : reader.notes(run))
    table.add_row({std::to_string(note.key), format_time(note.time_unix_ns), text::printable(note.author), text::printable(note.text)});
  if (table.empty()) return;
  std::puts("");
  table.print();
}

void print_alerts(const history::Reader& reader, const std::string& run) {
  Table table({{"alert"}, {"last"}, {"times", Align::right}, {"what", Align::left, true}});
  for (const history::AlertRecord& alert : reader.alerts(run))
    table.add_row({text::printable(alert.kind), format_time(alert.last_unix_ns), text::format_count(alert.count), text::printable(alert.text)});
  if (table.empty()) return;
  std::puts("");
  table.print();
}

void print_guards(const history::Reader& reader, const std::string& run) {
  const auto findings = run_guards(reader, run);
  if (!findings.empty()) std::puts("");
  for (const support_matrix::RunningFinding& finding : findings) line("guard", styled(guard_text(finding), Style::warning));
}

void print_counters(const history::RunCounters& counters) {
  std::string text;
  const nlohmann::json all = exchange::to_json(counters);
  for (const auto& [name, value] : all.items())
    if (name != "segment" && value.get<int64_t>() > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, text::format_count(value.get<int64_t>()));
  if (text.empty()) return;
  std::puts("");
  line("counters", text);
}

template <class Records>
nlohmann::json list_of(const Records& records) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& record : records) list.push_back(exchange::to_json(record));
  return list;
}

nlohmann::json document(const history::Reader& reader, const history::RunRecord& run) {
  nlohmann::json json = exchange::to_whole_json(run);
  json["counters"] = exchange::to_json(reader.counters(run.id));
  json["metrics"] = nlohmann::json::object();
  for (const std::string& name : reader.metric_names(run.id))
    if (const auto last = reader.last_metric(run.id, name)) json["metrics"][name] = exchange::to_json(*last);
  json["checkpoints"] = list_of(reader.checkpoints(run.id));
  json["ranks"] = list_of(reader.rank_statuses(run.id));
  json["segments"] = list_of(reader.segments(run.id));
  json["notes"] = list_of(reader.notes(run.id));
  json["alerts"] = list_of(reader.alerts(run.id));
  json["guards"] = guards_json(run_guards(reader, run.id));
  json["steering"] = nlohmann::json::array();
  for (const wire::Event& event : steering_events(reader, run.id)) {
    nlohmann::json entry = event.body;
    entry["time_unix_ns"] = event.time_unix_ns;
    json["steering"].push_back(std::move(entry));
  }
  json["estimate"] = run_estimate(reader, run.id);
  return json;
}

int show(const Options& options, const Invocation& invocation) {
  const history::Reader reader = options.store.open();
  const history::RunRecord run = options.store.as_it_is(reader, reader.run(options.run));
  if (options.recipe && !invocation.json) {
    std::fputs(run.recipe_text.c_str(), stdout);
  } else if (invocation.json) {
    std::fputs(dump_document(options.recipe ? run.recipe : document(reader, run)).c_str(), stdout);
  } else {
    print_head(printable(run));
    print_inputs(run.fingerprint);
    print_metrics(reader, run.id);
    print_ranks(reader, run.id);
    print_checkpoints(reader, run.id);
    print_notes(reader, run.id);
    print_alerts(reader, run.id);
    print_guards(reader, run.id);
    print_steering(reader, run.id);
    print_counters(reader.counters(run.id));
  }
  return 0;
}

}  // namespace

void build_runs_show(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "show", "All about one run");
  auto options = std::make_shared<Options>();
  command.add_option("run", options->run, "the run's id, the beginning of one, a name, or last").required();
  command.add_flag("--recipe", options->recipe, "print only its recipe as it was (with --json: resolved)");
  options->store.add_to(command);
  set_action(command, invocation, [options, &invocation] { return show(*options, invocation); });
}

}  // namespace ringwright::cli
