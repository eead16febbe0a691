// The sub-verbs of `ringwright recipe`, one file each.
#pragma once

#include "console/cli/verb.h"

namespace ringwright::cli {

void build_recipe_show(CLI::App& recipe, Invocation& invocation);
void build_recipe_edits(CLI::App& recipe, Invocation& invocation);  // set, unset

}  // namespace ringwright::cli
