// The sub-verbs of `ringwright runs`, one file each.
#pragma once

#include "console/cli/verb.h"

namespace ringwright::cli {

void build_runs_list(Command& runs, Invocation& invocation);
void build_runs_show(Command& runs, Invocation& invocation);
void build_runs_metrics(Command& runs, Invocation& invocation);
void build_runs_samples(Command& runs, Invocation& invocation);
void build_runs_phases(Command& runs, Invocation& invocation);
void build_runs_export(Command& runs, Invocation& invocation);
void build_runs_compare(Command& runs, Invocation& invocation);
void build_runs_parity(Command& runs, Invocation& invocation);
void build_runs_diff(Command& runs, Invocation& invocation);
void build_runs_tag(Command& runs, Invocation& invocation);
void build_runs_note(Command& runs, Invocation& invocation);
void build_runs_archive(Command& runs, Invocation& invocation);
void build_runs_delete(Command& runs, Invocation& invocation);
void build_runs_import(Command& runs, Invocation& invocation);

}  // namespace ringwright::cli
