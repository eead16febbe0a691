#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "console/cli/run_pair.h"
#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "shared/history/comparability.h"
#include "shared/history/metric_value.h"

namespace ringwright::cli {
namespace {

using history::Comparison;
using history::metric_value_to_json;

struct Options {
  StoreOption store;
  RunPair pair;
  double tolerance = history::kToleranceDefault;
};

void require_comparable(const history::Reader& reader, const history::RunRecord& a, const history::RunRecord& b) {
  const auto why = history::why_not_comparable(reader, a, b);
  if (!why) return;
  const auto named = [](const history::RunRecord& run) { return printable(run).name + " (" + run.id + ")"; };
  throw Error({"RW-CLI-029", "the runs cannot be compared step by step: " + why->what, named(a) + ", " + named(b), why->expected, why->action,
               ExitCode::refused});
}

// Steps that the run was to make, as it said itself at its start; 0: nothing is kept of that.
int64_t planned_steps(const history::Reader& reader, const history::RunRecord& run) {
  const std::vector<wire::Event> events = reader.run_events(run.id, {"run.step_limit"}, 1);
  return events.empty() || !events.front().body.is_object() ? 0 : events.front().body.value("steps", int64_t{0});
}

// How much of the two runs was compared, and whether there was more to come.
struct Extent {
  int64_t planned = 0;  // the most that one of them was to make; 0: not known
  int64_t steps_a = 0, steps_b = 0;

  Extent(const history::Reader& reader, const history::RunRecord& a, const history::RunRecord& b, const Comparison& comparison)
      : planned(std::max(planned_steps(reader, a), planned_steps(reader, b))),
        steps_a(comparison.common + comparison.only_a),
        steps_b(comparison.common + comparison.only_b) {}

  int64_t total() const { return std::max({planned, steps_a, steps_b}); }
};

std::string state_text(const history::RunRecord& run) {
  return styled_state(run.state) + (run.last_step < 0 ? std::string(" before its first step") : fmt::format(" at step {}", run.last_step));
}

std::string verdict(const Options& options, const history::RunRecord& a, const history::RunRecord& b, const Comparison& comparison,
                    const Extent& extent) {
  const std::string values = tolerance_verdict(values_are_within(comparison, options.tolerance), options.tolerance);
  std::string text;
  if (extent.steps_a != extent.steps_b) {
    text = fmt::format("the runs differ in length: {} and {} steps; the {} that both have are {}", extent.steps_a, extent.steps_b, comparison.common,
                       values);
  } else if (comparison.only_a > 0) {
    text = fmt::format("the runs have other steps; the {} that both have are {}", comparison.common, values);
  } else {
    text = fmt::format("all {} steps that there are: {}", comparison.common, values);
  }
  for (const history::RunRecord* run : {&a, &b})
    if (run->state != history::RunState::finished) text += fmt::format("\n{} ({}) is {}", run->name, run->id, state_text(*run));
  if (comparison.common < extent.total()) text += fmt::format("\nonly {} of {} steps could be compared", comparison.common, extent.total());
  return text;
}

void print_text(const Options& options, const history::RunRecord& a, const history::RunRecord& b, const Comparison& comparison,
                const Extent& extent) {
  Table table({{options.pair.metric}, {a.name + " (" + a.id + ") and " + b.name + " (" + b.id + ")", Align::right}});
  table.add_row({"states", state_text(a) + ", " + state_text(b)});
  table.add_row({"common steps", extent.total() > comparison.common ? fmt::format("{} of {}", comparison.common, extent.total())
                                                                    : std::to_string(comparison.common)});
  if (comparison.only_a || comparison.only_b)
    table.add_row({"steps of one run only", fmt::format("{} and {}", comparison.only_a, comparison.only_b)});
  table.add_row({"equal bit for bit", fmt::format("{} of {}", comparison.equal_bits, comparison.common)});
  table.add_row({"first step that differs", comparison.first_different_step ? std::to_string(*comparison.first_different_step) : "none"});
  table.add_row({"mean |difference|", fmt::format("{:.3e}", comparison.mean_difference)});
  table.add_row({"largest |difference|", fmt::format("{:.3e}", comparison.largest_difference)});
  table.add_row({"relative mean", fmt::format("{:.3e}", comparison.mean_relative_difference)});
  if (comparison.largest)
    table.add_row({"largest relative", fmt::format("{:.3e} at step {}", *comparison.largest->relative_difference, comparison.largest->step)});
  table.print();
  fmt::print("\n{}\n", verdict(options, a, b, comparison, extent));
}

void print_json(const Options& options, const history::RunRecord& a, const history::RunRecord& b, const Comparison& comparison,
                const Extent& extent) {
  nlohmann::json json = {{"metric", options.pair.metric},
                         {"a", to_json(a)},
                         {"b", to_json(b)},
                         {"common_steps", comparison.common},
                         {"only_a", comparison.only_a},
                         {"only_b", comparison.only_b},
                         {"equal_bits", comparison.equal_bits},
                         {"first_different_step", nullptr},
                         {"mean_difference", metric_value_to_json(comparison.mean_difference)},
                         {"largest_difference", metric_value_to_json(comparison.largest_difference)},
                         {"mean_relative_difference", metric_value_to_json(comparison.mean_relative_difference)},
                         {"largest_relative_difference", nullptr},
                         {"steps_planned", nullptr},
                         {"tolerance", options.tolerance},
                         {"values_within_tolerance", values_are_within(comparison, options.tolerance)},
                         {"within_tolerance", is_within(comparison, options.tolerance)}};
  if (extent.planned > 0) json["steps_planned"] = extent.planned;
  if (comparison.first_different_step) json["first_different_step"] = *comparison.first_different_step;
  if (comparison.largest) {
    json["largest_relative_difference"] = metric_value_to_json(*comparison.largest->relative_difference);
    json["largest_at_step"] = comparison.largest->step;
  }
  std::fputs(dump_document(json).c_str(), stdout);
}

int compare_runs(const Options& options, const Invocation& invocation) {
  const history::Reader reader = options.store.open();
  const history::RunRecord a = reader.run(options.pair.a), b = reader.run(options.pair.b);
  const Comparison comparison = compare_series(reader, a, b, options.pair.metric);
  require_comparable(reader, a, b);
  const Extent extent(reader, a, b, comparison);
  invocation.json ? print_json(options, a, b, comparison, extent) : print_text(options, printable(a), printable(b), comparison, extent);
  return static_cast<int>(is_within(comparison, options.tolerance) ? ExitCode::good : ExitCode::run_failed);
}

}  // namespace

void build_runs_parity(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "parity", "Whether two runs of one recipe did the same, step by step: exit code 1 beyond the tolerance");
  auto options = std::make_shared<Options>();
  options->pair.add_to(command);
  command.add_option("--tolerance", options->tolerance, "largest relative difference of a step that is let pass; 0: equal values")
      .check(from_zero_on())
      .show_default();
  options->store.add_to(command);
  command.footer("\nRuns that were trained on other rows, in another order or in other packs are refused (exit code 3), with the reason.");
  set_action(command, invocation, [options, &invocation] { return compare_runs(*options, invocation); });
}

}  // namespace ringwright::cli
