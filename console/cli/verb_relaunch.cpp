// ringwright relaunch RUN [OVERRIDE..]: the recipe of a run once more, as it was resolved then.
#include "console/cli/run_start.h"
#include "console/cli/steering.h"
#include "console/cli/store_option.h"
#include "console/cli/verb.h"
#include "shared/base/error.h"
#include "shared/recipe/recorded.h"
#include "shared/wire/requester.h"

namespace ringwright::cli {
namespace {

struct Options {
  std::shared_ptr<std::string> run;
  std::vector<std::string> overrides;
  StartOptions start;
};

int relaunch(const Options& options, const Invocation& invocation) {
  const history::RunRecord before = StoreOption{options.start.daemon.store}.open().run(*options.run);
  if (before.algorithm == "probe")
    throw Error({"RW-CLI-026", "this run was a probe, which is not launched again", before.id, "a run that trained",
                 "ringwright probe " + before.recipe_path, ExitCode::refused});
  StartOptions start = options.start;
  if (start.launch.name.empty()) start.launch.name = before.name;
  start.launch.relaunch_of = before.id;
  start.launch.who = wire::requester("ringwright relaunch");
  const recipe::RecordedRecipe recorded{before.id, before.recipe_path, before.recipe_text, before.recipe, before.overrides};
  return start_run(recipe::load_recorded(recorded, options.overrides), start, invocation);
}

void build(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  options->run = add_run_argument(command);
  command.add_option("override", options->overrides, "a.b=c, +a.b=c (new), ++a.b=c (either), ~a.b (remove)");
  options->start.add_to(command);
  set_action(command, invocation, [options, &invocation] { return relaunch(*options, invocation); });
}

const VerbEntry kEntry({Group::runs, "relaunch", "Start a run's recipe once more, with other values where given", build});

}  // namespace
}  // namespace ringwright::cli
