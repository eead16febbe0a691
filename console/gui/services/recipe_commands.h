// What can be done with the recipe of the Prepare workspace, and the command lines that do the same.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "console/gui/services/commands.h"
#include "console/gui/services/context.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::gui {

// Open, save, undo, redo, fix all, next problem, launch.
void add_recipe_commands(CommandRegistry& registry);

// The recipe's file as a word of a command line, from the working directory where it lies below it; "RECIPE" while none is open.
std::string recipe_argument(const Context& context);
// "ringwright recipe set FILE a.b=c", or unset.
std::string recipe_set_line(const Context& context, const std::vector<support_matrix::Change>& changes);
std::string recipe_set_line(const Context& context, const std::string& key, const std::string& value);
// "Launch on 16 ranks", "Save and launch on 16 ranks", "Refused by 2 guards", ...; what stands in the way, "" when nothing does.
struct LaunchState {
  std::string label;
  std::string reason;
  bool refused = false;
};
LaunchState launch_state(const Context& context);
// Folders with recipes to begin with, those that exist.
std::vector<std::filesystem::path> sample_folders();

}  // namespace ringwright::gui
