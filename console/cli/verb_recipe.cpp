#include "console/cli/recipe_verbs.h"

namespace ringwright::cli {
namespace {

void build(Command& command, Invocation& invocation) {
  build_recipe_show(command, invocation);
  build_recipe_edits(command, invocation);
}

const VerbEntry kEntry({Group::recipes, "recipe", "Look at recipes, and change them: show, set, unset", build});

}  // namespace
}  // namespace ringwright::cli
