#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "shared/base/printable.h"
#include "shared/history/edits.h"

namespace ringwright::cli {
namespace {

constexpr size_t kTagBytesMax = 64;

struct Options {
  StoreOption store;
  std::string run;
  std::vector<std::string> tags;
  bool remove = false;
};

void require_tag(const std::string& tag) {
  const bool good = !tag.empty() && tag.size() <= kTagBytesMax &&
                    std::none_of(tag.begin(), tag.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f || c == ',' || c == '"' || c == '\''; });
  if (!good)
    throw Error({"RW-CLI-040", "'" + text::printable(tag) + "' cannot be a tag", "", "1 to 64 bytes without spaces, commas and quotes",
                 "write a longer text with: ringwright runs note"});
}

int tag(const Options& options, const Invocation& invocation) {
  const history::RunRecord run = options.store.open().run(options.run);
  if (!options.tags.empty()) {
    for (const std::string& tag : options.tags) require_tag(tag);
    history::Editor editor(options.store.path());
    for (const std::string& tag : options.tags) options.remove ? editor.remove_tag(run.id, tag) : editor.add_tag(run.id, tag);
  }
  const std::vector<std::string> tags = options.store.open().run(run.id).tags;
  if (invocation.json)
    std::fputs(dump_line({{"run", run.id}, {"tags", tags}}).c_str(), stdout);
  else
    fmt::print("{} {}\n", run.id, tags.empty() ? "has no tags" : text::printable(fmt::format("{}", fmt::join(tags, " "))));
  return 0;
}

}  // namespace

void build_runs_tag(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "tag", "Put tags on a run, take them off, or show them");
  auto options = std::make_shared<Options>();
  command.add_option("run", options->run, "the run's id, the beginning of one, a name, or last").required();
  command.add_option("tags", options->tags, "the tags; without one: show what it has");
  command.add_flag("--remove", options->remove, "take them off instead");
  options->store.add_to(command);
  command.footer("\nFind tagged runs with: ringwright runs list 'tag = good'");
  set_action(command, invocation, [options, &invocation] { return tag(*options, invocation); });
}

}  // namespace ringwright::cli
