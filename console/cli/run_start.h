// From a recipe to a run that is watched: what `run` and `relaunch` share.
#pragma once

#include "console/cli/daemon_access.h"
#include "console/cli/run_launch.h"
#include "console/cli/verb.h"

namespace ringwright::cli {

struct StartOptions {
  LaunchOptions launch;
  DaemonOptions daemon;
  bool detach = false;

  // --name, --detach, --store and --port.
  void add_to(Command& command);
};

// Checks the recipe, starts it with the user's daemon or a new one, and watches it unless options.detach. Returns the exit code. Throws what stands
// in the way.
int start_run(const recipe::Recipe& recipe, StartOptions options, const Invocation& invocation);

}  // namespace ringwright::cli
