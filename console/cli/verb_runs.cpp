#include "console/cli/runs.h"

namespace ringwright::cli {
namespace {

void build(CLI::App& command, Invocation& invocation) {
  for (auto* subverb : {&build_runs_list, &build_runs_show, &build_runs_metrics, &build_runs_export, &build_runs_compare, &build_runs_parity})
    subverb(command, invocation);
  command.footer("\nAll of them read the history file itself: no daemon is needed, and one that writes is not disturbed.");
}

const VerbEntry kEntry({Group::runs, "runs", "Find runs again: list, show, metrics, export, compare, parity", build});

}  // namespace
}  // namespace ringwright::cli
