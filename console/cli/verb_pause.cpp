#include "console/cli/steering.h"
#include "console/cli/verb.h"

namespace ringwright::cli {
namespace {

void build(Command& command, Invocation& invocation) {
  const auto run = add_run_argument(command);
  set_action(command, invocation, [run, &invocation] {
    return steer(*run, {"pause", "run.pause", {}, "pauses after its current step; it goes on with: ringwright resume"}, invocation);
  });
}

const VerbEntry kEntry({Group::runs, "pause", "Let a run wait after its current step, with all it has in memory", build});

}  // namespace
}  // namespace ringwright::cli
