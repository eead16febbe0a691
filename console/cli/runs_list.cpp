#include <cstdio>

#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "shared/base/text.h"

namespace ringwright::cli {
namespace {

struct Options {
  StoreOption store;
  size_t limit = 20;
  std::string state;
};

std::string last_value(const history::Reader& reader, const std::string& run, const char* metric, std::string (*format)(double)) {
  const auto last = reader.last_metric(run, metric);
  return last ? format(last->value) : "-";
}

void print_table(const history::Reader& reader, const std::vector<history::RunRecord>& runs) {
  Table table({{"run"},
               {"name", Align::left, true},
               {"state"},
               {"step", Align::right},
               {"loss", Align::right},
               {"tokens/s", Align::right},
               {"mesh"},
               {"started"},
               {"elapsed", Align::right},
               {"reason", Align::left, true}});
  for (const history::RunRecord& raw : runs) {
    const history::RunRecord run = printable(raw);
    const auto elapsed = elapsed_seconds(run, wire::now_unix_ns());
    table.add_row({run.id, run.name, styled_state(run.state), run.last_step < 0 ? "-" : std::to_string(run.last_step),
                   last_value(reader, run.id, "train/loss", text::format_value), last_value(reader, run.id, "perf/tokens_per_s", text::format_short),
                   format_mesh(run.mesh), format_time(run.started_unix_ns), elapsed ? text::format_elapsed(*elapsed) : "-", run.reason});
  }
  table.print();
}

int list(const Options& options, const Invocation& invocation) {
  std::vector<history::RunRecord> runs;
  std::optional<history::Reader> reader;
  if (!options.state.empty()) history::run_state_from_string(options.state);
  if (!options.store.is_unused()) {
    reader.emplace(options.store.path());
    for (history::RunRecord& run : reader->runs(options.state.empty() ? options.limit : 100'000))
      if (runs.size() < options.limit && (options.state.empty() || history::to_string(run.state) == options.state)) runs.push_back(std::move(run));
  }
  if (invocation.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const history::RunRecord& run : runs) list.push_back(to_json(run));
    std::fputs(dump_document(list).c_str(), stdout);
  } else if (runs.empty() && (!options.state.empty() || options.limit == 0)) {
    std::printf("No run in %s matches these options.\n", options.store.path().c_str());
  } else if (runs.empty()) {
    std::printf("No runs in %s. Start one with: ringwright run RECIPE\n", options.store.path().c_str());
  } else {
    print_table(*reader, runs);
  }
  return 0;
}

}  // namespace

void build_runs_list(CLI::App& runs, Invocation& invocation) {
  CLI::App& command = add_subverb(runs, "list", "The newest runs, newest first");
  auto options = std::make_shared<Options>();
  options->store.add_to(command);
  command.add_option("-n,--limit", options->limit, "how many at most")->capture_default_str();
  command.add_option("--state", options->state, "only runs in this state")
      ->check(CLI::IsMember({"queued", "starting", "running", "paused", "stopping", "finished", "failed", "stopped", "lost"}));
  set_action(command, invocation, [options, &invocation] { return list(*options, invocation); });
}

}  // namespace ringwright::cli
