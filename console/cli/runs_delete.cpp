#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "shared/base/text.h"
#include "shared/history/edits.h"

namespace ringwright::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  StoreOption store;
  std::vector<std::string> runs;
  bool yes = false, files = false;
};

// The run's folder beside the history: specification, logs, and checkpoints that had no other place.
fs::path folder_of(const Options& options, const std::string& run) { return options.store.path().parent_path() / "runs" / run; }

uint64_t bytes_in(const fs::path& folder) {
  uint64_t bytes = 0;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored)) bytes += entry->file_size(ignored);
  }
  return bytes;
}

void refuse_without_yes(const std::vector<history::RunRecord>& runs) {
  std::string list;
  for (const history::RunRecord& run : runs) list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", run.id, printable(run).name);
  throw Error({"RW-CLI-042", fmt::format("{} would be deleted for good", runs.size() == 1 ? "a run" : fmt::format("{} runs", runs.size())), list,
               "--yes", "say it again with --yes; or put them away with: ringwright runs archive", ExitCode::usage});
}

void remove_folder(const fs::path& folder) {
  std::error_code failure;
  fs::remove_all(folder, failure);
  if (failure)
    throw Error({"RW-CLI-043", "the run's folder cannot be removed: " + failure.message(), folder.string(), "a folder that you may write",
                 "remove it yourself", ExitCode::run_failed});
}

int remove(const Options& options, const Invocation& invocation) {
  std::vector<history::RunRecord> found;
  const history::Reader reader = options.store.open();
  for (const std::string& run : options.runs) found.push_back(reader.run(run));
  for (const history::RunRecord& run : found)
    if (!history::is_final(run.state))
      throw Error({"RW-STORE-012", fmt::format("the run {} is {}", run.id, history::to_string(run.state)), run.id, "a run that is over",
                   "stop it first with: ringwright stop " + run.id, ExitCode::refused});
  if (!options.yes) refuse_without_yes(found);
  history::Editor editor(options.store.path());
  nlohmann::json list = nlohmann::json::array();
  for (const history::RunRecord& run : found) {
    const fs::path folder = folder_of(options, run.id);
    const uint64_t bytes = bytes_in(folder);
    editor.delete_run(run.id);
    if (options.files) remove_folder(folder);
    list.push_back({{"run", run.id}, {"folder", folder.string()}, {"bytes", bytes}, {"folder_removed", options.files}});
    if (invocation.json) continue;
    fmt::print("{} ({}) is deleted\n", run.id, printable(run).name);
    if (bytes > 0)
      fmt::print("  {} {} ({})\n", folder.string(), options.files ? "is removed" : "stays; --files removes such folders too",
                 text::format_bytes(bytes));
  }
  if (invocation.json) std::fputs(dump_document(list).c_str(), stdout);
  return 0;
}

}  // namespace

void build_runs_delete(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "delete", "Remove runs from the history for good");
  auto options = std::make_shared<Options>();
  command.add_option("runs", options->runs, "ids, beginnings of ids, names, or last").required();
  command.add_flag("--yes", options->yes, "really; without it nothing is removed");
  command.add_flag("--files", options->files, "remove their folders too: logs, and checkpoints that lie there");
  options->store.add_to(command);
  command.footer("\nA run that goes on is refused (exit code 3). A copy to keep: ringwright runs export RUN -o FILE.tar.zst");
  set_action(command, invocation, [options, &invocation] { return remove(*options, invocation); });
}

}  // namespace ringwright::cli
