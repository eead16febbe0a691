#include <fmt/format.h>

#include <cstdio>

#include "console/cli/run_guards.h"
#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"
#include "shared/exchange/import.h"

namespace ringwright::cli {
namespace {

struct Options {
  StoreOption store;
  std::string place, name;
};

int import(const Options& options, const Invocation& invocation) {
  const std::vector<exchange::ImportReport> reports = exchange::import_runs(options.store.path(), options.place, options.name);
  const history::Reader reader(options.store.path());
  nlohmann::json list = nlohmann::json::array();
  for (const exchange::ImportReport& report : reports) {
    const auto guards = run_guards(reader, report.run);
    list.push_back({{"run", report.run},
                    {"name", report.name},
                    {"already_there", report.already_there},
                    {"points", report.points},
                    {"notes", report.notes},
                    {"guards", guards_json(guards)}});
    if (invocation.json) continue;
    fmt::print("{} ({}) {}\n", report.run, text::printable(report.name),
               report.already_there ? "is in this history already: nothing was changed"
                                    : fmt::format("is imported: {} points", text::format_count(static_cast<int64_t>(report.points))));
    for (const std::string& note : report.notes) fmt::print("  {}\n", text::printable(note));
    for (const support_matrix::RunningFinding& guard : guards) fmt::print("  {}\n", guard_text(guard));
  }
  if (invocation.json) std::fputs(dump_document(list).c_str(), stdout);
  return 0;
}

}  // namespace

void build_runs_import(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "import", "Bring in runs: an exported archive, JSON or JSON lines, or TensorBoard event files");
  auto options = std::make_shared<Options>();
  command
      .add_option("place", options->place,
                  "what runs export wrote (archive, .json or .jsonl), an event file, or a folder in which event files lie, at any depth")
      .required();
  command.add_option("--name", options->name, "the run's name here (default: its own, or the folder's)");
  options->store.add_to(command);
  command.footer(
      "\nEach folder with event files is a run; a file that has steps again is a resume. What is damaged, cut off or suspicious is refused whole:\n"
      "nothing is imported then. Importing the same run again changes nothing.\n"
      "Then for example: ringwright runs compare OLD NEW -m train/loss");
  set_action(command, invocation, [options, &invocation] { return import(*options, invocation); });
}

}  // namespace ringwright::cli
