#include "console/cli/runs.h"

namespace ringwright::cli {
namespace {

void build(Command& command, Invocation& invocation) {
  for (auto* subverb :
       {&build_runs_list, &build_runs_show, &build_runs_metrics, &build_runs_samples, &build_runs_phases, &build_runs_compare, &build_runs_parity,
        &build_runs_diff, &build_runs_tag, &build_runs_note, &build_runs_archive, &build_runs_delete, &build_runs_export, &build_runs_import})
    subverb(command, invocation);
  command.footer("\nAll of them work on the history file itself: no daemon is needed, and one that writes is not disturbed.");
}

const VerbEntry kEntry({Group::runs, "runs", "Find runs again, compare, label, export and import them", build});

}  // namespace
}  // namespace ringwright::cli
