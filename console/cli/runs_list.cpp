#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "shared/base/median.h"
#include "shared/base/text.h"
#include "shared/history/ownership.h"
#include "shared/query/query.h"

namespace ringwright::cli {
namespace {

constexpr const char* kSpeed = "perf/tokens_per_s";
constexpr int64_t kSpeedSteps = 20;

struct Options {
  StoreOption store;
  std::vector<std::string> words;
  size_t limit = 20;
  std::string state;
};

std::string last_value(const history::Reader& reader, const std::string& run, const char* metric, std::string (*format)(double)) {
  const auto last = reader.last_metric(run, metric);
  return last ? format(last->value) : "-";
}

// The first steps of a run are slow, and one that writes a checkpoint is: the last one alone says little.
std::string usual_speed(const history::Reader& reader, const std::string& run) {
  const auto range = reader.metric_range(run, kSpeed);
  if (!range) return "-";
  std::vector<double> values;
  for (const history::MetricPoint& point : reader.metric(run, kSpeed, -1, range->last - kSpeedSteps))
    if (std::isfinite(point.value)) values.push_back(point.value);
  return values.empty() ? "-" : text::format_short(median(std::move(values)));
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
    const auto elapsed = history::elapsed_seconds(run, wire::now_unix_ns());
    table.add_row({run.id, run.name, styled_state(run.state), run.last_step < 0 ? "-" : std::to_string(run.last_step),
                   last_value(reader, run.id, "train/loss", text::format_value), usual_speed(reader, run.id), format_mesh(run.mesh),
                   format_time(run.started_unix_ns), elapsed ? text::format_elapsed(*elapsed) : "-", run.reason});
  }
  table.print();
}

std::string query_of(const Options& options) {
  const std::string query = fmt::format("{}", fmt::join(options.words, " "));
  if (options.state.empty()) return query;
  if (!query.empty())
    throw Error(
        {"RW-CLI-046", "--state and a query are both given", query, "one of them", "write it into the query: state = " + options.state + " and ..."});
  return "state = " + options.state;
}

// What the query finds, each as it is: with no daemon, the states that a query goes by are those from before it ended.
std::vector<history::RunRecord> runs_of(const history::Reader& reader, const Options& options, const std::string& query,
                                        history::Reader::Parts parts) {
  constexpr size_t kAll = 100'000;
  const bool by_real_state = !options.state.empty() && history::is_abandoned(options.store.path());
  std::vector<history::RunRecord> runs = reader.find(by_real_state ? "" : query, by_real_state ? kAll : options.limit, parts);
  for (history::RunRecord& run : runs) run = options.store.as_it_is(reader, std::move(run));
  if (by_real_state) std::erase_if(runs, [&](const auto& run) { return history::to_string(run.state) != options.state; });
  if (runs.size() > options.limit && by_real_state) runs.resize(options.limit);
  return runs;
}

int list(const Options& options, const Invocation& invocation) {
  const std::string query = query_of(options);
  std::vector<history::RunRecord> runs;
  std::optional<history::Reader> reader;
  if (options.store.is_unused()) {
    query::compile(query, {});  // what is wrong with it is wrong without runs too
  } else {
    reader.emplace(options.store.path());
    runs = runs_of(*reader, options, query, invocation.json ? history::Reader::Parts::all : history::Reader::Parts::head);
  }
  if (invocation.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const history::RunRecord& run : runs) list.push_back(to_json(run));
    std::fputs(dump_document(list).c_str(), stdout);
  } else if (runs.empty() && (!query.empty() || options.limit == 0)) {
    std::printf("No run in %s matches these options.\n", options.store.path().c_str());
  } else if (runs.empty()) {
    std::printf("No runs in %s. Start one with: ringwright run RECIPE\n", options.store.path().c_str());
  } else {
    print_table(*reader, runs);
  }
  return 0;
}

std::string help_text() {
  std::string text =
      fmt::format("\nColumns: step and loss are those of the last step; tokens/s is the median of the last {} steps.\n", kSpeedSteps) +
      "\nA query, best in single quotes:\n"
      "  ringwright runs list 'state = failed and mesh.cp >= 2 and loss.last < 2.1 order by started desc limit 20'\n"
      "  ringwright runs list 'recipe.policy.model_name ~ \"qwen\" and started > 2d ago and not tag = bad'\n"
      "Comparisons: = != < <= > >=, ~ and !~ (a text or regular expression found anywhere, in any case), in (a, b), not in (...), is null,\n"
      "is not null; with and, or, not and parentheses between them. A value that a run does not have fits no comparison.\n"
      "Values: words, texts in quotes, numbers (16k, 4Ki, 5%), stretches of time (90s, 1h30m, 2d), times (2026-11-01, \"2026-11-01 12:30\",\n"
      "2d ago, today, yesterday). A date is its whole day for = and <=, its beginning for the others.\n"
      "Fields:\n";
  for (const query::FieldHelp& field : query::field_help()) text += fmt::format("  {:<16} {:<11} {}\n", field.name, field.type, field.meaning);
  text.pop_back();
  return text;
}

}  // namespace

void build_runs_list(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "list", "Runs that fit a query, newest first");
  auto options = std::make_shared<Options>();
  options->store.add_to(command);
  command.add_option("query", options->words, "which runs (default: all that are not archived); see below");
  command.add_option("-n,--limit", options->limit, "how many at most, where the query has no limit").show_default();
  command.add_option("--state", options->state, "only runs in this state: short for the query state = STATE")
      .check(one_of({"queued", "starting", "running", "paused", "stopping", "finished", "failed", "stopped", "lost"}));
  command.footer(help_text());
  set_action(command, invocation, [options, &invocation] { return list(*options, invocation); });
}

}  // namespace ringwright::cli
