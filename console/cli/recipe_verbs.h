// The sub-verbs of `ringwright recipe`, one file each.
#pragma once

#include "console/cli/verb.h"

namespace ringwright::cli {

void build_recipe_show(Command& recipe, Invocation& invocation);
void build_recipe_edits(Command& recipe, Invocation& invocation);  // set, unset

}  // namespace ringwright::cli
