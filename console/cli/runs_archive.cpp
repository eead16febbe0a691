#include <fmt/format.h>

#include <cstdio>

#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "shared/history/edits.h"

namespace ringwright::cli {
namespace {

struct Options {
  StoreOption store;
  std::vector<std::string> runs;
  bool undo = false;
};

int archive(const Options& options, const Invocation& invocation) {
  std::vector<history::RunRecord> found;
  const history::Reader reader = options.store.open();
  for (const std::string& run : options.runs) found.push_back(reader.run(run));  // all are there before one is changed
  history::Editor editor(options.store.path());
  nlohmann::json list = nlohmann::json::array();
  for (const history::RunRecord& run : found) {
    editor.set_archived(run.id, !options.undo);
    list.push_back({{"run", run.id}, {"archived", !options.undo}});
    if (!invocation.json) fmt::print("{} ({}) is {}\n", run.id, printable(run).name, options.undo ? "listed again" : "archived");
  }
  if (invocation.json) std::fputs(dump_document(list).c_str(), stdout);
  return 0;
}

}  // namespace

void build_runs_archive(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "archive", "Put runs away: lists leave them out, nothing is lost");
  auto options = std::make_shared<Options>();
  command.add_option("runs", options->runs, "ids, beginnings of ids, names, or last").required();
  command.add_flag("--undo", options->undo, "list them again");
  options->store.add_to(command);
  command.footer(
      "\nSee them with: ringwright runs list 'archived = true'\nTo write a run to a file that others can import: ringwright runs export RUN -o "
      "FILE.tar.zst");
  set_action(command, invocation, [options, &invocation] { return archive(*options, invocation); });
}

}  // namespace ringwright::cli
