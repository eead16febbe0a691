// ringwright run RECIPE [OVERRIDE..]: check it, start it, watch it.
#include <fmt/format.h>

#include <cstdio>

#include "console/cli/run_start.h"
#include "console/cli/verb.h"
#include "shared/base/printable.h"
#include "shared/support_matrix/megatron.h"

namespace ringwright::cli {
namespace {

struct Options {
  std::vector<std::string> words;
  std::string map;
  StartOptions start;
};

// What is mapped is said, and stands among the run's overrides: relaunched, it needs no mapping any more. A setting without a counterpart is refused.
recipe::Recipe mapped(const recipe::Recipe& recipe, bool json) {
  admit(recipe, json, {.look_at_files = false, .map_megatron = true});
  std::optional<recipe::Recipe> run = support_matrix::as_run(recipe);
  if (!run) {
    fmt::print(stderr, "policy.megatron_cfg.enabled is not true: there is nothing to map\n");
    return recipe;
  }
  fmt::print(stderr, "The recipe's Megatron settings, as this engine takes them:\n");
  for (size_t i = recipe.overrides.size(); i < run->overrides.size(); ++i) fmt::print(stderr, "  {}\n", text::printable(run->overrides[i]));
  return std::move(*run);
}

int run(const Options& options, const Invocation& invocation) {
  recipe::Recipe recipe = load_one_recipe(options.words);
  if (!options.map.empty()) recipe = mapped(recipe, invocation.json);
  return start_run(recipe, options.start, invocation);
}

void build(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  command.add_option("recipe", options->words, "the recipe, and overrides: a.b=c, +a.b=c (new), ++a.b=c (either), ~a.b (remove)").required();
  command.add_option("--map", options->map, "run another backend's recipe as what its settings are on this one; see check --map")
      .check(one_of({"megatron"}));
  options->start.add_to(command);
  set_action(command, invocation, [options, &invocation] { return run(*options, invocation); });
}

const VerbEntry kEntry({Group::runs, "run", "Start a recipe and watch it", build});

}  // namespace
}  // namespace ringwright::cli
