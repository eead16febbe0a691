// ringwright run RECIPE [OVERRIDE..]: check it, start it, watch it.
#include "console/cli/run_start.h"
#include "console/cli/verb.h"

namespace ringwright::cli {
namespace {

struct Options {
  std::vector<std::string> words;
  StartOptions start;
};

void build(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  command.add_option("recipe", options->words, "the recipe, and overrides: a.b=c, +a.b=c (new), ++a.b=c (either), ~a.b (remove)").required();
  options->start.add_to(command);
  set_action(command, invocation, [options, &invocation] { return start_run(load_one_recipe(options->words), options->start, invocation); });
}

const VerbEntry kEntry({Group::runs, "run", "Start a recipe and watch it", build});

}  // namespace
}  // namespace ringwright::cli
