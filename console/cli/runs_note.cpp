#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdio>

#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "shared/base/printable.h"
#include "shared/exchange/record_json.h"
#include "shared/history/edits.h"

namespace ringwright::cli {
namespace {

constexpr size_t kNoteBytesMax = 16 << 10;

struct Options {
  StoreOption store;
  std::string run;
  std::vector<std::string> words;
  int64_t remove = 0;
};

// Whose note it is, as this machine knows them.
std::string own_name() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry ? entry->pw_name : std::to_string(::getuid());
}

void change(const Options& options, const history::RunRecord& run) {
  const std::string text = fmt::format("{}", fmt::join(options.words, " "));
  if (text.size() > kNoteBytesMax)
    throw Error({"RW-CLI-041", fmt::format("the note has {} bytes", text.size()), "", fmt::format("at most {}", kNoteBytesMax),
                 "keep the long text in a file and note where it is"});
  if (text.empty() && options.remove == 0) return;
  history::Editor editor(options.store.path());
  if (options.remove > 0) editor.remove_note(run.id, options.remove);
  if (!text.empty()) editor.add_note(run.id, own_name(), text);
}

int note(const Options& options, const Invocation& invocation) {
  const history::RunRecord run = options.store.open().run(options.run);
  change(options, run);
  const history::Reader reader = options.store.open();
  const std::vector<history::NoteRecord> notes = reader.notes(run.id);
  if (invocation.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const history::NoteRecord& note : notes) list.push_back(exchange::to_json(note));
    std::fputs(dump_document({{"run", run.id}, {"notes", list}}).c_str(), stdout);
    return 0;
  }
  if (notes.empty()) {
    fmt::print("{} has no notes\n", run.id);
    return 0;
  }
  Table table({{"note", Align::right}, {"time"}, {"by"}, {"text", Align::left, true}});
  for (const history::NoteRecord& note : notes)
    table.add_row({std::to_string(note.key), format_time(note.time_unix_ns), text::printable(note.author), text::printable(note.text)});
  table.print();
  return 0;
}

}  // namespace

void build_runs_note(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "note", "Write a note on a run, remove one, or show them");
  auto options = std::make_shared<Options>();
  command.add_option("run", options->run, "the run's id, the beginning of one, a name, or last").required();
  command.add_option("text", options->words, "the note; without one: show what is there");
  command.add_option("--remove", options->remove, "remove the note with this number").type_name("NUMBER").check(whole_number(1));
  options->store.add_to(command);
  command.footer("\nFind runs by their notes with: ringwright runs list 'note ~ \"spike\"'");
  set_action(command, invocation, [options, &invocation] { return note(*options, invocation); });
}

}  // namespace ringwright::cli
