// The sub-verbs of `ringwright runs`, one file each.
#pragma once

#include "console/cli/verb.h"

namespace ringwright::cli {

void build_runs_list(CLI::App& runs, Invocation& invocation);
void build_runs_show(CLI::App& runs, Invocation& invocation);
void build_runs_metrics(CLI::App& runs, Invocation& invocation);
void build_runs_export(CLI::App& runs, Invocation& invocation);
void build_runs_compare(CLI::App& runs, Invocation& invocation);
void build_runs_parity(CLI::App& runs, Invocation& invocation);
void build_runs_diff(CLI::App& runs, Invocation& invocation);
void build_runs_tag(CLI::App& runs, Invocation& invocation);
void build_runs_note(CLI::App& runs, Invocation& invocation);
void build_runs_archive(CLI::App& runs, Invocation& invocation);
void build_runs_delete(CLI::App& runs, Invocation& invocation);
void build_runs_import(CLI::App& runs, Invocation& invocation);

}  // namespace ringwright::cli
