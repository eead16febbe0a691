// What can be done to runs. All of it acts on the chosen runs, or on the current one.
#pragma once

#include "console/gui/services/commands.h"

namespace ringwright::gui {

void add_run_commands(CommandRegistry& registry);

}  // namespace ringwright::gui
