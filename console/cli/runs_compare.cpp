#include <fmt/format.h>

#include <cstdio>

#include "console/cli/run_pair.h"
#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "shared/base/text.h"
#include "shared/history/metric_value.h"

namespace ringwright::cli {
namespace {

using history::ComparedStep;
using history::Comparison;

struct Options {
  StoreOption store;
  RunPair pair;
  double tolerance = -1;  // < 0: none was given
};

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.7g}", *value) : "-"; }
std::string difference_text(const std::optional<double>& value) { return value ? fmt::format("{:.2e}", *value) : "-"; }

void print_text(const Options& options, const history::RunRecord& a, const history::RunRecord& b, const Comparison& comparison) {
  Table table({{"step", Align::right},
               {a.name + " (" + a.id + ")", Align::right},
               {b.name + " (" + b.id + ")", Align::right},
               {"relative difference", Align::right}});
  for (const ComparedStep& step : comparison.steps)
    table.add_row({std::to_string(step.step), cell(step.a), cell(step.b), difference_text(step.relative_difference)});
  table.print();
  fmt::print("\n{} of {} common steps", options.pair.metric, comparison.common);
  if (comparison.only_a || comparison.only_b) fmt::print(" ({} only in the first run, {} only in the second)", comparison.only_a, comparison.only_b);
  if (comparison.largest)
    fmt::print("; largest relative difference {:.2e} at step {}", *comparison.largest->relative_difference, comparison.largest->step);
  if (options.tolerance >= 0) {
    fmt::print(": {}", tolerance_verdict(values_are_within(comparison, options.tolerance), options.tolerance));
    if (comparison.only_a || comparison.only_b) fmt::print(", but one run lacks steps of the other");
  }
  std::puts("");
}

nlohmann::json number(const std::optional<double>& value) { return value ? history::metric_value_to_json(*value) : nlohmann::json(); }

void print_json(const Options& options, const history::RunRecord& a, const history::RunRecord& b, const Comparison& comparison) {
  nlohmann::json json = {{"metric", options.pair.metric},
                         {"a", to_json(a)},
                         {"b", to_json(b)},
                         {"common_steps", comparison.common},
                         {"only_a", comparison.only_a},
                         {"only_b", comparison.only_b},
                         {"largest_relative_difference", nullptr},
                         {"steps", nlohmann::json::array()}};
  if (comparison.largest) {
    json["largest_relative_difference"] = number(comparison.largest->relative_difference);
    json["largest_at_step"] = comparison.largest->step;
  }
  if (options.tolerance >= 0) json["within_tolerance"] = is_within(comparison, options.tolerance);
  for (const ComparedStep& step : comparison.steps)
    json["steps"].push_back(
        {{"step", step.step}, {"a", number(step.a)}, {"b", number(step.b)}, {"relative_difference", number(step.relative_difference)}});
  std::fputs(dump_document(json).c_str(), stdout);
}

int compare_runs(const Options& options, const Invocation& invocation) {
  const history::Reader reader = options.store.open();
  const history::RunRecord a = reader.run(options.pair.a), b = reader.run(options.pair.b);
  const Comparison comparison = compare_series(reader, a, b, options.pair.metric);
  invocation.json ? print_json(options, a, b, comparison) : print_text(options, printable(a), printable(b), comparison);
  const bool beyond = options.tolerance >= 0 && !is_within(comparison, options.tolerance);
  return static_cast<int>(beyond ? ExitCode::run_failed : ExitCode::good);
}

}  // namespace

void build_runs_compare(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "compare", "Two runs' values of a metric side by side, with their relative difference");
  auto options = std::make_shared<Options>();
  options->pair.add_to(command);
  command.add_option("--tolerance", options->tolerance, "exit with 1 when a step differs by more, or one run lacks a step of the other")
      .check(from_zero_on());
  options->store.add_to(command);
  set_action(command, invocation, [options, &invocation] { return compare_runs(*options, invocation); });
}

}  // namespace ringwright::cli
