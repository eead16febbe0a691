// ringwright history: care of the history file.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "console/cli/run_text.h"
#include "console/cli/store_option.h"
#include "console/cli/terminal.h"
#include "console/cli/verb.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"
#include "shared/history/edits.h"
#include "shared/history/maintenance.h"

namespace ringwright::cli {
namespace {

struct CheckOptions {
  StoreOption store;
  bool quick = false;
};

nlohmann::json to_json(const history::CheckReport& report) {
  return {{"problems", report.problems}, {"runs", report.runs}, {"series", report.series}, {"points", report.points}, {"blocks", report.blocks}};
}

int check(const CheckOptions& options, const Invocation& invocation) {
  const history::CheckReport report = history::check(options.store.path(), options.quick);
  if (invocation.json) {
    std::fputs(dump_document(to_json(report)).c_str(), stdout);
  } else {
    for (const std::string& problem : report.problems) fmt::print("{} {}\n", styled("bad", Style::bad), text::printable(problem));
    fmt::print("{}: {} runs, {} series", options.store.path().string(), report.runs, report.series);
    if (!options.quick) fmt::print(", {} points, {} blocks of sums", report.points, report.blocks);
    fmt::print("{}\n", report.problems.empty() ? ": good" : "");
  }
  if (report.problems.empty()) return 0;
  throw Error({"RW-STORE-006", "the history file is damaged: " + report.problems.front(), options.store.path().string(), "a file that fits together",
               "save what is readable with: sqlite3 FILE .recover | sqlite3 NEW; then use --store NEW", ExitCode::store});
}

struct VacuumOptions {
  StoreOption store;
  double older_than_days = -1;
  int64_t keep = -1;
  bool archived = false, dry_run = false;

  history::Retention retention() const {
    history::Retention retention;
    if (older_than_days >= 0) retention.older_than_days = older_than_days;
    if (keep >= 0) retention.keep_newest = static_cast<size_t>(keep);
    retention.archived = archived;
    return retention;
  }
};

void print_vacuum(const std::vector<history::RunRecord>& runs, const std::optional<history::VacuumReport>& report) {
  for (const history::RunRecord& raw : runs) {
    const history::RunRecord run = printable(raw);
    fmt::print("{} {} ({}, {})\n", report ? "removed" : "would remove", run.id, run.name, format_time(run.ended_unix_ns));
  }
  if (!report) return fmt::print("{} runs would go; nothing was changed\n", runs.size());
  fmt::print("{} runs removed; the file had {}, now {}{}\n", runs.size(), text::format_bytes(report->bytes_before),
             text::format_bytes(report->bytes_after),
             report->beside_daemon ? " (a daemon writes it; without one the file can become smaller still)" : "");
}

int vacuum(const VacuumOptions& options, const Invocation& invocation) {
  std::vector<history::RunRecord> runs;
  if (!options.retention().empty()) runs = history::runs_to_remove(options.store.open(), options.retention(), wire::now_unix_ns());
  std::optional<history::VacuumReport> report;
  if (!options.dry_run) {
    if (!runs.empty()) {
      history::Editor editor(options.store.path());
      for (const history::RunRecord& run : runs) editor.delete_run(run.id);
    }
    report = history::vacuum(options.store.path());
  }
  if (!invocation.json) return print_vacuum(runs, report), 0;
  nlohmann::json ids = nlohmann::json::array();
  for (const history::RunRecord& run : runs) ids.push_back(run.id);
  nlohmann::json document = {{"runs", ids}, {"removed", !options.dry_run}};
  if (report)
    document.update({{"bytes_before", report->bytes_before}, {"bytes_after", report->bytes_after}, {"beside_daemon", report->beside_daemon}});
  std::fputs(dump_document(document).c_str(), stdout);
  return 0;
}

void build_check(Command& history, Invocation& invocation) {
  Command command = add_subverb(history, "check", "Look whether the file fits together: pages, rows, sums");
  auto options = std::make_shared<CheckOptions>();
  options->store.add_to(command);
  command.add_flag("--quick", options->quick, "without what reads every point");
  set_action(command, invocation, [options, &invocation] { return check(*options, invocation); });
}

void build_vacuum(Command& history, Invocation& invocation) {
  Command command = add_subverb(history, "vacuum", "Remove old runs if asked to, and give back the room of what was removed");
  auto options = std::make_shared<VacuumOptions>();
  options->store.add_to(command);
  command.add_option("--older-than", options->older_than_days, "remove runs that ended more than so many days ago")
      .type_name("DAYS")
      .check(from_zero_on());
  command.add_option("--keep", options->keep, "remove runs beyond so many newest ones").type_name("RUNS").check(whole_number(0));
  command.add_flag("--archived", options->archived, "remove only archived runs; alone: all of them");
  command.add_flag("--dry-run", options->dry_run, "say which runs would go, and change nothing");
  command.footer(
      "\nA run is removed when all that is given holds for it. One that goes on, or has the tag 'keep', never is; its checkpoints and logs on the "
      "disk stay.\n"
      "A daemon may be writing.");
  set_action(command, invocation, [options, &invocation] { return vacuum(*options, invocation); });
}

void build(Command& command, Invocation& invocation) {
  build_check(command, invocation);
  build_vacuum(command, invocation);
}

const VerbEntry kEntry({Group::service, "history", "Care of the history file: check, vacuum", build});

}  // namespace
}  // namespace ringwright::cli
